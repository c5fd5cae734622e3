//! Arguments of a tool: what `#[tool]` expands to.
//!
//! The macro knows only how types are spelled, so the types themselves choose here: by inherent methods, which win
//! over those of traits, and by methods on `&Arg`, which come last.

mod output;
mod param;

pub use output::{AnyOutput, Done, Failure, ResultOutput, Tag, ToolFailure, ToolOutput, tag};
pub use param::{
    Arg, ArgMaybe, ArgPlain, Borrowed, BorrowedArg, ContextArg, Declared, Handle, Lent, LentShared,
    MakeSchema, Maybe, MaybeArg, MaybeDeref, MaybeDerefArg, Owned, OwnedArg, SharedContextArg, Slot,
};

use crate::encode::to_json;
use crate::models::model::ToolDeclaration;
use crate::runtime::tool::{ToolArgs, ToolContext, ToolError, schema};
use crate::spec::ToolMeta;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a model can fill in.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` cannot be an argument of a tool; help: put `#[adk::data]` on it, or derive both `serde::Deserialize` and `schemars::JsonSchema`",
    label = "a model cannot fill in a `{Self}`",
    note = "a key of the state is a parameter with `#[key]`; artifacts and the call itself come with `cx: &mut ToolContext`; what the program has, such as a pool, is a resource: `#[resource] db: &Pool`"
)]
pub trait ToolArg: Sized {
    /// It may.
    const YES: bool = true;

    /// How such an argument is declared and read. The one place where a type has to be one.
    fn arg<H>(slot: Slot<Self, H>) -> H;
}

/// What a tool may borrow to change it.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` is borrowed to be changed, and the context alone can be; help: take it by value or by `&`, and return what it becomes",
    label = "a model cannot fill in a `{Self}`",
    note = "state, artifacts and the call itself come with a `cx: &mut ToolContext` parameter"
)]
pub trait LentArg: Sized {
    /// The same as [`ToolArg::arg`].
    fn arg<H>(slot: Slot<Self, H>) -> H;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> LentArg for T {
    fn arg<H>(slot: Slot<Self, H>) -> H {
        slot.fill(param::Handles::new())
    }
}

/// What a model can fill in, where it is called as a context is.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` is no argument of a tool; help: take the context of the call as `cx: &mut ToolContext`; if this is data of your own, take it by value or by `&`, and put `#[adk::data]` on it",
    label = "a model cannot fill in a `{Self}`"
)]
pub trait ContextLike: Sized {
    /// It can.
    const YES: () = ();

    /// The same as [`ToolArg::arg`].
    fn arg<H>(slot: Slot<Self, H>) -> H;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> ContextLike for T {
    fn arg<H>(slot: Slot<Self, H>) -> H {
        slot.fill(param::Handles::new())
    }
}

// The bounds are here and not on the trait: so a path `<T as ToolArg>` that does not hold is one error, said under the
// type, with the text above and no note about ours.
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> ToolArg for T {
    fn arg<H>(slot: Slot<Self, H>) -> H {
        slot.fill(param::Handles::new())
    }
}

/// What can be shown to a model as a default.
#[diagnostic::on_unimplemented(
    message = "tool-argument: the default of a `{Self}` cannot be shown to a model; help: put `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait ToolDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolDefault for T {}

/// A declaration in the making, argument by argument.
#[derive(Debug)]
pub struct Declare {
    declaration: ToolDeclaration,
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Declare {
    /// A tool without arguments.
    pub fn new(meta: &ToolMeta<'static>) -> Self {
        let declaration =
            ToolDeclaration::new(meta.name, meta.description, Value::Null).escalates(meta.may_exit);
        let (properties, required) = Default::default();
        Self { declaration, generator: schema::generator(), properties, required }
    }

    /// Adds an argument, if the parameter is one.
    #[must_use]
    pub fn arg(mut self, name: &'static str, description: &str, arg: &impl Declared) -> Self {
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
        arg: &impl Declared<Of = T>,
        default: impl FnOnce() -> T,
    ) -> Self
    where
        T: ToolDefault,
    {
        if let Some((schema, _)) = arg.declared() {
            self.add(name, description, schema);
            let default = to_json(&default());
            if let (Some(Value::Object(schema)), Ok(default)) = (self.properties.get_mut(name), default) {
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

    /// The declaration, its schema closed.
    pub fn build(mut self) -> ToolDeclaration {
        let definitions = self.generator.take_definitions(true);
        let parameters = schema::object(self.properties, self.required, &definitions);
        self.declaration.parameters = std::sync::Arc::new(parameters);
        self.declaration
    }
}

/// One call: the arguments that are not taken yet, and the context until a parameter takes it.
#[derive(Debug)]
pub struct Call<'a> {
    args: ToolArgs,
    cx: Option<&'a mut ToolContext>,
    declaration: &'a ToolDeclaration,
}

impl<'a> Call<'a> {
    /// A call with the arguments as the model wrote them.
    pub fn new(args: ToolArgs, cx: &'a mut ToolContext, declaration: &'a ToolDeclaration) -> Self {
        Self { args, cx: Some(cx), declaration }
    }

    fn schema(&self, name: &str) -> &'a Value {
        self.declaration.parameters.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null)
    }
}

/// Runs the body of a tool; a panic in it is an error of the tool.
///
/// # Errors
/// Those of the tool.
pub async fn run(work: impl Future<Output = Result<Done, ToolError>>) -> Result<Done, ToolError> {
    match crate::panic::caught(work).await {
        Ok(done) => done,
        Err(message) => Err(panicked(&message)),
    }
}

/// Runs the body of a tool on the pool for work that blocks. A copy of the context goes there, and comes back with the result.
///
/// # Errors
/// Those of the tool.
pub async fn blocking<F>(cx: &mut ToolContext, work: F) -> Result<Done, ToolError>
where
    F: FnOnce(&mut ToolContext) -> Result<Done, ToolError> + Send + 'static,
{
    let mut own = cx.copy();
    let work = move || {
        let done = work(&mut own);
        (own, done)
    };
    match crate::panic::blocking(work).await {
        Ok((own, done)) => {
            *cx = own;
            done
        }
        Err(message) => Err(panicked(&message)),
    }
}

fn panicked(message: &str) -> ToolError {
    ToolError::panicked(format!("the tool panicked: {message}"))
}

/// Puts the variants of an enum in the order in which they were written; schemars puts undocumented ones first.
pub fn in_order<T: DeserializeOwned>(schema: &mut Schema) {
    schema::sort_variants::<T>(schema);
}
