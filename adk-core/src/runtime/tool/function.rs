//! [`FunctionTool`]: tools that are created at run time from closures.

use super::{DynTool, ToolArgs, ToolContext, ToolError, decode, schema};
use crate::model::ToolDeclaration;
use crate::spec::{AnsweredBy, Key, KeySpec, Labels, ToolMeta};
use crate::{BoxError, BoxFuture, panic};
use schemars::{JsonSchema, Schema};
use self_cell::self_cell;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Tool that is created at run time: ADK's `FunctionTool`.
///
/// The arguments are one value, whose fields the model fills in; the type of the value defines
/// their schema. For a function that is known at compile time, use `#[tool]`, which checks more.
///
/// ```
/// # use adk_build as adk;
/// use adk::tool::{FunctionTool, Json};
/// use adk::{DynTool, ToolContext, llm::LlmAgent};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Place {
///     /// Name of the city.
///     city: String,
/// }
///
/// let weather = FunctionTool::new("weather", "The weather of a city.", |place: Place, cx| {
///     cx.state().set("last_city", &place.city)?;
///     Ok::<_, adk::Error>(format!("sunny in {}", place.city))
/// })
/// .writes::<String>("last_city");
/// let agent = LlmAgent::builder("forecaster")
///     .instruction("Tell the weather.")
///     .tool(weather)
///     .build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
///
/// `#[tool]` sees in the body of a function whether the tool may end a loop; a closure must declare
/// it:
///
/// ```
/// # use adk_build as adk;
/// # use adk::{DynTool, tool::FunctionTool};
/// let done = FunctionTool::new("done", "Call it when nothing is left to do.", |(), cx| {
///     cx.actions.escalate = true;
///     cx.actions.skip_summarization = true;
/// });
/// assert!(done.may_exit(true).meta().may_exit);
/// ```
pub struct FunctionTool {
    meta: FunctionToolMeta,
    declaration: ToolDeclaration,
    call: Arc<ToolClosure>,
    /// Predicate that decides whether a user is asked. Takes the arguments and their schema.
    confirms: Arc<ConfirmPredicate>,
}

type ToolFuture<'a> = BoxFuture<'a, Result<Value, ToolError>>;

type ToolClosure = dyn for<'a> Fn(ToolArgs, &'a mut ToolContext) -> ToolFuture<'a> + Send + Sync;

type ConfirmPredicate = dyn Fn(ToolArgs, &Value) -> Result<bool, ToolError> + Send + Sync;

/// Returns a predicate over the decoded arguments of a call.
fn confirm_predicate<T: DeserializeOwned>(
    predicate: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> Arc<ConfirmPredicate> {
    Arc::new(move |args, schema| decode::args(args, schema).map(|args| predicate(&args)))
}

/// Settings that the description of the tool borrows from.
#[derive(Clone, Default)]
struct ToolSettings {
    name: String,
    description: String,
    writes: Vec<Key>,
    may_exit: bool,
    long_running: bool,
    confirm: bool,
    by: Option<AnsweredBy>,
    timeout: Option<Duration>,
    retry: u32,
    selects: bool,
    labels: Labels,
}

struct KeySpecs<'a>(Vec<KeySpec<'a>>);

self_cell!(
    struct SettingsWithKeys {
        owner: ToolSettings,
        #[covariant]
        dependent: KeySpecs,
    }
);

self_cell!(
    struct FunctionToolMeta {
        owner: SettingsWithKeys,
        #[covariant]
        dependent: ToolMeta,
    }
);

fn function_tool_meta(settings: ToolSettings) -> FunctionToolMeta {
    let with_keys = SettingsWithKeys::new(settings, |settings| {
        KeySpecs(settings.writes.iter().map(Key::spec).collect())
    });
    FunctionToolMeta::new(with_keys, |with_keys| {
        let (settings, keys) = (with_keys.borrow_owner(), with_keys.borrow_dependent());
        let meta = ToolMeta::new(&settings.name, &settings.description)
            .writes(&keys.0)
            .may_exit(settings.may_exit)
            .long_running(settings.long_running)
            .confirm(settings.confirm)
            .selects(settings.selects)
            .labels(settings.labels)
            .retry(settings.retry);
        let meta = settings
            .timeout
            .map_or(meta, |longest| meta.timeout(longest));
        settings
            .by
            .as_ref()
            .map_or(meta, |by| meta.by(by.as_deref()))
    })
}

impl FunctionTool {
    /// Creates a tool from a closure: `|args: T, cx| ...`. The closure returns `()`, text, a
    /// number, a bool, a list, a JSON value, a value of any other type as [`Json`], or a `Result`
    /// of a value that can be encoded as JSON.
    ///
    /// Models read in the description when and how to use the tool; an agent with a tool without a
    /// description is refused (`tool-undocumented`). Arguments must be an object or `()`; other
    /// types are also refused (`tool-argument`).
    pub fn new<T, R, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        T: DeserializeOwned + JsonSchema + 'static,
        R: ToolReturn,
        F: Fn(T, &mut ToolContext) -> R + Send + Sync + 'static,
    {
        let schema = schema_of::<T>();
        let (function, parameters) = (Arc::new(function), schema.clone());
        let call = move |args, cx: &mut ToolContext| {
            decode::args::<T>(args, &parameters).and_then(|args| function(args, cx).into_json())
        };
        let call = Arc::new(call);
        Self::from_call::<T, _>(name.into(), description.into(), schema, move |args, cx| {
            let call = call.clone();
            Box::pin(async move { call(args, cx) })
        })
    }

    /// Creates a tool from an async closure: `|args: T, cx| Box::pin(async move { ... })`.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::tool::FunctionTool;
    /// # async fn ask(question: &str) -> Result<String, std::io::Error> { Ok(question.to_owned()) }
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Question { text: String }
    /// let tool = FunctionTool::new_async("ask", "Asks a colleague.", |question: Question, cx| {
    ///     Box::pin(async move {
    ///         cx.state().set("asked", true)?;
    ///         ask(&question.text).await.map_err(adk::Error::other)
    ///     })
    /// })
    /// .writes::<bool>("asked");
    /// ```
    pub fn new_async<T, R, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
        R: ToolReturn,
        F: for<'a> Fn(T, &'a mut ToolContext) -> BoxFuture<'a, R> + Send + Sync + 'static,
    {
        let schema = schema_of::<T>();
        let (function, parameters) = (Arc::new(function), schema.clone());
        Self::from_call::<T, _>(name.into(), description.into(), schema, move |args, cx| {
            let args = decode::args::<T>(args, &parameters);
            let function = function.clone();
            Box::pin(async move { function(args?, cx).await.into_json() })
        })
    }

    fn from_call<T, F>(name: String, description: String, schema: Arc<Value>, call: F) -> Self
    where
        T: DeserializeOwned + 'static,
        F: for<'a> Fn(ToolArgs, &'a mut ToolContext) -> BoxFuture<'a, Result<Value, ToolError>>
            + Send
            + Sync
            + 'static,
    {
        let declaration = ToolDeclaration::new(name.clone(), &*description, schema);
        let meta = function_tool_meta(ToolSettings {
            name,
            description,
            ..ToolSettings::default()
        });
        Self {
            meta,
            declaration,
            call: Arc::new(call),
            confirms: confirm_predicate(|_: &T| true),
        }
    }

    /// Declares that the tool may end a loop: it sets `cx.actions.escalate`. Default `false`.
    #[must_use]
    pub fn may_exit(mut self, yes: bool) -> Self {
        self.declaration.escalates = yes;
        self.update(|settings| settings.may_exit = yes)
    }

    /// Declares that the tool may write a key. Writing an undeclared key is an error of the run.
    #[must_use]
    pub fn writes<T: DeserializeOwned + 'static>(self, key: impl Into<String>) -> Self {
        self.update(|settings| settings.writes.push(Key::read_as::<T>(key)))
    }

    /// Declares that the answer comes later. Default `false`. The model reads the return value of
    /// the closure in the meantime, so the type of the return value does not apply to the answer.
    /// Any value is a valid answer; a value that is not an object is sent as `{"result": VALUE}`.
    /// For an answer with a type, use an `await`, see [`Await`](crate::Await).
    #[must_use]
    pub fn long_running(self, yes: bool) -> Self {
        self.update(|settings| settings.long_running = yes)
    }

    /// Requires that a user confirms each call. Default `false`.
    #[must_use]
    pub fn confirm(self, yes: bool) -> Self {
        self.update(|settings| settings.confirm = yes)
    }

    /// Sets the users who may confirm the [calls](Self::confirm) of the tool: users with a role, or
    /// each user except the one who began the run. Default: the user who began the run. See
    /// [`Runner::answer_as`](crate::Runner::answer_as).
    #[must_use]
    pub fn by(self, by: AnsweredBy) -> Self {
        self.update(|settings| settings.by = Some(by))
    }

    /// Requires that a user confirms the calls for which the predicate is true. The predicate takes
    /// the arguments as the closure of the tool does. A call with other arguments fails with an
    /// error, and no user is asked.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::{DynTool as _, tool::FunctionTool};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Sum { amount: f64 }
    /// let pay = FunctionTool::new("pay", "Pays.", |sum: Sum, _| format!("paid {}", sum.amount));
    /// let pay = pay.confirm_if(|sum: &Sum| sum.amount > 100.0);
    /// assert!(pay.meta().confirm);
    /// ```
    #[must_use]
    pub fn confirm_if<T>(mut self, predicate: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self
    where
        T: DeserializeOwned + 'static,
    {
        self.confirms = confirm_predicate(predicate);
        self.update(|settings| (settings.confirm, settings.selects) = (true, true))
    }

    /// Sets the labels: what the tool brings into the run, and what it does outside of it.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::{DynTool as _, spec::Labels, tool::FunctionTool};
    /// let send = FunctionTool::new("send", "Sends a mail.", |(), _| "sent").labels(Labels::ACTS);
    /// assert!(send.meta().labels.has(Labels::ACTS));
    /// ```
    #[must_use]
    pub fn labels(self, labels: Labels) -> Self {
        self.update(|settings| settings.labels = labels)
    }

    /// Sets the time limit of one attempt of a call. Default: no limit. The limit requires a
    /// closure of [`new_async`](Self::new_async), because a closure that does not wait cannot be
    /// interrupted.
    #[must_use]
    pub fn timeout(self, longest: Duration) -> Self {
        self.update(|settings| settings.timeout = Some(longest))
    }

    /// Sets how often a call is retried after a failure or a timeout. The pauses begin with one
    /// second and double each time. Default 0. Calls with invalid arguments and panics are not
    /// retried.
    #[must_use]
    pub fn retry(self, times: u32) -> Self {
        self.update(|settings| settings.retry = times)
    }

    fn update(mut self, update: impl FnOnce(&mut ToolSettings)) -> Self {
        let mut settings = self.meta.borrow_owner().borrow_owner().clone();
        update(&mut settings);
        self.meta = function_tool_meta(settings);
        self
    }
}

impl DynTool for FunctionTool {
    fn meta(&self) -> &ToolMeta<'_> {
        self.meta.borrow_dependent()
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(async move {
            // The closure may panic, as well as its future.
            match panic::catch_panic(async { (self.call)(args, cx).await }).await {
                Ok(result) => result,
                Err(panic) => Err(ToolError::from_panic(panic)),
            }
        })
    }

    fn needs_confirmation_dyn(
        &self,
        args: ToolArgs,
        _: &mut ToolContext,
    ) -> Result<bool, ToolError> {
        (self.confirms)(args, &self.declaration.parameters)
    }
}

/// Returns the schema of the arguments: an object, or the schema of the type itself if the type is
/// not an object.
pub(crate) fn schema_of<T: DeserializeOwned + JsonSchema>() -> Arc<Value> {
    let mut generator = schema::generator();
    let mut schema: Schema = schema::for_type::<T>(&mut generator);
    schema::close(&mut schema, &generator.take_definitions(true));
    schema.remove("description");
    let mut schema = schema.to_value();
    if crate::schema::kind(&schema) == "null" {
        schema = json!({"type": "object", "properties": {}});
    }
    if let Value::Object(fields) = &mut schema
        && fields.get("type").is_some_and(|kind| kind == "object")
    {
        fields
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    Arc::new(schema)
}

/// Return type of the closure of a [`FunctionTool`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a `FunctionTool`",
    label = "return it as `Ok::<_, adk::Error>(...)`, or as `adk::tool::Json(...)`",
    note = "for a future, use `FunctionTool::new_async` and `Box::pin(async move {{ ... }})`"
)]
pub trait ToolReturn: Send {
    /// Encodes the value as JSON.
    ///
    /// # Errors
    /// Fails with the error of the tool, or when a value cannot be encoded as JSON.
    fn into_json(self) -> Result<Value, ToolError>;
}

/// Result of a tool: a value of any type that can be encoded as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

fn to_json(value: impl Serialize) -> Result<Value, ToolError> {
    crate::encode::to_json(&value).map_err(ToolError::unencodable)
}

impl<T: Serialize + Send> ToolReturn for Json<T> {
    fn into_json(self) -> Result<Value, ToolError> {
        to_json(self.0)
    }
}

/// The model reads the text of any error type.
impl<T: Serialize + Send, E: fmt::Display + Send + 'static> ToolReturn for Result<T, E> {
    fn into_json(self) -> Result<Value, ToolError> {
        let error = match self {
            Ok(value) => return to_json(value),
            Err(error) => error,
        };
        let text = error.to_string();
        // A [`ToolError`] keeps its kind, also in a box.
        let error: Box<dyn Any + Send> = Box::new(error);
        let known = error.downcast::<ToolError>().or_else(|error| {
            error
                .downcast::<BoxError>()
                .map(|error| ToolError::from_box(*error).into())
        });
        Err(known.map_or_else(|_| ToolError::failed(text), |error| *error))
    }
}

macro_rules! plain {
    ($([$($generic:tt)*] $ty:ty),* $(,)?) => {$(
        impl<$($generic)*> ToolReturn for $ty {
            fn into_json(self) -> Result<Value, ToolError> {
                to_json(self)
            }
        }
    )*};
}
plain!(
    [] (), [] bool, [] String, [] &'static str, [] Value, [] f32, [] f64,
    [] u8, [] u16, [] u32, [] u64, [] usize, [] i8, [] i16, [] i32, [] i64, [] isize,
    [T: Serialize + Send] Vec<T>, [T: Serialize + Send] Option<T>,
    [T: Serialize + Send] BTreeMap<String, T>, [T: Serialize + Send] HashMap<String, T>,
);

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionTool({})", self.declaration.name)
    }
}
