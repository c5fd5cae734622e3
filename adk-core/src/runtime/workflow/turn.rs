//! One turn of one agent: the entry, the execution, and the check of its effects.

use super::lifecycle::{self, BeginOutcome, LifecycleNode};
use super::team::Team;
use super::walk::Walk;
use super::{checkpoint, resume, scopes};
use crate::Flow;
use crate::panic::CatchPanic;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{
    Context, Frame, KeyScope, LifecycleReporter, NothingWritten, in_span, stored_key,
};
use crate::spec::{AgentKind, AgentMeta, Renames, Step, StepKind};
use crate::{Error, ErrorKind, Name, Path, Result};
use std::sync::Arc;

/// Runs the agent of a step after the context has entered the step. `outer` is the frame from
/// before the entry. Returns the exit of the turn, if any, with the path of the agent that made it.
// An `async fn` would hold its arguments twice; an `async` block holds them once.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(super) fn run_turn(
    walk: &Walk<'_>,
    at: usize,
    agent: &dyn DynAgent,
    outer: Frame,
    cx: &mut Context,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        let (workflow, step) = (walk.workflow, &walk.steps[at]);
        let is_root = workflow.root() == Some(at);
        let team = Team::from_agent(agent, || cx.path().name().clone(), &|meta| {
            workflow.target(meta.name)
        })
        .map(|team| {
            team.with_instance(matches!(step.kind, StepKind::Agent { instance: true, .. }))
        });
        let around = OuterNames::enter(agent, step, cx);
        // A process that executes a remote branch finds the branch by its path. This only works
        // inside of workflows: an agent with a team, or an agent that is not a workflow, may run
        // anything below itself.
        let addressable = cx.is_addressable;
        cx.is_addressable &= team.is_none() && agent.meta().kind == AgentKind::Workflow;
        // A finished workflow is walked again, because its loops are part of the outcome of the
        // run. The agents inside it that have finished do not run again.
        let is_marked = agent.meta().kind != AgentKind::Workflow && !is_root;
        let repeats = walk.may_repeat(at, cx);
        let before = match cx.run.kind.replay() {
            Some(_) if is_marked && !repeats => cx.replay_finished().await,
            _ => None,
        };
        // An agent that does not run again is marked as finished already, with its usage.
        let is_marked = is_marked && before.is_none();
        let mut by = None;
        let ran = match (before, team) {
            (Some(flow), _) => Ok(flow),
            (None, _) if repeats => Box::pin(resume::run_turns(agent, step.name, cx)).await,
            (None, Some(team)) => team.begin(is_root, cx).await.map(|(flow, member)| {
                by = Some(member);
                flow
            }),
            // A root agent is the whole tree, which has begun already.
            (None, None) => run(agent, is_root, cx).await,
        };
        cx.is_addressable = addressable;
        around.leave(cx);
        if let Ok(flow) = &ran
            && is_marked
        {
            cx.run
                .mark_finished(cx.path(), flow, cx.frame.usage.as_ref());
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

/// Returns `true` if [`run_plain`] suffices for the agent: it is not a workflow, cannot hand over,
/// has no renamed keys, is not observed, and the run is not a replay.
pub(super) fn is_plain(walk: &Walk<'_>, at: usize, agent: &dyn DynAgent, cx: &Context) -> bool {
    agent.meta().kind != AgentKind::Workflow
        && !Team::is_led_by(agent)
        && walk.steps[at].renames == Renames::NONE
        && walk.workflow.root() != Some(at)
        && cx.run.kind.replay().is_none()
        && !is_observed(LifecycleNode::Agent(agent), cx)
}

/// Runs an agent as [`run_turn`] does, without the work that most agents do not need.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(super) fn run_plain(
    agent: &dyn DynAgent,
    outer: Frame,
    cx: &mut Context,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        let addressable = std::mem::replace(&mut cx.is_addressable, false);
        cx.frame.announced = Some(agent.announced_dyn());
        let ran = run_body(agent, cx)
            .await
            .and_then(|flow| checked_flow(agent, flow, cx));
        cx.is_addressable = addressable;
        if let Ok(flow) = &ran {
            cx.run
                .mark_finished(cx.path(), flow, cx.frame.usage.as_ref());
        }
        let turn = cx.leave(outer);
        match ran {
            Ok(Flow::Continue) => Ok(None),
            Ok(flow) => Ok(Some((flow, turn.path))),
            Err(error) => Err(error.at(&turn.path)),
        }
    }
}

/// The prefix of names and the key scope that an instance has replaced in the context.
pub(super) struct OuterNames {
    instance: Option<Option<Name>>,
    scope: Option<Option<Arc<KeyScope>>>,
}

impl OuterNames {
    /// Sets the names and keys of an instance. The name of a workflow instance (`as second`) is the
    /// prefix of all names inside it. The step of the instance says which keys are renamed.
    pub(super) fn enter(agent: &dyn DynAgent, step: &Step<'_>, cx: &mut Context) -> Self {
        let StepKind::Agent { meta, instance } = step.kind else {
            return Self {
                instance: None,
                scope: None,
            };
        };
        let own =
            (instance && agent.meta().kind == AgentKind::Workflow).then(|| cx.author().clone());
        let instance = own.map(|own| cx.instance.replace(own));
        let scope = (step.renames != Renames::NONE).then(|| {
            let scope = scopes::instance_scope(meta, &step.renames, cx.scope.clone());
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

/// Runs an agent at the current path, with its callbacks unless it has begun already.
pub(crate) async fn run(agent: &dyn DynAgent, begun: bool, cx: &mut Context) -> Result<Flow> {
    let around = cx.frame.announced.replace(agent.announced_dyn());
    let ran = match (!begun)
        .then_some(LifecycleNode::Agent(agent))
        .filter(|node| is_observed(*node, cx))
    {
        // Boxed to keep the future small, because few agents are watched.
        Some(node) => Box::pin(run_watched(agent, node, cx)).await,
        None => run_body(agent, cx)
            .await
            .and_then(|flow| checked_flow(agent, flow, cx)),
    };
    cx.frame.announced = around;
    ran
}

/// Returns `true` if callbacks, plugins, a trace or lifecycle events observe the begin and the end
/// of the agent.
fn is_observed(node: LifecycleNode<'_>, cx: &Context) -> bool {
    node.is_watched(cx) || cx.trace.is_some() || cx.config().lifecycle_events
}

async fn run_watched(
    agent: &dyn DynAgent,
    node: LifecycleNode<'_>,
    cx: &mut Context,
) -> Result<Flow> {
    let watch = LifecycleReporter::begin(agent.meta().kind.into(), cx).await;
    let has_span = cx.enter_span(agent.meta());
    let ran = run_between_callbacks(agent, node, cx).await;
    if has_span {
        cx.leave_span(&ran);
    }
    if let Err(error) = &ran {
        Box::pin(node.fail(error, cx)).await;
    }
    if let Some(watch) = watch {
        watch.end(lifecycle::outcome(&ran, cx)).await;
    }
    ran.map(|(flow, _)| flow)
}

async fn run_between_callbacks(
    agent: &dyn DynAgent,
    node: LifecycleNode<'_>,
    cx: &mut Context,
) -> Result<(Flow, BeginOutcome)> {
    let begun = node.begin(cx).await?;
    let mut flow = Flow::Continue;
    if begun == BeginOutcome::Runs {
        flow = run_body(agent, cx).await?;
        if !cx.frame.ends_unasked {
            node.end(cx).await?;
        }
    }
    Ok((checked_flow(agent, flow, cx)?, begun))
}

/// Returns the flow with which the turn ends. Checks that the agent may end in this way.
fn checked_flow(agent: &dyn DynAgent, flow: Flow, cx: &Context) -> Result<Flow> {
    let flow = match flow {
        Flow::Continue => lifecycle::requested_flow(cx),
        flow => flow,
    };
    let meta = agent.meta();
    match flow {
        // After a handover the next member writes the key in place of this one.
        Flow::Continue
            if cx
                .frame
                .handovers
                .as_ref()
                .is_some_and(|handovers| handovers.next.is_some()) => {}
        Flow::Continue => check_written(meta, cx)?,
        // The agent inside the workflow that made the exit has announced it, which was checked at
        // its own turn.
        _ if meta.kind == AgentKind::Workflow => {}
        _ => lifecycle::check_announced(Some(meta), &flow, cx)?,
    }
    Ok(flow)
}

async fn run_body(agent: &dyn DynAgent, cx: &mut Context) -> Result<Flow> {
    let flow = match CatchPanic(in_span(cx.trace.clone(), agent.run_dyn(cx))).await {
        Ok(flow) => flow?,
        Err(panic) => {
            let message = format!("it panicked: {panic}");
            let error = Error::new(ErrorKind::Panic, message);
            return Err(error.with_help("fix the panic in the code of the agent"));
        }
    };
    cx.flush().await?;
    // A workflow emits its end at the end of its body.
    let kind = agent.meta().kind;
    if cx.config().resumable && kind != AgentKind::Workflow && checkpoint::emits_end(kind, cx) {
        checkpoint::emit_end(cx).await?;
    }
    Ok(flow)
}

/// Checks that the agent has written its keys; a missing key fails the run. Agents inside a
/// workflow write the outputs of the workflow.
fn check_written(meta: &AgentMeta<'_>, cx: &Context) -> Result<()> {
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
                    .with_help("write it on every path, or declare it with `.optional(true)`"),
            });
        }
    }
    Ok(())
}
