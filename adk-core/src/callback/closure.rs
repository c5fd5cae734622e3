//! Closures that do not say the types of what they get: what the macros add instead of other callbacks.
//!
//! rustc takes the types of a closure's parameters from a bound `Fn(A) -> R` if `R` has nothing to do with the closure. What a
//! callback may be says of `R` only how it answers, since a future of an `async fn` has the lifetimes of what it gets. A closure
//! is known by its tokens: what one returns that is not `async` has no lifetime of these, and `AsyncFn` says the output of one
//! that is. So there are two more bounds, for closures alone.

use super::{
    AfterAgent, AfterModel, AfterTool, AgentCallbacks, BeforeAgent, BeforeModel, BeforeTool, CallbackContext,
    ModelCallbacks, OnModelError, OnToolError, Said, ToolCallbacks,
};
use crate::model::{ModelRequest, ModelResponse};
use crate::{BoxError, Error, FunctionCall};
use serde_json::Value;

/// What a closure gives that only ever says `None`.
#[derive(Clone, Copy, Debug)]
pub enum Nothing {}

macro_rules! nothing {
    ($($ty:ty)*) => {
        $(impl From<Nothing> for $ty {
            fn from(nothing: Nothing) -> Self {
                match nothing {}
            }
        })*
    };
}

nothing! { Said ModelResponse Value }

/// The type of `None`.
pub fn none(answer: Option<Nothing>) -> Option<Nothing> {
    answer
}

/// The type of `Ok(None)`, and its error.
///
/// # Errors
/// The closure's own.
pub fn ok_none(answer: Result<Option<Nothing>, BoxError>) -> Result<Option<Nothing>, BoxError> {
    answer
}

/// The type of `Ok(None)` or `Err(...)`.
///
/// # Errors
/// The closure's own.
pub fn err<E>(answer: Result<Option<Nothing>, E>) -> Result<Option<Nothing>, E> {
    answer
}

/// The error of what ends in `Ok(...)`.
///
/// # Errors
/// The closure's own.
pub fn ok<A>(answer: Result<A, BoxError>) -> Result<A, BoxError> {
    answer
}

// Written out: rustc shows the bound that does not hold, and would show a macro as well.

#[doc(hidden)]
impl AgentCallbacks {
    pub fn before_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext) -> R + BeforeAgent<M>,
    ) -> &mut Self {
        self.before(callback)
    }

    pub fn before_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext) -> R + BeforeAgent<M>,
    ) -> &mut Self {
        self.before(callback)
    }

    pub fn after_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext) -> R + AfterAgent<M>,
    ) -> &mut Self {
        self.after(callback)
    }

    pub fn after_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext) -> R + AfterAgent<M>,
    ) -> &mut Self {
        self.after(callback)
    }
}

#[doc(hidden)]
impl ModelCallbacks {
    pub fn before_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut ModelRequest) -> R + BeforeModel<M>,
    ) -> &mut Self {
        self.before(callback)
    }

    pub fn before_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext, &'a mut ModelRequest) -> R + BeforeModel<M>,
    ) -> &mut Self {
        self.before(callback)
    }

    pub fn after_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut ModelResponse) -> R + AfterModel<M>,
    ) -> &mut Self {
        self.after(callback)
    }

    pub fn after_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext, &'a mut ModelResponse) -> R + AfterModel<M>,
    ) -> &mut Self {
        self.after(callback)
    }

    pub fn on_error_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext, &'a ModelRequest, &'a Error) -> R + OnModelError<M>,
    ) -> &mut Self {
        self.on_error(callback)
    }

    pub fn on_error_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext, &'a ModelRequest, &'a Error) -> R
        + OnModelError<M>,
    ) -> &mut Self {
        self.on_error(callback)
    }
}

#[doc(hidden)]
impl ToolCallbacks {
    pub fn before_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext, &'a mut FunctionCall) -> R + BeforeTool<M>,
    ) -> &mut Self {
        self.before(callback)
    }

    pub fn before_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext, &'a mut FunctionCall) -> R + BeforeTool<M>,
    ) -> &mut Self {
        self.before(callback)
    }

    pub fn after_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext, &'a FunctionCall, &'a mut Value) -> R + AfterTool<M>,
    ) -> &mut Self {
        self.after(callback)
    }

    pub fn after_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext, &'a FunctionCall, &'a mut Value) -> R
        + AfterTool<M>,
    ) -> &mut Self {
        self.after(callback)
    }

    pub fn on_error_closure<R, M>(
        &mut self,
        callback: impl for<'a> Fn(&'a mut CallbackContext, &'a FunctionCall, &'a Error) -> R + OnToolError<M>,
    ) -> &mut Self {
        self.on_error(callback)
    }

    pub fn on_error_async<R, M>(
        &mut self,
        callback: impl for<'a> AsyncFn(&'a mut CallbackContext, &'a FunctionCall, &'a Error) -> R + OnToolError<M>,
    ) -> &mut Self {
        self.on_error(callback)
    }
}
