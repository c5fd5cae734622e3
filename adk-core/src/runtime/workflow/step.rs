//! The turn of the agent of a step, after the context has entered the step.

use super::lifecycle::LifecycleNode;
use super::steps::Steps;
use super::team::Team;
use super::turn::{checked_flow, is_observed, run, run_body};
use super::{resume, scopes};
use crate::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Frame, KeyScope};
use crate::spec::{AgentKind, Renames, Step, StepKind};
use crate::{Name, Path, Result};
use std::sync::Arc;

/// Runs the agent of a step after the context has entered the step. `outer` is the frame from
/// before the entry. Returns the exit of the turn, if any, with the path of the agent that made it.
// An `async fn` would hold its arguments twice; an `async` block holds them once.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
pub(super) fn run_turn(
    steps: &Steps<'_>,
    at: usize,
    agent: &dyn DynAgent,
    outer: Frame,
    cx: &mut Context,
) -> impl Future<Output = Result<Option<(Flow, Path)>>> + Send {
    async move {
        let (workflow, step) = (steps.workflow, &steps.steps[at]);
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
        let repeats = steps.may_repeat(at, cx);
        let before = match &cx.run.replay {
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
pub(super) fn is_plain(steps: &Steps<'_>, at: usize, agent: &dyn DynAgent, cx: &Context) -> bool {
    agent.meta().kind != AgentKind::Workflow
        && !Team::is_led_by(agent)
        && steps.steps[at].renames == Renames::NONE
        && steps.workflow.root() != Some(at)
        && cx.run.replay.is_none()
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
