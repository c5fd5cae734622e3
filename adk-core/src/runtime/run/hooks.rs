//! [`Plugin`] and [`Hooks`]: the hooks of a run, and of one agent or block. A callback is a hook of
//! one agent, and a plugin has the same hooks in a whole run.

use super::CallbackContext;
use crate::model::{ModelRequest, ModelResponse};
use crate::panic::{Panic, catch_panic};
use crate::{BoxFuture, Content, Error, Event, FunctionCall, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Defines all hooks: those that only a plugin has, and those that are also callbacks.
macro_rules! hooks {
    (run { $($run:tt)* } agent { $($agent:tt)* }) => {
        plugin! { $($run)* $($agent)* }
        callbacks! { $($agent)* }
    };
}

/// Defines the trait that users implement, and the object-safe trait that the runner holds.
macro_rules! plugin {
    ($(
        $(#[$doc:meta])*
        $hook:ident($($arg:ident: [$($ty:tt)+]),*) -> $given:ty = $nothing:expr
            $(, $variant:ident $answer:ident)?;
    )*) => {
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
                    cx: &mut CallbackContext,
                    $($arg: &$($ty)+),*
                ) -> impl Future<Output = Result<$given>> + Send {
                    let _ = (cx, $($arg),*);
                    async { Ok($nothing) }
                }
            )*
        }

        /// A plugin as a trait object.
        pub(crate) trait DynPlugin: Send + Sync {
            fn name(&self) -> &str;
            $(fn $hook<'a>(
                &'a self,
                cx: &'a mut CallbackContext,
                $($arg: &'a $($ty)+),*
            ) -> BoxFuture<'a, Result<$given>>;)*
        }

        impl<P: Plugin> DynPlugin for P {
            fn name(&self) -> &str {
                Plugin::name(self)
            }

            $(fn $hook<'a>(
                &'a self,
                cx: &'a mut CallbackContext,
                $($arg: &'a $($ty)+),*
            ) -> BoxFuture<'a, Result<$given>> {
                Box::pin(Plugin::$hook(self, cx, $($arg),*))
            })*
        }
    };
}

/// Calls hooks in sequence until the first answer: those of the run, then those of one agent.
macro_rules! first_answer {
    ($cx:ident, $own:expr, $hook:ident => { $($pattern:pat => $answer:expr,)+ }) => {{
        let services = $cx.services();
        let all = async {
            for $hook in services.plugins.list.iter().chain($own) {
                let answer = match $hook {
                    $($pattern => $answer,)+
                    _ => None,
                };
                if answer.is_some() {
                    return Ok(answer);
                }
            }
            Ok(None)
        };
        let caught = catch_panic(all).await;
        caught.unwrap_or_else(|panic| callback_panic(panic, $cx))
    }};
}

/// Defines the hooks that are also callbacks, and for each the function that calls all of them.
macro_rules! callbacks {
    ($(
        $(#[$doc:meta])*
        $hook:ident($($arg:ident: [$($ty:tt)+]),*) -> $given:ty = $nothing:expr,
            $variant:ident $answer:ident;
    )*) => {
        /// A plugin, or a callback of an agent or block.
        #[derive(Clone)]
        pub(crate) enum Hook {
            Plugin(Arc<dyn DynPlugin>),
            $($variant(Arc<
                dyn for<'a> Fn(
                        &'a mut CallbackContext,
                        $(&'a $($ty)+),*
                    ) -> BoxFuture<'a, Result<Option<$answer>>>
                    + Send
                    + Sync,
            >),)*
        }

        impl Hook {
            /// Returns the name of the plugin, or the kind of the callback.
            pub(crate) fn name(&self) -> &str {
                match self {
                    Self::Plugin(plugin) => plugin.name(),
                    $(Self::$variant(_) => stringify!($hook),)*
                }
            }
        }

        impl Hooks {
            $(pub fn $hook(
                &mut self,
                callback: impl for<'a> Fn(
                    &'a mut CallbackContext,
                    $(&'a $($ty)+),*
                ) -> BoxFuture<'a, Result<Option<$answer>>>
                + Send
                + Sync
                + 'static,
            ) {
                self.push(Hook::$variant(Arc::new(callback)));
            })*
        }

        $(pub(crate) async fn $hook(
            own: &Hooks,
            cx: &mut CallbackContext,
            $($arg: &$($ty)+),*
        ) -> Result<Option<$answer>> {
            first_answer!(cx, &own.list, hook => {
                Hook::Plugin(hook) => hook.$hook(cx, $($arg),*).await?.map($answer::from),
                Hook::$variant(hook) => hook(cx, $($arg),*).await?,
            })
        })*
    };
}

hooks! {
    run {
        /// Called with the message of the user before it is stored. The returned content is stored
        /// in its place.
        on_user_message(message: [Content]) -> Option<Content> = None;

        /// Called once before the first agent. Returned content is the answer of the run, by the
        /// author `model`, and no agent runs.
        before_run() -> Option<Content> = None;

        /// Called when a run has ended without an error.
        after_run() -> () = ();

        /// Called with each event of an agent or a block before it is committed, partial events
        /// included. The returned event is stored and delivered in its place. A resumed run calls
        /// the hook again, but stored events stay. It has no partial events, so writes at a partial
        /// event are dropped, and steps there are not recorded.
        on_event(event: [Event]) -> Option<Event> = None;

        /// Called when an agent or a block has failed. The error then propagates to the enclosing
        /// block.
        on_agent_error(error: [Error]) -> () = ();
    }
    agent {
        /// Called before each agent and each block. Returned content replaces the agent or block,
        /// which does not run.
        before_agent() -> Option<Content> = None, BeforeAgent Said;

        /// Called after each agent and each block. Returned content is one more event.
        after_agent() -> Option<Content> = None, AfterAgent Said;

        /// Called before each call of a model. The hook may change the request; a returned response
        /// replaces the call.
        before_model(request: [mut ModelRequest]) -> Option<ModelResponse>
            = None, BeforeModel ModelResponse;

        /// Called with each response of a model. The hook may change the response, or return
        /// another.
        after_model(response: [mut ModelResponse]) -> Option<ModelResponse>
            = None, AfterModel ModelResponse;

        /// Called when a call of a model has failed for good. A returned response replaces the
        /// error.
        on_model_error(request: [ModelRequest], error: [Error]) -> Option<ModelResponse>
            = None, OnModelError ModelResponse;

        /// Called before each call of a tool. The hook may change the arguments; a returned result
        /// replaces the tool.
        before_tool(call: [mut FunctionCall]) -> Option<Value> = None, BeforeTool Value;

        /// Called with each result that a model receives. The hook may change the result, or return
        /// another.
        after_tool(call: [FunctionCall], result: [mut Value]) -> Option<Value>
            = None, AfterTool Value;

        /// Called when a tool has failed or does not exist. A returned result replaces the error.
        on_tool_error(call: [FunctionCall], error: [Error]) -> Option<Value>
            = None, OnToolError Value;
    }
}

/// Content that a callback of an agent returns. Text gets the role of the model; a [`Content`]
/// stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Said(pub Content);

impl From<Content> for Said {
    fn from(content: Content) -> Self {
        Self(content)
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self(Content::model(text))
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self(Content::model(text))
    }
}

/// Hooks of one scope, in the order in which they are called: the plugins of a run, or the
/// callbacks of one agent or block.
#[derive(Clone, Default)]
pub struct Hooks {
    list: Vec<Hook>,
    /// The number of callbacks before the agent that cannot replace the agent.
    pub(crate) quiet: usize,
}

impl Hooks {
    pub(crate) fn push(&mut self, hook: Hook) {
        self.list.push(hook);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn plugins(&self) -> impl Iterator<Item = &dyn DynPlugin> {
        self.list.iter().filter_map(|hook| match hook {
            Hook::Plugin(plugin) => Some(&**plugin),
            _ => None,
        })
    }

    /// Adds the callbacks of one kind from another list. Returns whether the other list has any.
    pub(crate) fn add(&mut self, other: &Self, kind: &str) -> bool {
        let len = self.list.len();
        let added = other.list.iter().filter(|hook| hook.name() == kind);
        self.list.extend(added.cloned());
        if kind == "before_agent" {
            self.quiet += other.quiet;
        }
        self.list.len() > len
    }

    /// Returns whether a callback before the agent may replace the agent.
    pub(crate) fn may_skip(&self) -> bool {
        let before = self
            .list
            .iter()
            .filter(|hook| matches!(hook, Hook::BeforeAgent(_)));
        before.count() > self.quiet
    }

    /// Returns a name that two plugins have.
    pub(crate) fn repeated_name(&self) -> Option<&str> {
        let mut names = self.list.iter().map(Hook::name).enumerate();
        names
            .find(|(at, name)| {
                self.list
                    .iter()
                    .take(*at)
                    .any(|other| other.name() == *name)
            })
            .map(|(_, name)| name)
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.list.iter().map(Hook::name))
            .finish()
    }
}

/// Makes the error for a panic of a hook.
fn callback_panic<T>(panic: Panic, cx: &CallbackContext) -> Result<T> {
    let error = panic.into_error("a callback", cx.run_id(), cx.path());
    Err(error.with_help("fix the code of the callback"))
}

/// Notifies the plugins that an agent or a block has failed. Errors of the plugins are dropped,
/// because the error of the agent or block matters more.
pub(crate) async fn on_agent_error(cx: &mut CallbackContext, error: &Error) {
    let services = cx.services();
    let all = async {
        for plugin in services.plugins.plugins() {
            drop(plugin.on_agent_error(cx, error).await);
        }
    };
    if let Err(panic) = catch_panic(all).await {
        panic.report("a callback", cx.run_id(), cx.path());
    }
}

/// Calls the plugins with the message of the user. Returns the message that replaces it.
pub(crate) async fn on_user_message(
    cx: &mut CallbackContext,
    message: &Content,
) -> Result<Option<Content>> {
    first_answer!(cx, &[], hook => {
        Hook::Plugin(hook) => hook.on_user_message(cx, message).await?,
    })
}

/// Calls the plugins before the first agent. Returns the answer that replaces all agents.
pub(crate) async fn before_run(cx: &mut CallbackContext) -> Result<Option<Content>> {
    first_answer!(cx, &[], hook => { Hook::Plugin(hook) => hook.before_run(cx).await?, })
}

/// Notifies the plugins that the run has ended.
pub(crate) async fn after_run(cx: &mut CallbackContext) -> Result<()> {
    let services = cx.services();
    let all = async {
        for plugin in services.plugins.plugins() {
            plugin.after_run(cx).await?;
        }
        Ok(())
    };
    let caught = catch_panic(all).await;
    caught.unwrap_or_else(|panic| callback_panic(panic, cx))
}
