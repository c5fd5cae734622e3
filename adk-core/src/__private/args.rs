//! The declaration and the calls of a tool, as the expansion of `#[tool]` makes them.

mod output;

pub use output::{
    ResultOutput, ToolBodyError, ToolFailure, ToolOutcome, ToolOutput, ToolOutputDefaults, ToolTag,
    tag,
};

use super::param::{DeclaredParam, ParamSchema, ToolDefault};
use crate::encode::to_json;
use crate::model::ToolDeclaration;
use crate::runtime::tool::{ToolArgs, ToolContext, ToolError, schema};
use crate::spec::ToolMeta;
use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A tool declaration that grows argument by argument.
#[derive(Debug)]
pub struct Declare {
    declaration: ToolDeclaration,
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Declare {
    /// Creates the declaration of a tool without arguments.
    pub fn new(meta: &ToolMeta<'static>) -> Self {
        let declaration =
            ToolDeclaration::new(meta.name, meta.description, Value::Null).escalates(meta.may_exit);
        let (properties, required) = Default::default();
        Self {
            declaration,
            generator: schema::generator(),
            properties,
            required,
        }
    }

    /// Adds an argument if the parameter is an argument.
    #[must_use]
    pub fn arg(mut self, name: &'static str, description: &str, arg: &impl DeclaredParam) -> Self {
        if let Some((schema, optional)) = arg.declared() {
            self.add(name, description, schema, optional);
            if !optional {
                self.required.push(name.into());
            }
        }
        self
    }

    /// Adds an argument with a default.
    #[must_use]
    pub fn arg_or<T>(
        mut self,
        name: &'static str,
        description: &str,
        arg: &impl DeclaredParam<Default = T>,
        default: impl FnOnce() -> T,
    ) -> Self
    where
        T: ToolDefault,
    {
        if let Some((schema, optional)) = arg.declared() {
            self.add(name, description, schema, optional);
            let default = to_json(&default());
            if let (Some(Value::Object(schema)), Ok(default)) =
                (self.properties.get_mut(name), default)
            {
                schema.insert("default".to_owned(), default);
            }
        }
        self
    }

    fn add(&mut self, name: &str, description: &str, make: ParamSchema, optional: bool) {
        let mut schema = make(&mut self.generator, optional);
        if !description.is_empty() {
            schema.insert("description".to_owned(), description.into());
        }
        self.properties.insert(name.to_owned(), schema.to_value());
    }

    /// Returns the declaration. Its schema is then complete.
    pub fn build(mut self) -> ToolDeclaration {
        let definitions = self.generator.take_definitions(true);
        let parameters = schema::object(self.properties, self.required, &definitions);
        self.declaration.parameters = std::sync::Arc::new(parameters);
        self.declaration
    }
}

/// One call of a tool. It holds the arguments that no parameter has read yet, and the context until
/// a parameter takes the context.
#[derive(Debug)]
pub struct ToolInvocation<'a> {
    pub(super) args: ToolArgs,
    pub(super) cx: Option<&'a mut ToolContext>,
    declaration: &'a ToolDeclaration,
}

impl<'a> ToolInvocation<'a> {
    /// Creates a call with the arguments as the model wrote them.
    pub fn new(args: ToolArgs, cx: &'a mut ToolContext, declaration: &'a ToolDeclaration) -> Self {
        Self {
            args,
            cx: Some(cx),
            declaration,
        }
    }

    pub(super) fn schema(&self, name: &str) -> &'a Value {
        self.declaration
            .parameters
            .get("properties")
            .and_then(|all| all.get(name))
            .unwrap_or(&Value::Null)
    }
}

/// Runs the body of a tool. A panic in the body becomes an error of the tool.
///
/// # Errors
/// Returns the error of the tool.
pub async fn run(
    work: impl Future<Output = Result<ToolOutcome, ToolError>>,
) -> Result<ToolOutcome, ToolError> {
    crate::panic::catch_panic(work)
        .await
        .map_err(ToolError::from_panic)?
}

/// Runs the body of a tool on the blocking thread pool. The body gets a copy of the context, which
/// replaces the context when the body returns.
///
/// # Errors
/// Returns the error of the tool.
pub async fn run_blocking<F>(cx: &mut ToolContext, work: F) -> Result<ToolOutcome, ToolError>
where
    F: FnOnce(&mut ToolContext) -> Result<ToolOutcome, ToolError> + Send + 'static,
{
    let mut own = cx.copy();
    let work = move || {
        let done = work(&mut own);
        (own, done)
    };
    let caught = crate::task::run_blocking(work).await;
    let (own, done) = caught.map_err(ToolError::from_panic)?;
    *cx = own;
    done
}

/// Sorts the variants of an enum in the order in which they were written. schemars puts
/// undocumented variants first.
pub fn in_order<T: DeserializeOwned>(schema: &mut Schema) {
    schema::sort_variants::<T>(schema);
}
