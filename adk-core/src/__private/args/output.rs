//! Return values of tools. The type of a value selects how it becomes a [`ToolOutcome`].

use crate::__private::flowing::Flowing;
use crate::runtime::tool::{ToolContext, ToolError};
use crate::{BoxError, Error, Flow, StateDelta};
use serde::Serialize;
use serde_json::Value;
use std::convert::Infallible;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

/// A type that a tool may return.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` cannot be the result of a tool; help: put `#[adk::data]` \
        on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait ToolOutput {
    /// Always `true`: an expansion names this constant to require the trait of a type.
    const YES: bool = true;

    /// Returns the value as JSON.
    ///
    /// # Errors
    /// Fails if the value has no form in JSON.
    fn json(self) -> Result<Value, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {
    fn json(self) -> Result<Value, ToolError> {
        crate::encode::to_json(&self).map_err(ToolError::unencodable)
    }
}

/// A type that a tool may fail with.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` cannot be the error of a tool; help: implement `Display` \
        for it: the model reads its text",
    label = "has no text"
)]
pub trait ToolFailure: Sized {
    /// Unwraps the `Result` of a tool's body.
    ///
    /// # Errors
    /// Returns the error of the tool.
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

/// The error of a tool's body.
#[derive(Debug)]
pub enum ToolBodyError<E> {
    /// An error of this crate, which is passed on unchanged.
    Known(ToolError),
    /// An error of the tool's own type.
    Other(E),
}

/// The result of a tool, and whether a loop ends.
#[derive(Debug)]
pub struct ToolOutcome {
    value: Value,
    flow: Flow,
    /// Values of keys that the tool has set through its parameters, such as an `Out`.
    set: StateDelta,
}

impl ToolOutcome {
    /// Creates the outcome of a tool that returned `value` and `flow`.
    pub fn new(value: Value, flow: Flow) -> Self {
        Self {
            value,
            flow,
            set: StateDelta::default(),
        }
    }

    /// Adds the value that a parameter has set, if any.
    #[must_use]
    pub fn set(mut self, key: &'static str, value: Option<Arc<Value>>) -> Self {
        value
            .into_iter()
            .for_each(|value| self.set.insert(key, value));
        self
    }

    /// Writes the keys of `set`, and requests the end of a loop. After an exit the model does not
    /// summarize the result, as with ADK's `exit_loop`: the loop is over, so a reply would be paid
    /// for and dropped.
    pub fn apply(self, cx: &mut ToolContext) -> Value {
        self.set
            .into_iter()
            .for_each(|(key, value)| cx.state().put(key, value));
        match self.flow {
            Flow::Continue => return self.value,
            Flow::Exit => cx.actions.escalate = true,
            Flow::ExitTo(name) => cx.actions.exit_to = Some(name),
        }
        cx.actions.skip_summarization = true;
        self.value
    }
}

/// The type of a value that a tool returned.
#[derive(Debug)]
pub struct ToolTag<R>(PhantomData<fn() -> R>);

/// Returns the type of a value that a tool returned.
pub fn tag<R>(_: &R) -> ToolTag<R> {
    ToolTag(PhantomData)
}

impl<T> ToolTag<Result<T, ToolError>> {
    /// Marks the error as an error of this crate.
    ///
    /// # Errors
    /// Returns the error of the tool.
    pub fn __ok(self, output: Result<T, ToolError>) -> Result<T, ToolBodyError<Infallible>> {
        output.map_err(ToolBodyError::Known)
    }
}

impl<T> ToolTag<Result<T, Error>> {
    /// Keeps the error as the source.
    ///
    /// # Errors
    /// Returns the error of the tool.
    pub fn __ok(self, output: Result<T, Error>) -> Result<T, ToolBodyError<Infallible>> {
        output.map_err(|error| ToolBodyError::Known(error.into()))
    }
}

impl<T> ToolTag<Result<T, BoxError>> {
    /// Marks an error of this crate in the box as such, and keeps any other error as the source.
    ///
    /// # Errors
    /// Returns the error of the tool.
    pub fn __ok(self, output: Result<T, BoxError>) -> Result<T, ToolBodyError<Infallible>> {
        output.map_err(|error| ToolBodyError::Known(ToolError::from_box(error)))
    }
}

impl<R: Flowing> ToolTag<R> {
    /// Separates the value from its `Flow`.
    pub fn __flow(self, output: R) -> (R::Value, Flow) {
        output.split()
    }
}

/// A `Result` with any other error.
pub trait ResultOutput<T, E> {
    /// Marks the error as an error of the tool.
    ///
    /// # Errors
    /// Returns the error of the tool.
    fn __ok(self, output: Result<T, E>) -> Result<T, ToolBodyError<E>>;
}

impl<T, E> ResultOutput<T, E> for ToolTag<Result<T, E>> {
    fn __ok(self, output: Result<T, E>) -> Result<T, ToolBodyError<E>> {
        output.map_err(ToolBodyError::Other)
    }
}

/// Defaults for types without a more specific method.
pub trait ToolOutputDefaults<T>: Sized {
    /// Wraps a value that is not a `Result`.
    ///
    /// # Errors
    /// Never fails.
    fn __ok(self, output: T) -> Result<T, ToolBodyError<Infallible>> {
        Ok(output)
    }

    /// Pairs a value without a `Flow` with `Flow::Continue`.
    fn __flow(self, output: T) -> (T, Flow) {
        (output, Flow::Continue)
    }
}

impl<T> ToolOutputDefaults<T> for &ToolTag<T> {}
