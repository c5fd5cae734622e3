//! [`Plugin`]: callbacks of a runner, for every agent of every run.

use super::CallbackContext;
use crate::model::{ModelRequest, ModelResponse};
use crate::{BoxFuture, Content, Error, Event, FunctionCall, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Defines the trait that users implement, and the object-safe trait that the runner holds.
macro_rules! hooks {
    (
        $(
            $(#[$doc:meta])*
            $hook:ident / $held:ident($($arg:ident: [$($ty:tt)+]),*) -> $given:ty = $nothing:expr;
        )*
    ) => {
        /// Hooks in every run of a runner: ADK's plugin. The default of every hook does nothing.
        ///
        /// A plugin is registered with `Runner::builder().plugin(...)`. Plugins are called in that
        /// order, before the callbacks of the agent itself. The first plugin that returns a value
        /// wins, and later plugins and callbacks are not called. An error of a hook fails the run.
        ///
        /// ```
        /// # use adk_core as adk;
        /// use adk::callback::{CallbackContext, Plugin};
        /// use adk::model::{ModelRequest, ModelResponse};
        ///
        /// /// Keeps a model from being asked about a word.
        /// struct Blocks(&'static str);
        ///
        /// impl Plugin for Blocks {
        ///     fn name(&self) -> &str {
        ///         "blocks"
        ///     }
        ///
        ///     async fn before_model(
        ///         &self,
        ///         _: &mut CallbackContext,
        ///         request: &mut ModelRequest,
        ///     ) -> adk::Result<Option<ModelResponse>> {
        ///         let mut said = request.contents.iter().map(|content| content.text());
        ///         let said = said.any(|text| text.contains(self.0));
        ///         Ok(said.then(|| "I do not talk about that.".into()))
        ///     }
        /// }
        ///
        /// let runner: adk::Runner = adk::Runner::builder().plugin(Blocks("secret")).build()?;
        /// # Ok::<(), adk::Error>(())
        /// ```
        pub trait Plugin: Send + Sync + 'static {
            /// Returns the name of the plugin, which must be unique in its runner.
            fn name(&self) -> &str;

            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// Any error fails the run.
                fn $hook(
                    &self,
                    $($arg: &$($ty)+),*
                ) -> impl Future<Output = Result<$given>> + Send {
                    let _ = ($($arg),*);
                    async { Ok($nothing) }
                }
            )*
        }

        /// A plugin as a trait object.
        pub(crate) trait DynPlugin: Send + Sync {
            fn name(&self) -> &str;
            $(fn $held<'a>(&'a self, $($arg: &'a $($ty)+),*) -> BoxFuture<'a, Result<$given>>;)*
        }

        impl<P: Plugin> DynPlugin for P {
            fn name(&self) -> &str {
                Plugin::name(self)
            }

            $(fn $held<'a>(&'a self, $($arg: &'a $($ty)+),*) -> BoxFuture<'a, Result<$given>> {
                Box::pin(self.$hook($($arg),*))
            })*
        }
    };
}

hooks! {
    /// Called with the message of the user before it is stored. The returned content is stored in
    /// its place.
    on_user_message / user_message(
        cx: [mut CallbackContext],
        message: [Content]
    ) -> Option<Content> = None;

    /// Called once before the first agent. Returned content is the answer of the run, by the author
    /// `model`, and no agent runs.
    before_run / run_begins(cx: [mut CallbackContext]) -> Option<Content> = None;

    /// Called when a run has ended without an error.
    after_run / run_ended(cx: [mut CallbackContext]) -> () = ();

    /// Called with each event of an agent or a block before it is committed, partial events
    /// included. The returned event is stored and delivered in its place. A resumed run calls the
    /// hook again, but stored events stay. It has no partial events, so writes at a partial event
    /// are dropped, and steps there are not recorded.
    on_event / event(cx: [mut CallbackContext], event: [Event]) -> Option<Event> = None;

    /// Called before each agent and each block. Returned content replaces the agent or block, which
    /// does not run.
    before_agent / agent_begins(cx: [mut CallbackContext]) -> Option<Content> = None;

    /// Called after each agent and each block. Returned content is one more event.
    after_agent / agent_ended(cx: [mut CallbackContext]) -> Option<Content> = None;

    /// Called when an agent or a block has failed. The error then propagates to the enclosing
    /// block.
    on_agent_error / agent_failed(cx: [mut CallbackContext], error: [Error]) -> () = ();

    /// Called before each call of a model. The hook may change the request; a returned response
    /// replaces the call.
    before_model / model_begins(
        cx: [mut CallbackContext],
        request: [mut ModelRequest]
    ) -> Option<ModelResponse> = None;

    /// Called with each response of a model. The hook may change the response, or return another.
    after_model / model_ended(
        cx: [mut CallbackContext],
        response: [mut ModelResponse]
    ) -> Option<ModelResponse> = None;

    /// Called when a call of a model has failed for good. A returned response replaces the error.
    on_model_error / model_failed(
        cx: [mut CallbackContext],
        request: [ModelRequest],
        error: [Error]
    ) -> Option<ModelResponse> = None;

    /// Called before each call of a tool. The hook may change the arguments; a returned result
    /// replaces the tool.
    before_tool / tool_begins(
        cx: [mut CallbackContext],
        call: [mut FunctionCall]
    ) -> Option<Value> = None;

    /// Called with each result that a model receives. The hook may change the result, or return
    /// another.
    after_tool / tool_ended(
        cx: [mut CallbackContext],
        call: [FunctionCall],
        result: [mut Value]
    ) -> Option<Value> = None;

    /// Called when a tool has failed or does not exist. A returned result replaces the error.
    on_tool_error / tool_failed(
        cx: [mut CallbackContext],
        call: [FunctionCall],
        error: [Error]
    ) -> Option<Value> = None;
}

/// The plugins of a runner, in the order in which they are called.
#[derive(Clone, Default)]
pub(crate) struct Plugins(pub(crate) Vec<Arc<dyn DynPlugin>>);

impl Plugins {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a name that two plugins have.
    pub(crate) fn repeated_name(&self) -> Option<&str> {
        let mut names = self.iter().map(DynPlugin::name).enumerate();
        names
            .find(|(at, name)| self.iter().take(*at).any(|other| other.name() == *name))
            .map(|(_, name)| name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn DynPlugin> {
        self.0.iter().map(|plugin| &**plugin)
    }
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(DynPlugin::name))
            .finish()
    }
}
