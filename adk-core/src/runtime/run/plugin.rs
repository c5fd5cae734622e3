//! Plugins: callbacks of a runner, for every agent of every run.

use super::CallbackContext;
use crate::models::model::{ModelRequest, ModelResponse};
use crate::{BoxFuture, Content, Error, Event, FunctionCall, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Writes the trait in the form in which it is written, and in the one that is held.
macro_rules! hooks {
    ($($(#[$doc:meta])* $hook:ident / $held:ident($($arg:ident: [$($ty:tt)+]),*) -> $given:ty = $nothing:expr;)*) => {
        /// What is asked and told in every run of a runner: ADK's plugin. Every hook does nothing until it is written.
        ///
        /// Registered with `Runner::builder().plugin(...)`. Plugins are asked in that order, before the callbacks of
        /// the agent itself; the first that gives something wins, and nobody else is asked. An error of a hook fails
        /// the run.
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
        ///         let said = request.contents.iter().any(|content| content.text().contains(self.0));
        ///         Ok(said.then(|| "I do not talk about that.".into()))
        ///     }
        /// }
        ///
        /// let runner: adk::Runner = adk::Runner::builder().plugin(Blocks("secret")).build()?;
        /// # Ok::<(), adk::Error>(())
        /// ```
        pub trait Plugin: Send + Sync + 'static {
            /// What it is called: two plugins of a runner have two names.
            fn name(&self) -> &str;

            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// Any error fails the run.
                fn $hook(&self, $($arg: &$($ty)+),*) -> impl Future<Output = Result<$given>> + Send {
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
    /// Asked with the message of the user, before it is stored. What it gives is stored in its place.
    on_user_message / user_message(cx: [mut CallbackContext], message: [Content]) -> Option<Content> = None;

    /// Asked once before the first agent. Content of it is the answer of the run, by the author `model`, and no agent runs.
    before_run / run_begins(cx: [mut CallbackContext]) -> Option<Content> = None;

    /// Told when a run has ended, but not when it has failed.
    after_run / run_ended(cx: [mut CallbackContext]) -> () = ();

    /// Asked with each event of an agent or a block before it is committed, pieces of streaming replies too. What it
    /// gives is stored and delivered in its place. A run that is taken up again asks again; what is stored stays.
    on_event / event(cx: [mut CallbackContext], event: [Event]) -> Option<Event> = None;

    /// Asked before each agent and each block. Its content replaces that, which does not run.
    before_agent / agent_begins(cx: [mut CallbackContext]) -> Option<Content> = None;

    /// Asked after each agent and each block. Content of it is one more event.
    after_agent / agent_ended(cx: [mut CallbackContext]) -> Option<Content> = None;

    /// Told when an agent or a block has failed; the error goes on to what is around it.
    on_agent_error / agent_failed(cx: [mut CallbackContext], error: [Error]) -> () = ();

    /// Asked before each call of a model. It may change the request; its response replaces the call.
    before_model / model_begins(cx: [mut CallbackContext], request: [mut ModelRequest]) -> Option<ModelResponse> = None;

    /// Asked with each response of a model. It may change the response, or replace it.
    after_model / model_ended(cx: [mut CallbackContext], response: [mut ModelResponse]) -> Option<ModelResponse> = None;

    /// Asked when a call of a model has failed for good. Its response replaces the error.
    on_model_error / model_failed(cx: [mut CallbackContext], request: [ModelRequest], error: [Error]) -> Option<ModelResponse> = None;

    /// Asked before each call of a tool. It may change the arguments; its result replaces the tool.
    before_tool / tool_begins(cx: [mut CallbackContext], call: [mut FunctionCall]) -> Option<Value> = None;

    /// Asked with each result that goes back to a model. It may change the result, or replace it.
    after_tool / tool_ended(cx: [mut CallbackContext], call: [FunctionCall], result: [mut Value]) -> Option<Value> = None;

    /// Asked when a tool has failed, or is not there. Its result replaces the error.
    on_tool_error / tool_failed(cx: [mut CallbackContext], call: [FunctionCall], error: [Error]) -> Option<Value> = None;
}

/// The plugins of a runner, in the order in which they are asked.
#[derive(Clone, Default)]
pub(crate) struct Plugins(pub(crate) Vec<Arc<dyn DynPlugin>>);

impl Plugins {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A name that two of them have.
    pub(crate) fn repeated(&self) -> Option<&str> {
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
        f.debug_list().entries(self.iter().map(DynPlugin::name)).finish()
    }
}
