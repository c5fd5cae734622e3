//! [`Tool`]: functions that a model may call.

mod context;
pub(crate) mod decode;
mod file;
pub(crate) mod function;
mod hints;
mod pinned;
pub(crate) mod schema;
pub(crate) mod text;
mod toolset;

pub use crate::runtime::run::ToolActions;
pub use context::{ToolContext, ToolRecord};
pub use file::{ToolFileUpdate, tool_file, update_tool_file};
pub use function::{FunctionTool, Json, ToolReturn};
pub use hints::ToolHints;
pub use pinned::DeclaredToolset;
pub use toolset::Toolset;

use crate::encode::EncodeError;
use crate::model::{ModelRequest, ToolDeclaration};
use crate::panic::Panic;
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::CallbackContext;
use crate::spec::ToolMeta;
use crate::{BoxError, BoxFuture};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Arguments of a call by name, as the model wrote them.
pub type ToolArgs = Map<String, Value>;

/// Tool with a statically known type; `#[tool]` turns a function into one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "cannot be in `tools`",
    note = "put `#[tool]` on the function, or implement `Tool`"
)]
pub trait Tool: Send + Sync + 'static {
    /// Name and properties of the tool.
    const META: ToolMeta<'static>;

    /// Returns the declaration for models, which is created once.
    fn declaration(&self) -> &ToolDeclaration;

    /// Executes one call with the arguments as the model wrote them.
    ///
    /// # Errors
    /// The model receives an error as an error result, so that it can correct itself.
    fn call(
        &self,
        args: ToolArgs,
        cx: &mut ToolContext,
    ) -> impl Future<Output = Result<Value, ToolError>> + Send;

    /// Returns whether a user must confirm the call with these arguments. Default: yes. Called once
    /// per call, and only if `META` says that the tool may [`confirm`](ToolMeta::confirm). The
    /// answer is recorded.
    ///
    /// # Errors
    /// The model receives an error, like an error of [`call`](Self::call). No user is asked, and
    /// the tool does not run.
    fn needs_confirmation(
        &self,
        _args: ToolArgs,
        _cx: &mut ToolContext,
    ) -> Result<bool, ToolError> {
        Ok(true)
    }

    /// Returns the hook that changes the requests of an agent with this tool. Default: no hook.
    fn processor(&self) -> Option<&dyn ProcessRequest> {
        None
    }
}

/// Hook that changes each request of an agent before its model is called, and before plugins and
/// callbacks: ADK's `process_llm_request` of a tool.
pub trait ProcessRequest: Send + Sync {
    /// Changes the request. A resumed run calls this method again, so external data must be read in
    /// a [`step`](CallbackContext::step).
    ///
    /// # Errors
    /// An error ends the run.
    fn process_request<'a>(
        &'a self,
        request: &'a mut ModelRequest,
        cx: &'a mut CallbackContext,
    ) -> BoxFuture<'a, crate::Result<()>>;

    /// Returns whether the model sees the tool and may call it. Default: yes.
    fn is_declared(&self) -> bool {
        true
    }
}

/// Appends a paragraph to the system instruction.
pub(crate) fn append_instruction(request: &mut ModelRequest, text: &str) {
    let instruction = &mut request.system_instruction;
    if !instruction.is_empty() {
        instruction.push_str("\n\n");
    }
    instruction.push_str(text);
}

/// Tool as a trait object, as agents hold it.
pub trait DynTool: Send + Sync + 'static {
    /// Returns the name and properties of the tool.
    fn meta(&self) -> &ToolMeta<'_>;

    /// Returns the declaration for models.
    fn declaration_dyn(&self) -> &ToolDeclaration;

    /// Executes one call with the arguments as the model wrote them.
    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// Returns whether a user must confirm a call, see [`Tool::needs_confirmation`].
    ///
    /// # Errors
    /// The model receives an error. No user is asked, and the tool does not run.
    fn needs_confirmation_dyn(
        &self,
        _args: ToolArgs,
        _cx: &mut ToolContext,
    ) -> Result<bool, ToolError> {
        Ok(true)
    }

    /// Returns the hook that changes the requests of an agent with this tool, see
    /// [`Tool::processor`].
    fn processor_dyn(&self) -> Option<&dyn ProcessRequest> {
        None
    }

    /// Returns the agent, if the tool is an agent.
    fn agent_dyn(&self) -> Option<&dyn DynAgent> {
        None
    }

    /// Returns the annotations of a tool of a server. Default: none.
    fn hints_dyn(&self) -> ToolHints {
        ToolHints::default()
    }
}

impl<T: Tool> DynTool for T {
    fn meta(&self) -> &ToolMeta<'_> {
        const { &T::META }
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        Tool::declaration(self)
    }

    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.call(args, cx))
    }

    fn needs_confirmation_dyn(
        &self,
        args: ToolArgs,
        cx: &mut ToolContext,
    ) -> Result<bool, ToolError> {
        self.needs_confirmation(args, cx)
    }

    fn processor_dyn(&self) -> Option<&dyn ProcessRequest> {
        self.processor()
    }
}

/// Returns the declaration of a tool that takes no arguments.
pub(crate) fn without_arguments(meta: &ToolMeta<'static>) -> ToolDeclaration {
    let parameters = schema::object(Map::new(), Vec::new(), &Map::new());
    ToolDeclaration::new(meta.name, meta.description, parameters).escalates(meta.may_exit)
}

/// Error of a tool call without a result. The model reads the text.
#[derive(Debug)]
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    source: Option<BoxError>,
    /// Schema of the answer to a question of the tool.
    schema: Option<Box<Value>>,
}

/// Kind of a tool error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// An argument is missing or has another type. The text names the argument and the expected
    /// type.
    Argument,
    /// The tool returned an error.
    Failed,
    /// The tool panicked.
    Panic,
    /// The call exceeded the `timeout` of the tool.
    Timeout,
    /// The call continues after an answer: [`ToolError::asks`].
    Asks,
}

impl ToolError {
    /// Creates the error of an invalid argument.
    pub fn argument(message: impl Into<String>) -> Self {
        Self {
            kind: ToolErrorKind::Argument,
            ..Self::failed(message)
        }
    }

    /// Creates the error of a failed tool.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            kind: ToolErrorKind::Failed,
            message: message.into(),
            source: None,
            schema: None,
        }
    }

    /// Creates the error of a panic with its message.
    pub fn panicked(message: impl Into<String>) -> Self {
        Self {
            kind: ToolErrorKind::Panic,
            ..Self::failed(message)
        }
    }

    /// Converts any error of a tool: a [`ToolError`] keeps its kind, and any other error is the
    /// source. The model reads its text.
    pub(crate) fn from_box(error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self {
                message: error.to_string(),
                source: Some(error),
                ..Self::failed("")
            },
        }
    }

    /// Creates the error of a caught panic. The text of the panic is its source: the message, which
    /// the model reads, does not contain it.
    pub(crate) fn from_panic(panic: Panic) -> Self {
        Self {
            source: Some(Box::new(panic)),
            ..Self::panicked("the tool panicked")
        }
    }

    /// Adds the reference of a caught panic, and writes the text of the panic to the log.
    pub(crate) fn with_reference(mut self, what: &str, cx: &ToolContext) -> Self {
        let source = self.source.as_deref();
        if let Some(panic) = source.and_then(|source| source.downcast_ref::<Panic>()) {
            self.message = panic.report(what, cx.run_id(), cx.path());
        }
        self
    }

    /// Creates a question from within a call; `schema` describes the answer. The run waits, as for
    /// a confirmation. After the answer, the tool is called again with the same arguments and
    /// [id](ToolContext::call_id), and finds the answer in [`ToolContext::answers`]. State that
    /// this part of the call has written is discarded, as after a failed call.
    ///
    /// If the run [cannot wait](ToolContext::may_ask), the model reads the question as an error.
    pub fn asks(question: impl Into<String>, schema: Value) -> Self {
        Self {
            kind: ToolErrorKind::Asks,
            schema: Some(Box::new(schema)),
            ..Self::failed(question)
        }
    }

    /// Returns the question with the schema of its answer.
    pub(crate) fn into_question(self) -> (String, Value) {
        (
            self.message,
            self.schema.map_or(Value::Null, |schema| *schema),
        )
    }

    /// Creates the error of a call that exceeded the `timeout` of its tool.
    pub(crate) fn timed_out(tool: &ToolMeta<'_>, timeout: Duration) -> Self {
        let left = if tool.blocking {
            "; it still runs on its thread, and its result is dropped"
        } else {
            ""
        };
        let message = format!(
            "`{}` gave no result in {timeout:?}, its `timeout`{left}",
            tool.name
        );
        Self {
            kind: ToolErrorKind::Timeout,
            ..Self::failed(message)
        }
    }

    /// Adds the number of attempts to the text.
    #[must_use]
    pub(crate) fn after(mut self, attempts: u32) -> Self {
        if attempts > 1 {
            self.message = format!("{} (after {attempts} attempts)", self.message);
        }
        self
    }

    /// Creates the error of a result that cannot be encoded as JSON.
    pub(crate) fn unencodable(error: EncodeError) -> Self {
        let message = format!("the result {error}; help: {}", error.help());
        Self {
            source: Some(error.into()),
            ..Self::failed(message)
        }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

impl From<crate::Error> for ToolError {
    fn from(error: crate::Error) -> Self {
        Self::from_box(error.into())
    }
}
