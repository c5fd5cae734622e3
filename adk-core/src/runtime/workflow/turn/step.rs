//! The turn of the agent of a step, after the context has entered the step.

use super::agent::{checked_flow, is_observed, run, run_body};
use super::lifecycle::LifecycleNode;
use super::resume;
use super::team::Team;
use crate::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Entered, Frame, KeyScope};
use crate::runtime::workflow::steps::{Steps, scopes};
use crate::spec::{AgentKind, Renames, Step, StepKind};
use crate::{Name, Path, Result};
use std::sync::Arc;

/// Runs the agent of a step in the context `turn`, which has entered the step. Returns the exit of
/// the turn, if any, with the path of the agent that made it.
// An `async fn` would hold its arguments twice; an `async` block holds them once.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(crate) fn run_turn(
    steps: &Steps<'_>,
    at: usize,
    agent: &dyn DynAgent,
    mut turn: Entered<'_, Frame>,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        let (workflow, step) = (steps.workflow, &steps.steps[at]);
        let is_root = workflow.root() == Some(at);
        let team = Team::from_agent(agent, || turn.path().name().clone(), &|meta| {
            workflow.target(meta.name)
        })
        .map(|team| {
            team.with_instance(matches!(step.kind, StepKind::Agent { instance: true, .. }))
        });
        // A process that executes a remote branch finds the branch by its path. This only works
        // inside of workflows: an agent with a team, or an agent that is not a workflow, may run
        // anything below itself.
        turn.frame.is_addressable &= team.is_none() && agent.meta().kind == AgentKind::Workflow;
        // A finished workflow is walked again, because its loops are part of the outcome of the
        // run. The agents inside it that have finished do not run again.
        let is_marked = agent.meta().kind != AgentKind::Workflow && !is_root;
        let mut by = None;
        let instance = instance_inside(agent, step, &turn);
        let mut cx = turn.enter(instance);
        let scope = scope_inside(step, &cx);
        let mut cx = cx.enter(scope);
        let repeats = steps.may_repeat(at, &cx);
        let before = match cx.run.kind.replay() {
            Some(_) if is_marked && !repeats => cx.replay_finished().await,
            _ => None,
        };
        // An agent that does not run again is marked as finished already, with its usage.
        let is_marked = is_marked && before.is_none();
        let ran = match (before, team) {
            (Some(flow), _) => Ok(flow),
            (None, _) if repeats => Box::pin(resume::run_turns(agent, step.name, &mut cx)).await,
            (None, Some(team)) => {
                let ended = team.begin(is_root, workflow.is_closed(), &mut cx).await;
                ended.map(|(flow, member)| {
                    by = Some(member);
                    flow
                })
            }
            // A root agent is the whole tree, which has begun already.
            (None, None) => run(agent, is_root, &mut cx).await,
        };
        if let Ok(flow) = &ran
            && is_marked
        {
            cx.run
                .mark_finished(cx.path(), flow, cx.frame.usage.as_ref());
        }
        match ran {
            Ok(Flow::Continue) => Ok(None),
            Ok(flow) => Ok(Some((flow, by.unwrap_or_else(|| cx.path().clone())))),
            Err(error) => Err(error.at(cx.path())),
        }
    }
}

/// Returns `true` if [`run_plain`] suffices for the agent: it is not a workflow, cannot hand over,
/// has no renamed keys, is not observed, and the run is not a replay.
pub(crate) fn is_plain(steps: &Steps<'_>, at: usize, agent: &dyn DynAgent, cx: &Context) -> bool {
    agent.meta().kind != AgentKind::Workflow
        && !Team::is_led_by(agent)
        && steps.steps[at].renames == Renames::NONE
        && steps.workflow.root() != Some(at)
        && cx.run.kind.replay().is_none()
        && !is_observed(LifecycleNode::Agent(agent), cx)
}

/// Runs an agent as [`run_turn`] does, without the work that most agents do not need.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(crate) fn run_plain(
    agent: &dyn DynAgent,
    mut turn: Entered<'_, Frame>,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        turn.frame.is_addressable = false;
        turn.frame.announced = Some(agent.announced_dyn());
        let ran = run_body(agent, &mut turn)
            .await
            .and_then(|flow| checked_flow(agent, flow, &turn));
        if let Ok(flow) = &ran {
            turn.run
                .mark_finished(turn.path(), flow, turn.frame.usage.as_ref());
        }
        match ran {
            Ok(Flow::Continue) => Ok(None),
            Ok(flow) => Ok(Some((flow, turn.path().clone()))),
            Err(error) => Err(error.at(turn.path())),
        }
    }
}

/// Returns the prefix of all names inside the agent of a step: the name of a workflow instance
/// (`as second`), otherwise the current prefix.
pub(crate) fn instance_inside(agent: &dyn DynAgent, step: &Step<'_>, cx: &Context) -> Option<Name> {
    match step.kind {
        StepKind::Agent { instance: true, .. } if agent.meta().kind == AgentKind::Workflow => {
            Some(cx.author().clone())
        }
        _ => cx.instance.clone(),
    }
}

/// Returns the key scope of the agent of a step, which says which keys are renamed.
pub(crate) fn scope_inside(step: &Step<'_>, cx: &Context) -> Option<Arc<KeyScope>> {
    let outer = cx.around.scope.clone();
    match step.kind {
        StepKind::Agent { meta, .. } if step.renames != Renames::NONE => {
            let scope = scopes::instance_scope(meta, &step.renames, outer);
            Some(Arc::new(scope))
        }
        _ => outer,
    }
}
