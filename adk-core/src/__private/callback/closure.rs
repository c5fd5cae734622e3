//! Closures as callbacks of a declaration. The macros add them with these functions.
//!
//! rustc infers the parameter types of a closure from a bound `Fn(A) -> R` only if `R` does not
//! depend on the closure. The future of an `async fn` has the lifetimes of its parameters, so the
//! traits of callbacks cannot name `R` and only require how it answers. The macros therefore write
//! closures that all return a boxed answer. Inside of the closure they convert what the user's body
//! returns: there its type needs no name, and it may borrow from the parameters.
//!
//! The type that a body returns may be partly unknown, as in `Ok(None)` or `Err("no".into())`.
//! `InferredReturn` fills in such parts.

use super::inferred_return::InferredReturn;
use crate::model::{ModelRequest, ModelResponse};
use crate::runtime::callback::accept::{
    AfterAgentAnswer, AfterModelAnswer, AfterToolAnswer, BeforeAgentAnswer, BeforeModelAnswer,
    BeforeToolAnswer, CallbackFactory, ClosureError, OnModelErrorAnswer, OnToolErrorAnswer, Said,
};
use crate::runtime::callback::{AgentCallbacks, CallbackContext, ModelCallbacks, ToolCallbacks};
use crate::{BoxFuture, Error, FunctionCall, Result};
use serde_json::Value;
use std::future::ready;
use std::result::Result as StdResult;
use std::sync::Arc;

type AnswerFuture<'a, T> = BoxFuture<'a, Result<Option<T>>>;

/// Boxes the body of an `async` closure.
pub fn box_body<'a, R>(body: impl Future<Output = R> + Send + 'a) -> BoxFuture<'a, R> {
    Box::pin(body)
}

/// Returns a body unchanged and fixes the type of its output.
pub fn with_return_type<R, F: Future<Output = R>>(body: F) -> F {
    body
}

/// A type that a user may write for a callback parameter of type `T`: only `T` itself.
#[diagnostic::on_unimplemented(
    message = "syntax: this callback is given `{T}`, not `{Self}`; help: write that type, or none",
    label = "is `{T}`"
)]
pub trait CallbackParameter<T> {
    /// Returns the value unchanged.
    fn from_value(value: T) -> Self;
}

impl<T> CallbackParameter<T> for T {
    fn from_value(value: T) -> Self {
        value
    }
}

/// Passes a value to a parameter whose type the user has written.
pub fn typed_parameter<G: CallbackParameter<T>, T>(value: T) -> G {
    G::from_value(value)
}

/// Creates a callback with a function that takes no arguments.
pub fn make_callback<F: CallbackFactory<M>, M>(function: F) -> F::Callback {
    function.make()
}

/// Returns how a body returns an answer of an agent. Unknown parts of its type become text.
pub fn agent_return<R>(_: &R) -> InferredReturn<0, String, R> {
    InferredReturn::new()
}

/// Returns how a body returns a response of a model.
pub fn model_return<R>(_: &R) -> InferredReturn<0, ModelResponse, R> {
    InferredReturn::new()
}

/// Returns how a body returns the result of a tool.
pub fn tool_return<R>(_: &R) -> InferredReturn<0, Value, R> {
    InferredReturn::new()
}

fn answer_future<'a, T: Send + 'a, E: ClosureError<N>, N>(
    answer: StdResult<AnswerFuture<'a, T>, E>,
) -> AnswerFuture<'a, T> {
    answer.unwrap_or_else(|error| Box::pin(ready(Err(error.into_error()))))
}

// These methods are written out, because rustc shows the bound that does not hold and would show a
// macro as well.

impl<T, R> InferredReturn<0, T, R> {
    pub fn before_agent<'a, A: BeforeAgentAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, Said> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn after_agent<'a, A: AfterAgentAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, Said> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn before_model<'a, A: BeforeModelAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, ModelResponse> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn after_model<'a, A: AfterModelAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, ModelResponse> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn on_model_error<'a, A: OnModelErrorAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, ModelResponse> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn before_tool<'a, A: BeforeToolAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, Value> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn after_tool<'a, A: AfterToolAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, Value> {
        answer_future(returned.map(A::into_answer))
    }

    pub fn on_tool_error<'a, A: OnToolErrorAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        returned: StdResult<A, E>,
    ) -> AnswerFuture<'a, Value> {
        answer_future(returned.map(A::into_answer))
    }
}

/// Adds a closure as a callback `before_agent`.
pub fn add_before_agent(
    callbacks: &mut AgentCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext) -> AnswerFuture<'a, Said> + Send + Sync + 'static,
) {
    callbacks.may_stand = true;
    callbacks.before.push(Arc::new(callback));
}

/// Adds a closure as a callback `after_agent`.
pub fn add_after_agent(
    callbacks: &mut AgentCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext) -> AnswerFuture<'a, Said> + Send + Sync + 'static,
) {
    callbacks.after.push(Arc::new(callback));
}

/// Adds a closure as a callback `before_model`.
pub fn add_before_model(
    callbacks: &mut ModelCallbacks,
    callback: impl for<'a> Fn(
        &'a mut CallbackContext,
        &'a mut ModelRequest,
    ) -> AnswerFuture<'a, ModelResponse>
    + Send
    + Sync
    + 'static,
) {
    callbacks.before.push(Arc::new(callback));
}

/// Adds a closure as a callback `after_model`.
pub fn add_after_model(
    callbacks: &mut ModelCallbacks,
    callback: impl for<'a> Fn(
        &'a mut CallbackContext,
        &'a mut ModelResponse,
    ) -> AnswerFuture<'a, ModelResponse>
    + Send
    + Sync
    + 'static,
) {
    callbacks.after.push(Arc::new(callback));
}

/// Adds a closure as a callback `on_model_error`.
pub fn add_on_model_error(
    callbacks: &mut ModelCallbacks,
    callback: impl for<'a> Fn(
        &'a mut CallbackContext,
        &'a ModelRequest,
        &'a Error,
    ) -> AnswerFuture<'a, ModelResponse>
    + Send
    + Sync
    + 'static,
) {
    callbacks.on_error.push(Arc::new(callback));
}

/// Adds a closure as a callback `before_tool`.
pub fn add_before_tool(
    callbacks: &mut ToolCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut FunctionCall) -> AnswerFuture<'a, Value>
    + Send
    + Sync
    + 'static,
) {
    callbacks.before.push(Arc::new(callback));
}

/// Adds a closure as a callback `after_tool`.
pub fn add_after_tool(
    callbacks: &mut ToolCallbacks,
    callback: impl for<'a> Fn(
        &'a mut CallbackContext,
        &'a FunctionCall,
        &'a mut Value,
    ) -> AnswerFuture<'a, Value>
    + Send
    + Sync
    + 'static,
) {
    callbacks.after.push(Arc::new(callback));
}

/// Adds a closure as a callback `on_tool_error`.
pub fn add_on_tool_error(
    callbacks: &mut ToolCallbacks,
    callback: impl for<'a> Fn(
        &'a mut CallbackContext,
        &'a FunctionCall,
        &'a Error,
    ) -> AnswerFuture<'a, Value>
    + Send
    + Sync
    + 'static,
) {
    callbacks.on_error.push(Arc::new(callback));
}
