//! The callbacks of one agent or block.

use super::CallbackContext;
use super::accept::{
    AfterAgent, AfterModel, AfterTool, Asked, BeforeAgent, BeforeModel, BeforeTool, OnModelError,
    OnToolError, Said, may_stand,
};
use crate::models::model::{ModelRequest, ModelResponse};
use crate::{BoxFuture, Error, FunctionCall, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

type CallbackFuture<'a, T> = BoxFuture<'a, Result<Option<T>>>;
type ContextCallback<T> = Arc<dyn for<'a> Fn(&'a mut CallbackContext) -> CallbackFuture<'a, T> + Send + Sync>;
type MutCallback<A, T> =
    Arc<dyn for<'a> Fn(&'a mut CallbackContext, &'a mut A) -> CallbackFuture<'a, T> + Send + Sync>;
type RefCallback<A, B, T> =
    Arc<dyn for<'a> Fn(&'a mut CallbackContext, &'a A, &'a B) -> CallbackFuture<'a, T> + Send + Sync>;
type ResultCallback<A, B, T> =
    Arc<dyn for<'a> Fn(&'a mut CallbackContext, &'a A, &'a mut B) -> CallbackFuture<'a, T> + Send + Sync>;

/// The callbacks before and after an agent or a block.
///
/// ```
/// # use adk_core as adk;
/// use adk::callback::{AgentCallbacks, CallbackContext};
/// let mut callbacks = AgentCallbacks::default();
/// callbacks.before(|cx: &mut CallbackContext| (cx.iteration() > Some(2)).then_some("enough of it"));
/// callbacks.after(async |cx: &mut CallbackContext| cx.state().set("done", true));
/// ```
#[derive(Clone, Default)]
pub struct AgentCallbacks {
    pub(crate) before: Vec<ContextCallback<Said>>,
    pub(crate) after: Vec<ContextCallback<Said>>,
    /// A callback before the agent may replace it.
    pub(crate) may_stand: bool,
}

impl AgentCallbacks {
    /// Adds one that is called before the agent. Its content replaces the agent, which does not run.
    pub fn before<M>(&mut self, callback: impl BeforeAgent<M>) -> &mut Self {
        self.may_stand |= may_stand(&callback);
        self.before.push(Arc::new(move |cx| callback(cx).asked()));
        self
    }

    /// Adds one that is called after the agent. Content of it is one more event.
    pub fn after<M>(&mut self, callback: impl AfterAgent<M>) -> &mut Self {
        self.after.push(Arc::new(move |cx| callback(cx).asked()));
        self
    }

    /// True if one of them may replace the agent.
    pub(crate) fn may_skip(&self) -> bool {
        self.may_stand
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Adds those of another list that are called before the agent; whether there are any.
    pub(crate) fn add_before(&mut self, other: &Self) -> bool {
        self.may_stand |= other.may_stand;
        self.before.extend_from_slice(&other.before);
        !other.before.is_empty()
    }

    /// Adds those that are called after it.
    pub(crate) fn add_after(&mut self, other: &Self) -> bool {
        self.after.extend_from_slice(&other.after);
        !other.after.is_empty()
    }
}

/// The callbacks around the model calls of an agent.
#[derive(Clone, Default)]
pub struct ModelCallbacks {
    pub(crate) before: Vec<MutCallback<ModelRequest, ModelResponse>>,
    pub(crate) after: Vec<MutCallback<ModelResponse, ModelResponse>>,
    pub(crate) on_error: Vec<RefCallback<ModelRequest, Error, ModelResponse>>,
}

impl ModelCallbacks {
    /// Adds one that is called before each call of the model and may change the request. Its response replaces
    /// the call, which is then not made and not counted, and [`after`](Self::after) is not called.
    pub fn before<M>(&mut self, callback: impl BeforeModel<M>) -> &mut Self {
        self.before.push(Arc::new(move |cx, request| callback(cx, request).asked()));
        self
    }

    /// Adds one that is called with each response of the model, and may change or replace it. Pieces that come before
    /// the whole, while a reply streams, are not shown to it.
    pub fn after<M>(&mut self, callback: impl AfterModel<M>) -> &mut Self {
        self.after.push(Arc::new(move |cx, response| callback(cx, response).asked()));
        self
    }

    /// Adds one that is called when a call has failed for good. Its response replaces the error.
    pub fn on_error<M>(&mut self, callback: impl OnModelError<M>) -> &mut Self {
        self.on_error.push(Arc::new(move |cx, request, error| callback(cx, request, error).asked()));
        self
    }
}

/// The callbacks around the tool calls of an agent.
#[derive(Clone, Default)]
pub struct ToolCallbacks {
    pub(crate) before: Vec<MutCallback<FunctionCall, Value>>,
    pub(crate) after: Vec<ResultCallback<FunctionCall, Value, Value>>,
    pub(crate) on_error: Vec<RefCallback<FunctionCall, Error, Value>>,
}

impl ToolCallbacks {
    /// Adds one that is called before each call of a tool and may change its arguments. Its result replaces
    /// the tool, which is not called; [`after`](Self::after) is.
    pub fn before<M>(&mut self, callback: impl BeforeTool<M>) -> &mut Self {
        self.before.push(Arc::new(move |cx, call| callback(cx, call).asked()));
        self
    }

    /// Adds one that is called with each result that goes back to the model, error results too, and may change or
    /// replace it.
    pub fn after<M>(&mut self, callback: impl AfterTool<M>) -> &mut Self {
        self.after.push(Arc::new(move |cx, call, result| callback(cx, call, result).asked()));
        self
    }

    /// Adds one that is called when a tool has failed, or is not there. Its result replaces the error.
    pub fn on_error<M>(&mut self, callback: impl OnToolError<M>) -> &mut Self {
        self.on_error.push(Arc::new(move |cx, call, error| callback(cx, call, error).asked()));
        self
    }
}

impl fmt::Debug for AgentCallbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentCallbacks({} before, {} after)", self.before.len(), self.after.len())
    }
}

macro_rules! impl_error_lists {
    ($name:ident) => {
        impl $name {
            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.before.is_empty() && self.after.is_empty() && self.on_error.is_empty()
            }

            /// Adds those of another list that are called before; whether there are any.
            pub(crate) fn add_before(&mut self, other: &Self) -> bool {
                self.before.extend_from_slice(&other.before);
                !other.before.is_empty()
            }

            /// Adds those that are called after.
            pub(crate) fn add_after(&mut self, other: &Self) -> bool {
                self.after.extend_from_slice(&other.after);
                !other.after.is_empty()
            }

            /// Adds those that are called for errors.
            pub(crate) fn add_on_error(&mut self, other: &Self) -> bool {
                self.on_error.extend_from_slice(&other.on_error);
                !other.on_error.is_empty()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Self { before, after, on_error } = self;
                let (before, after, failed) = (before.len(), after.len(), on_error.len());
                write!(f, "{}({before} before, {after} after, {failed} on error)", stringify!($name))
            }
        }
    };
}
impl_error_lists!(ModelCallbacks);
impl_error_lists!(ToolCallbacks);
