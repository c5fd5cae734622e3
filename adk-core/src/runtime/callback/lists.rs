//! Lists of callbacks of an agent or block.

use super::accept::{
    AfterAgent, AfterModel, AfterTool, Asked, BeforeAgent, BeforeModel, BeforeTool, OnModelError,
    OnToolError, may_stand,
};
use crate::runtime::run::hooks::Hooks;

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name(pub(crate) Hooks);

        impl $name {
            /// Returns whether the list has no callbacks.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Adds the callbacks of one kind, such as `before_tool`, from another list. Returns
            /// whether the other list has any.
            pub fn add(&mut self, other: &Self, kind: &str) -> bool {
                self.0.add(&other.0, kind)
            }
        }
    )*};
}

lists! {
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
    AgentCallbacks;

    /// Callbacks around the model calls of an agent.
    ModelCallbacks;

    /// Callbacks around the tool calls of an agent.
    ToolCallbacks;
}

impl AgentCallbacks {
    /// Adds a callback before the agent. If it returns content, the content replaces the agent,
    /// which does not run.
    pub fn before<M>(&mut self, callback: impl BeforeAgent<M>) -> &mut Self {
        self.0.quiet += usize::from(!may_stand(&callback));
        self.0.before_agent(move |cx| callback(cx).asked());
        self
    }

    /// Adds a callback after the agent. If it returns content, the content becomes one more event.
    pub fn after<M>(&mut self, callback: impl AfterAgent<M>) -> &mut Self {
        self.0.after_agent(move |cx| callback(cx).asked());
        self
    }

    /// Returns whether a callback may replace the agent.
    pub(crate) fn may_skip(&self) -> bool {
        self.0.may_skip()
    }
}

impl ModelCallbacks {
    /// Adds a callback before each model call. The callback may change the request. If it returns a
    /// response, the response replaces the call: the call is not made and not counted, and
    /// [`after`](Self::after) is not called.
    pub fn before<M>(&mut self, callback: impl BeforeModel<M>) -> &mut Self {
        self.0
            .before_model(move |cx, request| callback(cx, request).asked());
        self
    }

    /// Adds a callback for each response of the model. The callback may change or replace the
    /// response. While a reply streams, the callback does not receive its pieces, only the whole.
    pub fn after<M>(&mut self, callback: impl AfterModel<M>) -> &mut Self {
        self.0
            .after_model(move |cx, response| callback(cx, response).asked());
        self
    }

    /// Adds a callback for a call that has finally failed. If it returns a response, the response
    /// replaces the error.
    pub fn on_error<M>(&mut self, callback: impl OnModelError<M>) -> &mut Self {
        self.0
            .on_model_error(move |cx, request, error| callback(cx, request, error).asked());
        self
    }
}

impl ToolCallbacks {
    /// Adds a callback before each tool call. The callback may change the arguments. If it returns
    /// a result, the result replaces the call of the tool; [`after`](Self::after) is called
    /// nevertheless.
    pub fn before<M>(&mut self, callback: impl BeforeTool<M>) -> &mut Self {
        self.0
            .before_tool(move |cx, call| callback(cx, call).asked());
        self
    }

    /// Adds a callback for each result that the model receives, including error results. The
    /// callback may change or replace the result.
    pub fn after<M>(&mut self, callback: impl AfterTool<M>) -> &mut Self {
        self.0
            .after_tool(move |cx, call, result| callback(cx, call, result).asked());
        self
    }

    /// Adds a callback for a tool that has failed or does not exist. If it returns a result, the
    /// result replaces the error.
    pub fn on_error<M>(&mut self, callback: impl OnToolError<M>) -> &mut Self {
        self.0
            .on_tool_error(move |cx, call, error| callback(cx, call, error).asked());
        self
    }
}
