//! [`LifecycleNode`]: the begin and the end of every agent and every block. In ADK a block is an
//! agent, so blocks have the same callbacks and plugin hooks as agents.
//!
//! The context is at the path of the agent or block, in a turn of its own. Events that are emitted
//! here therefore belong to the agent or block: they have its author and path, and are numbered
//! from its begin to its end.

use crate::Flow;
use crate::LifecycleOutcome;
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, Hooks, Said, ToolActions, hooks};
use crate::spec::AgentMeta;
use crate::store::event::Event;
use crate::{Content, Error, ErrorKind, Result};

/// An agent or a block, for its begin and its end.
#[derive(Clone, Copy)]
pub(crate) enum LifecycleNode<'a> {
    Agent(&'a dyn DynAgent),
    /// A block with the callbacks of its field.
    Block(Option<&'a AgentCallbacks>),
}

/// Whether an agent or block runs after its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BeginOutcome {
    Runs,
    /// A callback has answered in place of the agent or block, which has thereby ended.
    Skipped,
}

impl<'a> LifecycleNode<'a> {
    fn callbacks(self) -> Option<&'a Hooks> {
        let callbacks = match self {
            Self::Agent(agent) => agent.callbacks_dyn(),
            Self::Block(callbacks) => callbacks,
        };
        callbacks.map(|callbacks| &callbacks.0)
    }

    fn stand_in(self, content: Content) -> Result<Event> {
        match self {
            Self::Agent(agent) => agent.stand_in_dyn(content),
            Self::Block(_) => Ok(Event::new().with_content(content)),
        }
    }

    /// Returns `true` if a plugin or a callback observes the agent or block. The begin and the end
    /// of any other agent or block cost nothing.
    pub(crate) fn is_watched(self, cx: &Context) -> bool {
        !cx.run.services.plugins.is_empty() || self.callbacks().is_some_and(|own| !own.is_empty())
    }

    /// Calls the callbacks before the agent or block.
    pub(crate) async fn begin(self, cx: &mut Context) -> Result<BeginOutcome> {
        if self.is_watched(cx) {
            Box::pin(self.ask_before(cx)).await
        } else {
            Ok(BeginOutcome::Runs)
        }
    }

    /// Calls the callbacks after the agent or block.
    pub(crate) async fn end(self, cx: &mut Context) -> Result<()> {
        if self.is_watched(cx) {
            Box::pin(self.ask_after(cx)).await
        } else {
            Ok(())
        }
    }

    /// Reports the error of the agent or block to plugins.
    pub(crate) async fn fail(self, error: &Error, cx: &mut Context) {
        if !cx.run.services.plugins.is_empty() {
            let mut own = cx.callback_context();
            Box::pin(hooks::on_agent_error(&mut own, error)).await;
            cx.end_callback(own);
        }
    }

    async fn ask_before(self, cx: &mut Context) -> Result<BeginOutcome> {
        let none = Hooks::default();
        let mut own = cx.callback_context();
        let answer = hooks::before_agent(self.callbacks().unwrap_or(&none), &mut own).await;
        let actions = cx.end_callback(own);
        match answer? {
            Some(Said(content)) => {
                cx.note_callback();
                emit_callback_event(self.stand_in(content)?, actions, cx).await?;
                Ok(BeginOutcome::Skipped)
            }
            None => {
                if cx.has_pending() {
                    emit_callback_event(Event::new(), actions, cx).await?;
                }
                Ok(BeginOutcome::Runs)
            }
        }
    }

    async fn ask_after(self, cx: &mut Context) -> Result<()> {
        let none = Hooks::default();
        let mut own = cx.callback_context();
        let answer = hooks::after_agent(self.callbacks().unwrap_or(&none), &mut own).await;
        let actions = cx.end_callback(own);
        match answer? {
            Some(Said(content)) => {
                cx.note_callback();
                emit_callback_event(Event::new().with_content(content), actions, cx).await
            }
            None if cx.has_pending() => emit_callback_event(Event::new(), actions, cx).await,
            None => Ok(()),
        }
    }
}

/// Emits the event of a callback.
async fn emit_callback_event(
    mut event: Event,
    actions: ToolActions,
    cx: &mut Context,
) -> Result<()> {
    event.actions.escalate = actions.escalate.then_some(true);
    event.actions.skip_summarization = actions.skip_summarization.then_some(true);
    event.actions.transfer_to_agent = actions.transfer_to_agent;
    cx.frame.exit_to = actions.exit_to.or(cx.frame.exit_to.take());
    cx.emit(event).await.map(drop)
}

/// Returns the outcome of a turn for its last lifecycle event.
pub(crate) fn outcome(ran: &Result<(Flow, BeginOutcome)>, cx: &Context) -> LifecycleOutcome {
    match ran {
        Ok((_, BeginOutcome::Skipped)) => LifecycleOutcome::Skipped,
        Ok((Flow::Continue, _)) => LifecycleOutcome::Completed,
        Ok(_) => LifecycleOutcome::Exited,
        Err(error) => failed_outcome(error, cx),
    }
}

/// Returns the outcome of a failed agent or block. Adds the path to an error that has none.
pub(crate) fn failed_outcome(error: &Error, cx: &Context) -> LifecycleOutcome {
    let error = match error.path() {
        Some(_) => error.to_string(),
        None => format!("agent `{}` (at {}): {error}", cx.path().name(), cx.path()),
    };
    LifecycleOutcome::Failed { error }
}

/// Returns the flow that the events of the turn have requested.
pub(crate) fn requested_flow(cx: &Context) -> Flow {
    match &cx.frame.exit_to {
        Some(name) => Flow::ExitTo(name.clone()),
        None if cx.frame.escalated => Flow::Exit,
        None => Flow::Continue,
    }
}

/// Checks that the agent has announced its exit: a run knows before its start which agents may end
/// a loop. Blocks announce no exits; `meta` is `None` for a block.
pub(crate) fn check_announced(
    meta: Option<&AgentMeta<'_>>,
    flow: &Flow,
    cx: &Context,
) -> Result<()> {
    if !cx.requires_announced_exits() {
        return Ok(());
    }
    let Some(meta) = meta else {
        let message = "a callback of this block ended a loop, but nothing had announced this exit";
        return Err(Error::new(ErrorKind::UnexpectedExit, message).with_help(
            "let the callback set a key, and a step after it end the loop: a function that returns \
             `Flow`, or `until`",
        ));
    };
    let (known, help) = match flow {
        Flow::ExitTo(name) => (
            meta.exits.iter().any(|exit| **name == **exit),
            format!("write `#[agent(exits({name}))]`, or `.exits(&[\"{name}\"])` in its `META`"),
        ),
        _ => (
            meta.may_exit,
            "return `Flow`, give the agent a tool that escalates, or write `.may_exit(true)` in \
             its `META`"
                .into(),
        ),
    };
    if known {
        return Ok(());
    }
    let message = "it ended a loop without having announced that it may";
    Err(Error::new(ErrorKind::UnexpectedExit, message).with_help(help))
}
