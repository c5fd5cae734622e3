//! Arguments of a tool, as the expansion of `#[tool]` declares and reads them.
//!
//! The macro sees only how types are spelled, so method resolution selects the code for each type.
//! Inherent methods win over trait methods, and methods on `&ToolParam` come last.

mod output;
mod param;

pub use output::{
    ResultOutput, ToolBodyError, ToolFailure, ToolOutcome, ToolOutput, ToolOutputDefaults, ToolTag,
    tag,
};
pub use param::{
    ArgMaybe, ArgPlain, BorrowedArg, ContextArg, DeclaredParam, Handle, HandleMaker,
    LentSharedToolContext, LentToolContext, MakeSchema, MaybeArg, MaybeDerefArg, OwnedArg,
    SharedContextArg, ToolParam,
};

use crate::encode::to_json;
use crate::model::ToolDeclaration;
use crate::runtime::tool::{ToolArgs, ToolContext, ToolError, schema};
use crate::spec::ToolMeta;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A type that a model can fill in.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` cannot be an argument of a tool; help: put `#[adk::data]` \
        on it, or derive both `serde::Deserialize` and `schemars::JsonSchema`",
    label = "a model cannot fill in a `{Self}`",
    note = "a key of the state is a parameter with `#[key]`; artifacts and the call itself come \
        with `cx: &mut ToolContext`; what the program has, such as a pool, is a resource: \
        `#[resource] db: &Pool`"
)]
pub trait ToolArg: Sized {
    /// Always `true`: an expansion names this constant to require the trait of a type.
    const YES: bool = true;

    /// Returns the handle that declares and reads an argument of this type. Expansions name the
    /// trait only here, so rustc reports a wrong type once.
    fn arg<H>(maker: HandleMaker<Self, H>) -> H;
}

/// A type that a tool borrows as `&mut`.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` is borrowed as `&mut`, and only the context can be; \
        help: take it by value or by `&`, and return the changed value",
    label = "a model cannot fill in a `{Self}`",
    note = "state, artifacts and the call itself come with a `cx: &mut ToolContext` parameter"
)]
pub trait LentArg: Sized {
    /// Returns the handle of the argument, as [`ToolArg::arg`] does.
    fn arg<H>(maker: HandleMaker<Self, H>) -> H;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> LentArg for T {
    fn arg<H>(maker: HandleMaker<Self, H>) -> H {
        maker.make(param::Handles::new())
    }
}

/// A type that a model can fill in, for a parameter whose type has a name that ends in `Context`.
/// The message proposes `ToolContext`.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` is no argument of a tool; help: take the context of the \
        call as `cx: &mut ToolContext`; if this is data of your own, take it by value or by `&`, \
        and put `#[adk::data]` on it",
    label = "a model cannot fill in a `{Self}`"
)]
pub trait ContextLike: Sized {
    /// The unit value: an expansion names this constant to require the trait of a type.
    const YES: () = ();

    /// Returns the handle of the argument, as [`ToolArg::arg`] does.
    fn arg<H>(maker: HandleMaker<Self, H>) -> H;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> ContextLike for T {
    fn arg<H>(maker: HandleMaker<Self, H>) -> H {
        maker.make(param::Handles::new())
    }
}

// The bounds are on the impl and not on the trait. An unsatisfied path `<T as ToolArg>` is then one
// error under the type, with the message above and no note about this crate.
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> ToolArg for T {
    fn arg<H>(maker: HandleMaker<Self, H>) -> H {
        maker.make(param::Handles::new())
    }
}

/// A type whose value a model can read as a default.
#[diagnostic::on_unimplemented(
    message = "tool-argument: the default of a `{Self}` cannot be shown to a model; help: put \
        `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait ToolDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolDefault for T {}

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
            self.add(name, description, schema);
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
        arg: &impl DeclaredParam<Type = T>,
        default: impl FnOnce() -> T,
    ) -> Self
    where
        T: ToolDefault,
    {
        if let Some((schema, _)) = arg.declared() {
            self.add(name, description, schema);
            let default = to_json(&default());
            if let (Some(Value::Object(schema)), Ok(default)) =
                (self.properties.get_mut(name), default)
            {
                schema.insert("default".to_owned(), default);
            }
        }
        self
    }

    fn add(&mut self, name: &str, description: &str, make: MakeSchema) {
        let mut schema = make(&mut self.generator);
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
    args: ToolArgs,
    cx: Option<&'a mut ToolContext>,
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

    fn schema(&self, name: &str) -> &'a Value {
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
    match crate::panic::catch_panic(work).await {
        Ok(done) => done,
        Err(message) => Err(panic_error(&message)),
    }
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
    match crate::task::run_blocking(work).await {
        Ok((own, done)) => {
            *cx = own;
            done
        }
        Err(message) => Err(panic_error(&message)),
    }
}

fn panic_error(message: &str) -> ToolError {
    ToolError::panicked(format!("the tool panicked: {message}"))
}

/// Sorts the variants of an enum in the order in which they were written. schemars puts
/// undocumented variants first.
pub fn in_order<T: DeserializeOwned>(schema: &mut Schema) {
    schema::sort_variants::<T>(schema);
}
