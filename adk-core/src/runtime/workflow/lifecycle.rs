//! The begin and the end of every agent and every block: the one place where both are seen. In ADK a block is an agent,
//! so its callbacks and those of plugins are the same.
//!
//! The context is at the path of the agent or block, with a turn of its own, so events that are emitted here are
//! its events: its author, its path, numbered from its begin to its end.

use crate::flow::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::{self, AgentCallbacks};
use crate::runtime::run::{Context, LifecycleOutcome, ToolActions};
use crate::spec::AgentMeta;
use crate::store::event::Event;
use crate::{Content, Error, ErrorKind, Result};

/// What begins and ends.
#[derive(Clone, Copy)]
pub(super) enum Who<'a> {
    Agent(&'a dyn DynAgent),
    /// A block with the callbacks of its field.
    Block(Option<&'a AgentCallbacks>),
}

/// Whether what has begun is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Runs,
    /// A callback has answered in its place: it has ended.
    Skipped,
}

impl<'a> Who<'a> {
    fn callbacks(self) -> Option<&'a AgentCallbacks> {
        match self {
            Self::Agent(agent) => agent.callbacks_dyn(),
            Self::Block(callbacks) => callbacks,
        }
    }

    fn stand_in(self, content: Content) -> Result<Event> {
        match self {
            Self::Agent(agent) => agent.stand_in_dyn(content),
            Self::Block(_) => Ok(Event::new().with_content(content)),
        }
    }

    /// Whether anybody looks: where nobody does, a begin and an end cost nothing.
    pub(super) fn is_watched(self, cx: &Context) -> bool {
        !cx.run.services.plugins.is_empty() || self.callbacks().is_some_and(|own| !own.is_empty())
    }

    /// It begins.
    pub(super) async fn begin(self, cx: &mut Context) -> Result<Begun> {
        if self.is_watched(cx) { Box::pin(self.ask_before(cx)).await } else { Ok(Begun::Runs) }
    }

    /// It has come to its end.
    pub(super) async fn end(self, cx: &mut Context) -> Result<()> {
        if self.is_watched(cx) { Box::pin(self.ask_after(cx)).await } else { Ok(()) }
    }

    /// It has failed.
    pub(super) async fn fail(self, error: &Error, cx: &mut Context) {
        if !cx.run.services.plugins.is_empty() {
            let mut own = cx.callback_context();
            Box::pin(callback::on_agent_error(&mut own, error)).await;
            cx.end_callback(own);
        }
    }

    async fn ask_before(self, cx: &mut Context) -> Result<Begun> {
        let none = AgentCallbacks::default();
        let mut own = cx.callback_context();
        let given = callback::before_agent(self.callbacks().unwrap_or(&none), &mut own).await;
        let actions = cx.end_callback(own);
        match given? {
            Some(content) => {
                tell(self.stand_in(content)?, actions, cx).await?;
                Ok(Begun::Skipped)
            }
            None => {
                if cx.has_pending() {
                    tell(Event::new(), actions, cx).await?;
                }
                Ok(Begun::Runs)
            }
        }
    }

    async fn ask_after(self, cx: &mut Context) -> Result<()> {
        let none = AgentCallbacks::default();
        let mut own = cx.callback_context();
        let given = callback::after_agent(self.callbacks().unwrap_or(&none), &mut own).await;
        let actions = cx.end_callback(own);
        match given? {
            Some(content) => tell(Event::new().with_content(content), actions, cx).await,
            None if cx.has_pending() => tell(Event::new(), actions, cx).await,
            None => Ok(()),
        }
    }
}

/// Emits the event of a callback.
async fn tell(mut event: Event, actions: ToolActions, cx: &mut Context) -> Result<()> {
    event.actions.escalate = actions.escalate.then_some(true);
    event.actions.skip_summarization = actions.skip_summarization.then_some(true);
    event.actions.transfer_to_agent = actions.transfer_to_agent;
    cx.frame.exit_to = actions.exit_to.or(cx.frame.exit_to.take());
    cx.emit(event).await.map(drop)
}

/// How the turn of an agent ended, for who watches.
pub(super) fn outcome(ran: &Result<(Flow, Begun)>, cx: &Context) -> LifecycleOutcome {
    match ran {
        Ok((_, Begun::Skipped)) => LifecycleOutcome::Skipped,
        Ok((Flow::Continue, _)) => LifecycleOutcome::Completed,
        Ok(_) => LifecycleOutcome::Exited,
        Err(error) => failed(error, cx),
    }
}

/// The end of what has failed, with the place of the error, which may not have one yet.
pub(super) fn failed(error: &Error, cx: &Context) -> LifecycleOutcome {
    let error = match error.path() {
        Some(_) => error.to_string(),
        None => format!("agent `{}` (at {}): {error}", cx.path().name(), cx.path()),
    };
    LifecycleOutcome::Failed { error }
}

/// How a turn leaves what is around it, by its events.
pub(super) fn asked(cx: &Context) -> Flow {
    match &cx.frame.exit_to {
        Some(name) => Flow::ExitTo(name.clone()),
        None if cx.frame.escalated => Flow::Exit,
        None => Flow::Continue,
    }
}

/// Who may end a loop is known before the run. Of a block nothing is announced: there `meta` is `None`.
pub(super) fn announced(meta: Option<&AgentMeta<'_>>, flow: &Flow, cx: &Context) -> Result<()> {
    if !cx.requires_announced_exits() {
        return Ok(());
    }
    let Some(meta) = meta else {
        let message = "a callback of this block ended a loop, which nothing had announced";
        return Err(Error::new(ErrorKind::UnexpectedExit, message).with_help(
            "let the callback set a key, and a step after it end the loop: a function that returns `Flow`, or `until`",
        ));
    };
    let (known, help) = match flow {
        Flow::ExitTo(name) => (
            meta.exits.iter().any(|exit| **name == **exit),
            format!("say `#[agent(exits({name}))]`, or `.exits(&[\"{name}\"])` in its `META`"),
        ),
        _ => (
            meta.may_exit,
            "return `Flow`, give the agent a tool that escalates, or say `.may_exit(true)` in its `META`"
                .into(),
        ),
    };
    if known {
        return Ok(());
    }
    let message = "it ended a loop without having announced that it may";
    Err(Error::new(ErrorKind::UnexpectedExit, message).with_help(help))
}
