//! One turn of one agent: entry, run, and the check of its effects.

use super::lifecycle::{self, Begun, Who};
use super::team::Team;
use super::walk::Walk;
use super::{again, checkpoint, scopes};
use crate::flow::Flow;
use crate::panic::Caught;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Frame, KeyScope, LifecycleReporter, NothingWritten, in_span, stored_key};
use crate::spec::{AgentKind, AgentMeta, Renames, Step, StepKind};
use crate::{Error, ErrorKind, Name, Path, Result};
use std::sync::Arc;

/// Runs an agent as a step that was entered; `outer` is what the context was before. An exit comes with the path of who
/// made it.
// As a block: an `async fn` holds what it is given twice.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(super) fn turn(
    walk: &Walk<'_>,
    at: usize,
    agent: &dyn DynAgent,
    outer: Frame,
    cx: &mut Context,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        let (workflow, step) = (walk.workflow, &walk.steps[at]);
        let is_root = workflow.root() == Some(at);
        let team = Team::of(agent, || cx.path().name().clone(), &|meta| workflow.target(meta.name))
            .map(|team| team.instance(matches!(step.kind, StepKind::Agent { instance: true, .. })));
        let around = Around::enter(agent, step, cx);
        // Only a part of a workflow is found again by its path alone: an agent runs what it likes below itself.
        let addressable = cx.is_addressable;
        cx.is_addressable &= team.is_none() && agent.meta().kind == AgentKind::Workflow;
        // A workflow is walked again: its loops are part of the outcome. Agents in it are not run again.
        let is_marked = agent.meta().kind != AgentKind::Workflow && !is_root;
        let repeats = walk.repeats(at, cx);
        let before = match &cx.run.replay {
            Some(_) if is_marked && !repeats => cx.replay_finished().await,
            _ => None,
        };
        // One that is not run again has its mark, with what it used.
        let is_marked = is_marked && before.is_none();
        let mut by = None;
        let ran = match (before, team) {
            (Some(flow), _) => Ok(flow),
            (None, _) if repeats => Box::pin(again::run(agent, step.name, cx)).await,
            (None, Some(team)) => team.begin(is_root, cx).await.map(|(flow, member)| {
                by = Some(member);
                flow
            }),
            // A root is the whole tree, which has begun already.
            (None, None) => run(agent, is_root, cx).await,
        };
        cx.is_addressable = addressable;
        around.leave(cx);
        if let Ok(flow) = &ran
            && is_marked
        {
            cx.run.mark_finished(cx.path(), flow, cx.frame.usage.as_ref());
        }
        let mut turn = cx.leave(outer);
        if is_root {
            cx.continue_counts(&mut turn);
        }
        match ran {
            Ok(Flow::Continue) => Ok(None),
            Ok(flow) => Ok(Some((flow, by.unwrap_or(turn.path)))),
            Err(error) => Err(error.at(&turn.path)),
        }
    }
}

/// Whether the turn of an agent is [`plain`]: it is no workflow, hands over to nobody and has the names and keys of what is
/// around, nobody watches it, and there is no record of it.
pub(super) fn is_plain(walk: &Walk<'_>, at: usize, agent: &dyn DynAgent, cx: &Context) -> bool {
    agent.meta().kind != AgentKind::Workflow
        && !Team::is_led_by(agent)
        && walk.steps[at].renames == Renames::NONE
        && walk.workflow.root() != Some(at)
        && cx.run.replay.is_none()
        && !is_seen(Who::Agent(agent), cx)
}

/// The same as [`turn`] for an agent that needs less, as most do.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(super) fn plain(
    agent: &dyn DynAgent,
    outer: Frame,
    cx: &mut Context,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        let addressable = std::mem::replace(&mut cx.is_addressable, false);
        cx.frame.announced = Some(agent.announced_dyn());
        let ran = body(agent, cx).await.and_then(|flow| looked_at(agent, flow, cx));
        cx.is_addressable = addressable;
        if let Ok(flow) = &ran {
            cx.run.mark_finished(cx.path(), flow, cx.frame.usage.as_ref());
        }
        let turn = cx.leave(outer);
        match ran {
            Ok(Flow::Continue) => Ok(None),
            Ok(flow) => Ok(Some((flow, turn.path))),
            Err(error) => Err(error.at(&turn.path)),
        }
    }
}

/// What an instance replaces in the context, where it does.
pub(super) struct Around {
    instance: Option<Option<Name>>,
    scope: Option<Option<Arc<KeyScope>>>,
}

impl Around {
    /// The name of an instance of a workflow (`as second`) is the prefix of all names inside it. Its keys are those
    /// that its step says.
    pub(super) fn enter(agent: &dyn DynAgent, step: &Step<'_>, cx: &mut Context) -> Self {
        let StepKind::Agent { meta, instance } = step.kind else {
            return Self { instance: None, scope: None };
        };
        let own = (instance && agent.meta().kind == AgentKind::Workflow).then(|| cx.author().clone());
        let instance = own.map(|own| cx.instance.replace(own));
        let scope = (step.renames != Renames::NONE).then(|| {
            let scope = scopes::of_instance(meta, &step.renames, cx.scope.clone());
            cx.scope.replace(Arc::new(scope))
        });
        Self { instance, scope }
    }

    fn leave(self, cx: &mut Context) {
        if let Some(instance) = self.instance {
            cx.instance = instance;
        }
        if let Some(scope) = self.scope {
            cx.scope = scope;
        }
    }
}

/// Runs an agent at the current place, between its callbacks unless it has begun already.
pub(crate) async fn run(agent: &dyn DynAgent, begun: bool, cx: &mut Context) -> Result<Flow> {
    let around = cx.frame.announced.replace(agent.announced_dyn());
    let ran = match (!begun).then_some(Who::Agent(agent)).filter(|who| is_seen(*who, cx)) {
        // In a box: few agents are watched.
        Some(who) => Box::pin(watched(agent, who, cx)).await,
        None => body(agent, cx).await.and_then(|flow| looked_at(agent, flow, cx)),
    };
    cx.frame.announced = around;
    ran
}

/// Whether anybody looks when it begins and ends.
fn is_seen(who: Who<'_>, cx: &Context) -> bool {
    who.is_watched(cx) || cx.trace.is_some() || cx.config().lifecycle_events
}

async fn watched(agent: &dyn DynAgent, who: Who<'_>, cx: &mut Context) -> Result<Flow> {
    let watch = LifecycleReporter::begin(agent.meta().kind.into(), cx).await;
    let has_span = cx.enter_span(agent.meta());
    let ran = between(agent, who, cx).await;
    if has_span {
        cx.leave_span(&ran);
    }
    if let Err(error) = &ran {
        Box::pin(who.fail(error, cx)).await;
    }
    if let Some(watch) = watch {
        watch.end(lifecycle::outcome(&ran, cx)).await;
    }
    ran.map(|(flow, _)| flow)
}

async fn between(agent: &dyn DynAgent, who: Who<'_>, cx: &mut Context) -> Result<(Flow, Begun)> {
    let begun = who.begin(cx).await?;
    let mut flow = Flow::Continue;
    if begun == Begun::Runs {
        flow = body(agent, cx).await?;
        if !cx.frame.ends_unasked {
            who.end(cx).await?;
        }
    }
    Ok((looked_at(agent, flow, cx)?, begun))
}

/// How the turn ends, and whether it may end so.
fn looked_at(agent: &dyn DynAgent, flow: Flow, cx: &Context) -> Result<Flow> {
    let flow = match flow {
        Flow::Continue => lifecycle::asked(cx),
        flow => flow,
    };
    let meta = agent.meta();
    match flow {
        // Who goes on writes in its place.
        Flow::Continue if cx.frame.handovers.as_ref().is_some_and(|handovers| handovers.next.is_some()) => {}
        Flow::Continue => wrote(meta, cx)?,
        // What is inside of a workflow has announced its exits there.
        _ if meta.kind == AgentKind::Workflow => {}
        _ => lifecycle::announced(Some(meta), &flow, cx)?,
    }
    Ok(flow)
}

async fn body(agent: &dyn DynAgent, cx: &mut Context) -> Result<Flow> {
    let flow = match Caught(in_span(cx.trace.clone(), agent.run_dyn(cx))).await {
        Ok(flow) => flow?,
        Err(panic) => {
            let message = format!("it panicked: {panic}");
            let error = Error::new(ErrorKind::Panic, message);
            return Err(error.with_help("this is a defect of the agent's own code"));
        }
    };
    cx.flush().await?;
    // That of a workflow belongs to its body.
    let kind = agent.meta().kind;
    if cx.config().resumable && kind != AgentKind::Workflow && checkpoint::finishes(kind, cx) {
        checkpoint::ended(cx).await?;
    }
    Ok(flow)
}

/// An agent that ends without its key fails the run. The outputs of a workflow are
/// written by agents inside.
fn wrote(meta: &AgentMeta<'_>, cx: &Context) -> Result<()> {
    if meta.kind == AgentKind::Workflow || !cx.config().require_keys {
        return Ok(());
    }
    for key in meta.writes.iter().filter(|key| !key.optional) {
        let stored = stored_key(cx.scope.as_deref(), key.name);
        if !cx.written_keys().iter().any(|written| **written == *stored) {
            let message = format!("it ended without having written its key `{}`", key.name);
            return Err(match &cx.frame.unwritten {
                Some(NothingWritten { kind, why, help }) => {
                    Error::new(*kind, format!("{message}: {why}")).with_help(*help)
                }
                None => Error::new(ErrorKind::KeyNotWritten, message)
                    .with_help("write it on every path, or declare it as perhaps written"),
            });
        }
    }
    Ok(())
}
