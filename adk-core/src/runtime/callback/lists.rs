//! Lists of callbacks of an agent or block.

use super::CallbackContext;
use super::accept::{
    AfterAgent, AfterModel, AfterTool, Asked, BeforeAgent, BeforeModel, BeforeTool, OnModelError,
    OnToolError, Said, may_stand,
};
use crate::model::{ModelRequest, ModelResponse};
use crate::{BoxFuture, Error, FunctionCall, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

type CallbackFuture<'a, T> = BoxFuture<'a, Result<Option<T>>>;
type ContextCallback<T> =
    Arc<dyn for<'a> Fn(&'a mut CallbackContext) -> CallbackFuture<'a, T> + Send + Sync>;
type MutCallback<A, T> =
    Arc<dyn for<'a> Fn(&'a mut CallbackContext, &'a mut A) -> CallbackFuture<'a, T> + Send + Sync>;
type RefCallback<A, B, T> = Arc<
    dyn for<'a> Fn(&'a mut CallbackContext, &'a A, &'a B) -> CallbackFuture<'a, T> + Send + Sync,
>;
type ResultCallback<A, B, T> = Arc<
    dyn for<'a> Fn(&'a mut CallbackContext, &'a A, &'a mut B) -> CallbackFuture<'a, T>
        + Send
        + Sync,
>;

/// Callbacks before and after an agent or a block.
///
/// ```
/// # use adk_core as adk;
/// use adk::callback::{AgentCallbacks, CallbackContext};
/// let mut callbacks = AgentCallbacks::default();
/// callbacks.before(|cx: &mut CallbackContext| {
///     (cx.iteration() > Some(2)).then_some("enough of it")
/// });
/// callbacks.after(async |cx: &mut CallbackContext| cx.state().set("done", true));
/// ```
#[derive(Clone, Default)]
pub struct AgentCallbacks {
    pub(crate) before: Vec<ContextCallback<Said>>,
    pub(crate) after: Vec<ContextCallback<Said>>,
    /// Whether a callback before the agent may replace the agent.
    pub(crate) may_stand: bool,
}

impl AgentCallbacks {
    /// Adds a callback before the agent. If it returns content, the content replaces the agent,
    /// which does not run.
    pub fn before<M>(&mut self, callback: impl BeforeAgent<M>) -> &mut Self {
        self.may_stand |= may_stand(&callback);
        self.before.push(Arc::new(move |cx| callback(cx).asked()));
        self
    }

    /// Adds a callback after the agent. If it returns content, the content becomes one more event.
    pub fn after<M>(&mut self, callback: impl AfterAgent<M>) -> &mut Self {
        self.after.push(Arc::new(move |cx| callback(cx).asked()));
        self
    }

    /// Returns whether a callback may replace the agent.
    pub(crate) fn may_skip(&self) -> bool {
        self.may_stand
    }

    /// Returns whether the list has no callbacks.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Adds the callbacks of another list before the agent. Returns whether the other list has any.
    pub fn add_before(&mut self, other: &Self) -> bool {
        self.may_stand |= other.may_stand;
        self.before.extend_from_slice(&other.before);
        !other.before.is_empty()
    }

    /// Adds the callbacks of another list after the agent. Returns whether the other list has any.
    pub fn add_after(&mut self, other: &Self) -> bool {
        self.after.extend_from_slice(&other.after);
        !other.after.is_empty()
    }
}

/// Callbacks around the model calls of an agent.
#[derive(Clone, Default)]
pub struct ModelCallbacks {
    pub(crate) before: Vec<MutCallback<ModelRequest, ModelResponse>>,
    pub(crate) after: Vec<MutCallback<ModelResponse, ModelResponse>>,
    pub(crate) on_error: Vec<RefCallback<ModelRequest, Error, ModelResponse>>,
}

impl ModelCallbacks {
    /// Adds a callback before each model call. The callback may change the request. If it returns a
    /// response, the response replaces the call: the call is not made and not counted, and
    /// [`after`](Self::after) is not called.
    pub fn before<M>(&mut self, callback: impl BeforeModel<M>) -> &mut Self {
        self.before
            .push(Arc::new(move |cx, request| callback(cx, request).asked()));
        self
    }

    /// Adds a callback for each response of the model. The callback may change or replace the
    /// response. While a reply streams, the callback does not receive its pieces, only the whole.
    pub fn after<M>(&mut self, callback: impl AfterModel<M>) -> &mut Self {
        self.after
            .push(Arc::new(move |cx, response| callback(cx, response).asked()));
        self
    }

    /// Adds a callback for a call that has finally failed. If it returns a response, the response
    /// replaces the error.
    pub fn on_error<M>(&mut self, callback: impl OnModelError<M>) -> &mut Self {
        self.on_error.push(Arc::new(move |cx, request, error| {
            callback(cx, request, error).asked()
        }));
        self
    }
}

/// Callbacks around the tool calls of an agent.
#[derive(Clone, Default)]
pub struct ToolCallbacks {
    pub(crate) before: Vec<MutCallback<FunctionCall, Value>>,
    pub(crate) after: Vec<ResultCallback<FunctionCall, Value, Value>>,
    pub(crate) on_error: Vec<RefCallback<FunctionCall, Error, Value>>,
}

impl ToolCallbacks {
    /// Adds a callback before each tool call. The callback may change the arguments. If it returns
    /// a result, the result replaces the call of the tool; [`after`](Self::after) is called
    /// nevertheless.
    pub fn before<M>(&mut self, callback: impl BeforeTool<M>) -> &mut Self {
        self.before
            .push(Arc::new(move |cx, call| callback(cx, call).asked()));
        self
    }

    /// Adds a callback for each result that the model receives, including error results. The
    /// callback may change or replace the result.
    pub fn after<M>(&mut self, callback: impl AfterTool<M>) -> &mut Self {
        self.after.push(Arc::new(move |cx, call, result| {
            callback(cx, call, result).asked()
        }));
        self
    }

    /// Adds a callback for a tool that has failed or does not exist. If it returns a result, the
    /// result replaces the error.
    pub fn on_error<M>(&mut self, callback: impl OnToolError<M>) -> &mut Self {
        self.on_error.push(Arc::new(move |cx, call, error| {
            callback(cx, call, error).asked()
        }));
        self
    }
}

impl fmt::Debug for AgentCallbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "AgentCallbacks({} before, {} after)",
            self.before.len(),
            self.after.len()
        )
    }
}

macro_rules! impl_error_lists {
    ($name:ident) => {
        impl $name {
            /// Returns whether the list has no callbacks.
            pub fn is_empty(&self) -> bool {
                self.before.is_empty() && self.after.is_empty() && self.on_error.is_empty()
            }

            /// Adds the callbacks of another list before calls. Returns whether the other list has
            /// any.
            pub fn add_before(&mut self, other: &Self) -> bool {
                self.before.extend_from_slice(&other.before);
                !other.before.is_empty()
            }

            /// Adds the callbacks of another list after calls. Returns whether the other list has
            /// any.
            pub fn add_after(&mut self, other: &Self) -> bool {
                self.after.extend_from_slice(&other.after);
                !other.after.is_empty()
            }

            /// Adds the callbacks of another list for errors. Returns whether the other list has
            /// any.
            pub fn add_on_error(&mut self, other: &Self) -> bool {
                self.on_error.extend_from_slice(&other.on_error);
                !other.on_error.is_empty()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Self {
                    before,
                    after,
                    on_error,
                } = self;
                let (before, after, failed) = (before.len(), after.len(), on_error.len());
                write!(
                    f,
                    "{}({before} before, {after} after, {failed} on error)",
                    stringify!($name)
                )
            }
        }
    };
}
impl_error_lists!(ModelCallbacks);
impl_error_lists!(ToolCallbacks);
