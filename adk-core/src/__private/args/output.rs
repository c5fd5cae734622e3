//! What a tool returns, chosen by its type, as a result and what it asks for.

use crate::flow::Flowing;
use crate::runtime::tool::{ToolContext, ToolError};
use crate::{Flow, StateDelta};
use serde::Serialize;
use serde_json::Value;
use std::convert::Infallible;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` cannot be the result of a tool; help: put `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait ToolOutput {
    /// It may.
    const YES: bool = true;

    /// Its form in JSON.
    ///
    /// # Errors
    /// When it has none.
    fn json(self) -> Result<Value, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {
    fn json(self) -> Result<Value, ToolError> {
        crate::encode::to_json(&self).map_err(ToolError::unencodable)
    }
}

/// What a tool may fail with.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` cannot be the error of a tool; help: implement `Display` for it: the model reads its text",
    label = "has no text"
)]
pub trait ToolFailure: Sized {
    /// Takes the `Result` off.
    ///
    /// # Errors
    /// The tool's own.
    fn ok<T>(output: Result<T, ToolBodyError<Self>>) -> Result<T, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<E: Display> ToolFailure for E {
    fn ok<T>(output: Result<T, ToolBodyError<Self>>) -> Result<T, ToolError> {
        output.map_err(|failure| match failure {
            ToolBodyError::Known(error) => error,
            ToolBodyError::Other(error) => ToolError::failed(error.to_string()),
        })
    }
}

/// How a tool has failed.
#[derive(Debug)]
pub enum ToolBodyError<E> {
    /// With an error of ours, which stays what it is.
    Known(ToolError),
    /// With one of its own.
    Other(E),
}

/// A result, and whether a loop ends.
#[derive(Debug)]
pub struct ToolOutcome {
    value: Value,
    flow: Flow,
    /// The keys that parameters have set.
    set: StateDelta,
}

impl ToolOutcome {
    /// A result, and whether a loop ends.
    pub fn new(value: Value, flow: Flow) -> Self {
        Self { value, flow, set: StateDelta::default() }
    }

    /// Takes what a parameter has set, if it has.
    #[must_use]
    pub fn set(mut self, key: &'static str, value: Option<Arc<Value>>) -> Self {
        value.into_iter().for_each(|value| self.set.insert(key, value));
        self
    }

    /// Writes what was set, and sets what the flow asks for. As with ADK's `exit_loop` the model is then not asked to put the
    /// result into words: the loop is over, and a reply would be paid for and thrown away.
    pub fn apply(self, cx: &mut ToolContext) -> Value {
        self.set.into_iter().for_each(|(key, value)| cx.state().put(key, value));
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
pub struct ToolTag<R>(PhantomData<fn() -> R>);

/// The type of what was returned.
pub fn tag<R>(_: &R) -> ToolTag<R> {
    ToolTag(PhantomData)
}

impl<T> ToolTag<Result<T, ToolError>> {
    /// Says how it failed.
    ///
    /// # Errors
    /// The tool's own.
    pub fn __ok(self, output: Result<T, ToolError>) -> Result<T, ToolBodyError<Infallible>> {
        output.map_err(ToolBodyError::Known)
    }
}

impl<R: Flowing> ToolTag<R> {
    /// Takes the `Flow` off.
    pub fn __flow(self, output: R) -> (R::Value, Flow) {
        output.split()
    }
}

/// `Result` with any error.
pub trait ResultOutput<T, E> {
    /// Says how it failed.
    ///
    /// # Errors
    /// The tool's own.
    fn __ok(self, output: Result<T, E>) -> Result<T, ToolBodyError<E>>;
}

impl<T, E> ResultOutput<T, E> for ToolTag<Result<T, E>> {
    fn __ok(self, output: Result<T, E>) -> Result<T, ToolBodyError<E>> {
        output.map_err(ToolBodyError::Other)
    }
}

/// The defaults for all types.
pub trait ToolOutputDefaults<T>: Sized {
    /// It is no `Result`.
    ///
    /// # Errors
    /// None.
    fn __ok(self, output: T) -> Result<T, ToolBodyError<Infallible>> {
        Ok(output)
    }

    /// It has no `Flow`.
    fn __flow(self, output: T) -> (T, Flow) {
        (output, Flow::Continue)
    }
}

impl<T> ToolOutputDefaults<T> for &ToolTag<T> {}
