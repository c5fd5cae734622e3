//! Closures as callbacks of a declaration: what the macros add instead of other callbacks.
//!
//! rustc takes the types of a closure's parameters from a bound `Fn(A) -> R` if `R` has nothing to do with the closure. What a
//! callback may be says of `R` only how it answers, since a future of an `async fn` has the lifetimes of what it gets. So the
//! macros write closures that all return the same, a box of what is answered in the end: they read what the user's body returns
//! in there, where it has no need of a name, and may borrow from what the callback gets.
//!
//! What the body returns may still be open in parts, as in `Ok(None)` or `Err("no".into())`: see `Ends`, in the module beside.

use super::ends::Ends;
use crate::models::model::{ModelRequest, ModelResponse};
use crate::runtime::callback::accept::{
    AfterAgentAnswer, AfterModelAnswer, AfterToolAnswer, BeforeAgentAnswer, BeforeModelAnswer,
    BeforeToolAnswer, CallbackFactory, ClosureError, OnModelErrorAnswer, OnToolErrorAnswer, Said,
};
use crate::runtime::callback::{AgentCallbacks, CallbackContext, ModelCallbacks, ToolCallbacks};
use crate::{BoxFuture, Error, FunctionCall, Result};
use serde_json::Value;
use std::future::ready;
use std::result::Result as Of;
use std::sync::Arc;

type Asked<'a, T> = BoxFuture<'a, Result<Option<T>>>;

/// What an `async` closure returns.
pub fn later<'a, R>(body: impl Future<Output = R> + Send + 'a) -> BoxFuture<'a, R> {
    Box::pin(body)
}

/// A body that says what it returns.
pub fn returns<R, F: Future<Output = R>>(body: F) -> F {
    body
}

/// The type of a parameter that the user has written.
#[diagnostic::on_unimplemented(
    message = "syntax: this callback is given `{T}`, not `{Self}`; help: write that type, or none",
    label = "is `{T}`"
)]
pub trait IsGiven<T> {
    /// The same.
    fn given(value: T) -> Self;
}

impl<T> IsGiven<T> for T {
    fn given(value: T) -> Self {
        value
    }
}

/// A parameter whose type the user has written.
pub fn given<G: IsGiven<T>, T>(value: T) -> G {
    G::given(value)
}

/// A callback that a function makes, which is called without arguments.
pub fn made<F: CallbackFactory<M>, M>(function: F) -> F::Callback {
    function.make()
}

/// What was returned to one who asks for an agent's answer: where it is open, it is text.
pub fn of_agent<R>(_: &R) -> Ends<0, String, R> {
    Ends::new()
}

/// To one who asks for a response.
pub fn of_model<R>(_: &R) -> Ends<0, ModelResponse, R> {
    Ends::new()
}

/// To one who asks for a result.
pub fn of_tool<R>(_: &R) -> Ends<0, Value, R> {
    Ends::new()
}

fn asked<'a, T: Send + 'a, E: ClosureError<N>, N>(answer: Of<Asked<'a, T>, E>) -> Asked<'a, T> {
    answer.unwrap_or_else(|error| Box::pin(ready(Err(error.into_error()))))
}

// Written out: rustc shows the bound that does not hold, and would show a macro as well.

impl<T, R> Ends<0, T, R> {
    pub fn before_agent<'a, A: BeforeAgentAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, Said> {
        asked(given.map(A::into_answer))
    }

    pub fn after_agent<'a, A: AfterAgentAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, Said> {
        asked(given.map(A::into_answer))
    }

    pub fn before_model<'a, A: BeforeModelAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, ModelResponse> {
        asked(given.map(A::into_answer))
    }

    pub fn after_model<'a, A: AfterModelAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, ModelResponse> {
        asked(given.map(A::into_answer))
    }

    pub fn on_model_error<'a, A: OnModelErrorAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, ModelResponse> {
        asked(given.map(A::into_answer))
    }

    pub fn before_tool<'a, A: BeforeToolAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, Value> {
        asked(given.map(A::into_answer))
    }

    pub fn after_tool<'a, A: AfterToolAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, Value> {
        asked(given.map(A::into_answer))
    }

    pub fn on_tool_error<'a, A: OnToolErrorAnswer<'a, M>, E: ClosureError<N>, M, N>(
        &self,
        given: Of<A, E>,
    ) -> Asked<'a, Value> {
        asked(given.map(A::into_answer))
    }
}

/// Adds a closure as a callback `before_agent`.
pub fn add_before_agent(
    callbacks: &mut AgentCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext) -> Asked<'a, Said> + Send + Sync + 'static,
) {
    callbacks.may_stand = true;
    callbacks.before.push(Arc::new(callback));
}

/// Adds a closure as a callback `after_agent`.
pub fn add_after_agent(
    callbacks: &mut AgentCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext) -> Asked<'a, Said> + Send + Sync + 'static,
) {
    callbacks.after.push(Arc::new(callback));
}

/// Adds a closure as a callback `before_model`.
pub fn add_before_model(
    callbacks: &mut ModelCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut ModelRequest) -> Asked<'a, ModelResponse>
    + Send
    + Sync
    + 'static,
) {
    callbacks.before.push(Arc::new(callback));
}

/// Adds a closure as a callback `after_model`.
pub fn add_after_model(
    callbacks: &mut ModelCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut ModelResponse) -> Asked<'a, ModelResponse>
    + Send
    + Sync
    + 'static,
) {
    callbacks.after.push(Arc::new(callback));
}

/// Adds a closure as a callback `on_model_error`.
pub fn add_on_model_error(
    callbacks: &mut ModelCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a ModelRequest, &'a Error) -> Asked<'a, ModelResponse>
    + Send
    + Sync
    + 'static,
) {
    callbacks.on_error.push(Arc::new(callback));
}

/// Adds a closure as a callback `before_tool`.
pub fn add_before_tool(
    callbacks: &mut ToolCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut FunctionCall) -> Asked<'a, Value>
    + Send
    + Sync
    + 'static,
) {
    callbacks.before.push(Arc::new(callback));
}

/// Adds a closure as a callback `after_tool`.
pub fn add_after_tool(
    callbacks: &mut ToolCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a FunctionCall, &'a mut Value) -> Asked<'a, Value>
    + Send
    + Sync
    + 'static,
) {
    callbacks.after.push(Arc::new(callback));
}

/// Adds a closure as a callback `on_tool_error`.
pub fn add_on_tool_error(
    callbacks: &mut ToolCallbacks,
    callback: impl for<'a> Fn(&'a mut CallbackContext, &'a FunctionCall, &'a Error) -> Asked<'a, Value>
    + Send
    + Sync
    + 'static,
) {
    callbacks.on_error.push(Arc::new(callback));
}
