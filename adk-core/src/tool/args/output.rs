//! What a tool returns, chosen by its type, as a result and what it asks for.

use crate::Flow;
use crate::tool::{ToolContext, ToolError};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Display;
use std::marker::PhantomData;

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` cannot be the result of a tool; help: put `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait ToolOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {}

/// A result, and whether a loop ends.
#[derive(Debug)]
pub struct Done {
    value: Value,
    flow: Flow,
}

impl Done {
    /// A result, and whether a loop ends.
    pub fn new(value: Value, flow: Flow) -> Self {
        Self { value, flow }
    }

    /// Sets what the flow asks for. As with ADK's `exit_loop` the model is then not asked to put the result into
    /// words: the loop is over, and a reply would be paid for and thrown away.
    pub fn apply(self, cx: &mut ToolContext) -> Value {
        match self.flow {
            Flow::Continue => return self.value,
            Flow::Exit => cx.actions.escalate = true,
            Flow::ExitTo(name) => cx.actions.exit_to = Some(name),
        }
        cx.actions.skip_summarization = true;
        self.value
    }
}

/// The type of what was returned.
#[derive(Debug)]
pub struct Tag<R>(PhantomData<fn() -> R>);

/// The type of what was returned.
pub fn tag<R>(_: &R) -> Tag<R> {
    Tag(PhantomData)
}

impl<T> Tag<Result<T, ToolError>> {
    /// Takes the `Result` off.
    ///
    /// # Errors
    /// The tool's own.
    pub fn ok(self, output: Result<T, ToolError>) -> Result<T, ToolError> {
        output
    }
}

impl Tag<Flow> {
    /// Takes the `Flow` off.
    pub fn flow(self, output: Flow) -> ((), Flow) {
        ((), output)
    }
}

impl<T> Tag<(T, Flow)> {
    /// Takes the `Flow` off.
    pub fn flow(self, output: (T, Flow)) -> (T, Flow) {
        output
    }
}

/// `Result` with any error that can be shown.
pub trait ResultOutput<T, E> {
    /// Takes the `Result` off.
    ///
    /// # Errors
    /// The tool's own.
    fn ok(self, output: Result<T, E>) -> Result<T, ToolError>
    where
        E: Display;
}

impl<T, E> ResultOutput<T, E> for Tag<Result<T, E>> {
    fn ok(self, output: Result<T, E>) -> Result<T, ToolError>
    where
        E: Display,
    {
        output.map_err(|error| ToolError::failed(error.to_string()))
    }
}

/// What holds for a type of which nothing else is said.
pub trait AnyOutput<T>: Sized {
    /// It is no `Result`.
    ///
    /// # Errors
    /// None.
    fn ok(self, output: T) -> Result<T, ToolError> {
        Ok(output)
    }

    /// It has no `Flow`.
    fn flow(self, output: T) -> (T, Flow) {
        (output, Flow::Continue)
    }

    /// Its form in JSON.
    ///
    /// # Errors
    /// When it has none.
    fn value(self, output: T) -> Result<Value, ToolError>
    where
        T: ToolOutput,
    {
        serde_json::to_value(output)
            .map_err(|error| ToolError::failed(format!("the result has no form in JSON: {error}")))
    }
}

impl<T> AnyOutput<T> for &Tag<T> {}
