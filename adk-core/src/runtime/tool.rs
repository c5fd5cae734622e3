//! Tools: functions that a model may call.

mod context;
pub(crate) mod decode;
pub(crate) mod function;
mod pinned;
pub(crate) mod schema;
pub(crate) mod text;
mod toolset;

pub use crate::runtime::run::ToolActions;
pub use context::{ToolContext, ToolRecord};
pub use function::{FunctionTool, Json, ToolReturn};
pub(crate) use pinned::PinnedToolset;
pub use pinned::tool_file;
pub use toolset::Toolset;

use crate::encode::EncodeError;
use crate::models::model::{ModelRequest, ToolDeclaration};
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::CallbackContext;
use crate::spec::ToolMeta;
use crate::{BoxError, BoxFuture};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// The arguments of a call by name, as the model wrote them.
pub type ToolArgs = Map<String, Value>;

/// A tool, in the form in which it is written; `#[tool]` makes one of a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "cannot be in `tools`",
    note = "put `#[tool]` on the function, or implement `Tool`"
)]
pub trait Tool: Send + Sync + 'static {
    /// What it is called and what it may do.
    const META: ToolMeta<'static>;

    /// The declaration for models, made once.
    fn declaration(&self) -> &ToolDeclaration;

    /// Runs once, with the arguments as the model wrote them.
    ///
    /// # Errors
    /// An error goes back to the model as an error result, so that it can correct itself.
    fn call(
        &self,
        args: ToolArgs,
        cx: &mut ToolContext,
    ) -> impl Future<Output = Result<Value, ToolError>> + Send;

    /// Whether a person has to agree to a call with these arguments, those that the tool will be called with. Default: yes.
    /// Asked once per call, and only if `META` says that the tool may [`confirm`](ToolMeta::confirm). The answer is
    /// recorded.
    ///
    /// # Errors
    /// It goes back to the model, as one of [`call`](Self::call). Nobody is asked, and the tool does not run.
    fn needs_confirmation(&self, _args: ToolArgs, _cx: &mut ToolContext) -> Result<bool, ToolError> {
        Ok(true)
    }

    /// What changes the requests of an agent that has the tool. Default: nothing.
    fn processor(&self) -> Option<&dyn ProcessRequest> {
        None
    }
}

/// Changes each request of an agent before its model is asked, ahead of plugins and callbacks: ADK's `process_llm_request` of a tool.
pub trait ProcessRequest: Send + Sync {
    /// Changes the request. It runs again when the run is taken up again, so what comes from outside is a
    /// [`step`](CallbackContext::step).
    ///
    /// # Errors
    /// An error ends the run.
    fn process_request<'a>(
        &'a self,
        request: &'a mut ModelRequest,
        cx: &'a mut CallbackContext,
    ) -> BoxFuture<'a, crate::Result<()>>;

    /// Whether the model sees the tool and may call it. Default: yes.
    fn is_declared(&self) -> bool {
        true
    }
}

/// Adds a paragraph to the system instruction.
pub(crate) fn append_instruction(request: &mut ModelRequest, text: &str) {
    let instruction = &mut request.system_instruction;
    if !instruction.is_empty() {
        instruction.push_str("\n\n");
    }
    instruction.push_str(text);
}

/// A tool as a trait object: what agents hold.
pub trait DynTool: Send + Sync + 'static {
    /// What it is called and what it may do.
    fn meta(&self) -> &ToolMeta<'_>;

    /// The declaration for models.
    fn declaration_dyn(&self) -> &ToolDeclaration;

    /// Runs once, with the arguments as the model wrote them.
    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// Whether a person has to agree to a call, see [`Tool::needs_confirmation`].
    ///
    /// # Errors
    /// It goes back to the model. Nobody is asked, and the tool does not run.
    fn needs_confirmation_dyn(&self, _args: ToolArgs, _cx: &mut ToolContext) -> Result<bool, ToolError> {
        Ok(true)
    }

    /// What changes the requests of an agent that has the tool, see [`Tool::processor`].
    fn processor_dyn(&self) -> Option<&dyn ProcessRequest> {
        None
    }

    /// The agent that it is, when it is one.
    fn agent_dyn(&self) -> Option<&dyn DynAgent> {
        None
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

    fn needs_confirmation_dyn(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<bool, ToolError> {
        self.needs_confirmation(args, cx)
    }

    fn processor_dyn(&self) -> Option<&dyn ProcessRequest> {
        self.processor()
    }
}

/// The declaration of a tool that takes no arguments.
pub(crate) fn without_arguments(meta: &ToolMeta<'static>) -> ToolDeclaration {
    let parameters = schema::object(Map::new(), Vec::new(), &Map::new());
    ToolDeclaration::new(meta.name, meta.description, parameters).escalates(meta.may_exit)
}

/// Why a tool gave no result. The model reads the text.
#[derive(Debug)]
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    source: Option<BoxError>,
    /// The schema of an answer that it asks for.
    schema: Option<Box<Value>>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// An argument is missing or of another type; the text names it and says what was expected.
    Argument,
    /// The tool said no.
    Failed,
    /// The tool panicked.
    Panic,
    /// The tool took longer than its `timeout`.
    Timeout,
    /// The call goes on after an answer: [`ToolError::asks`].
    Asks,
}

impl ToolError {
    /// An argument that cannot be used.
    pub fn argument(message: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Argument, ..Self::failed(message) }
    }

    /// A failure of the tool's own.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Failed, message: message.into(), source: None, schema: None }
    }

    /// A panic with its message.
    pub fn panicked(message: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Panic, ..Self::failed(message) }
    }

    /// A question from the middle of a call; `schema` is that of an answer. The run waits as for a confirmation. With the
    /// answer the tool is called again, with the same arguments and [id](ToolContext::call_id), and finds the answer among
    /// [`ToolContext::answers`]. What this part of the call has written is forgotten, as that of a call that fails.
    ///
    /// Where the run [cannot wait](ToolContext::may_ask) it is an error that the model reads.
    pub fn asks(question: impl Into<String>, schema: Value) -> Self {
        Self { kind: ToolErrorKind::Asks, schema: Some(Box::new(schema)), ..Self::failed(question) }
    }

    /// What it asks, with the schema of an answer.
    pub(crate) fn into_question(self) -> (String, Value) {
        (self.message, self.schema.map_or(Value::Null, |schema| *schema))
    }

    /// A call that took longer than the `timeout` of its tool.
    pub(crate) fn timed_out(tool: &ToolMeta<'_>, timeout: Duration) -> Self {
        let left =
            if tool.blocking { "; it still runs on its thread, and its result is dropped" } else { "" };
        let message = format!("`{}` gave no result in {timeout:?}, its `timeout`{left}", tool.name);
        Self { kind: ToolErrorKind::Timeout, ..Self::failed(message) }
    }

    /// Says how often the call was made.
    #[must_use]
    pub(crate) fn after(mut self, attempts: u32) -> Self {
        if attempts > 1 {
            self.message = format!("{} (after {attempts} attempts)", self.message);
        }
        self
    }

    /// A result that has no form in JSON.
    pub(crate) fn unencodable(error: EncodeError) -> Self {
        let message = format!("the result {error}; help: {}", error.help());
        Self { source: Some(error.into()), ..Self::failed(message) }
    }

    /// What kind of failure.
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
        let failed = Self::failed(error.to_string());
        Self { source: Some(Box::new(error)), ..failed }
    }
}
