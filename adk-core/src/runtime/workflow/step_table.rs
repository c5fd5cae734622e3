//! [`StepTable`], in which the walk looks up the agents, limits and callbacks of steps, and the
//! functions that start a walk.

use super::team::Team;
use super::walk::{Exit, Walk, Walked};
use super::{Form, Keys, Values, checkpoint, nested, remote};
use crate::Flow;
use crate::LoopEndReason;
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, Prepare};
use crate::spec::{Spec, StepKind};
use crate::{BoxFuture, Error, ErrorKind, Name, Path, Result};
use std::time::Duration;

/// The data of a workflow that the walk needs besides its [`Spec`]. The code that the macro
/// generates for it is thin.
// The trait has no bounds `Send` and `Sync`, so that rustc reports a workflow that lacks them only
// once.
pub trait StepTable {
    /// Returns the whole tree.
    fn spec(&self) -> &Spec<'_>;

    /// Returns the name of a step.
    fn name(&self, step: usize) -> Name {
        self.spec()
            .steps
            .get(step)
            .map_or_else(Name::default, |step| Name::shared(step.name))
    }

    /// Returns the agent of a step.
    fn agent(&self, step: usize) -> Option<&dyn DynAgent>;

    /// Returns the agent with this name, if it is a target of transfers and not a step.
    fn target(&self, _name: &str) -> Option<&dyn DynAgent> {
        None
    }

    /// Returns the maximum number of rounds of a loop: the number that was set on its field,
    /// otherwise the declared one.
    fn max(&self, _step: usize) -> Option<u32> {
        None
    }

    /// Returns the callbacks from the field of a block.
    fn callbacks(&self, _step: usize) -> Option<&AgentCallbacks> {
        None
    }

    /// Returns the arm of a `match` that the value of its key selects, counted from 0.
    ///
    /// # Errors
    /// Returns the reason if the value does not have the type of the patterns. The walk adds the
    /// key, the block and the path.
    fn select(&self, _step: usize, _value: &serde_json::Value) -> Result<usize> {
        Ok(0)
    }

    /// Returns `true` if the workflow has keys of its own. A tree that was built at run time uses
    /// the keys of the enclosing workflow or the session, as in ADK.
    fn is_closed(&self) -> bool {
        true
    }

    /// Returns the step that is the workflow itself: a root block has no path of its own below the
    /// workflow.
    fn root(&self) -> Option<usize> {
        None
    }

    /// Returns `true` if the walk accepts unannounced exits and exits outside of any loop, as in a
    /// tree that was built without checks of its flow.
    fn is_unchecked(&self) -> bool {
        false
    }

    /// Evaluates the `let` items.
    fn lets(&self, _keys: &mut Keys) -> Result<()> {
        Ok(())
    }

    /// Writes the defaults of the inputs to a form that collects defaults.
    fn form(&self, _form: &mut Form) {}

    /// Checks that each `state` key holds a value of its type.
    fn check_state(&self, _values: &Values<'_>) -> Result<()> {
        Ok(())
    }
}

/// Runs a workflow. `Agent::run` of every workflow calls this function.
///
/// # Errors
/// Returns the errors of its agents, and an error for an exit that no loop of the workflow takes.
// The future is boxed here: rustc then neither proves again for each workflow that it is `Send`,
// nor compiles the walk again in the crate of the workflow.
pub fn run<'a>(
    workflow: &'a (dyn StepTable + Sync),
    cx: &'a mut Context,
) -> BoxFuture<'a, Result<Flow>> {
    Box::pin(walk_all(workflow, cx))
}

async fn walk_all(workflow: &(dyn StepTable + Sync), cx: &mut Context) -> Result<Flow> {
    let spec = workflow.spec();
    let is_block = spec
        .steps
        .first()
        .is_some_and(|step| !matches!(step.kind, StepKind::Agent { .. }));
    let settled = match (workflow.root(), workflow.is_closed()) {
        (Some(_), _) => is_block.then_some(true),
        (None, is_closed) => is_closed.then_some(false),
    };
    let above = cx.settle_global(settled);
    if cx.search.is_some() {
        return Box::pin(remote::descend(workflow, cx)).await;
    }
    // At the root of a run, the inputs came with the event of the user.
    let nested = workflow.is_closed() && cx.path().parent().is_some();
    // Scope and known keys are restored after an error too, because an agent that runs a workflow
    // itself may continue.
    let (scope, known) = (cx.scope.clone(), cx.known.clone());
    let (unchecked, states, announced) =
        (cx.unchecked, cx.states.clone(), cx.frame.announced.take());
    cx.unchecked = workflow.is_unchecked() || (unchecked && !workflow.is_closed());
    let meter = cx.enter_bounds(spec);
    let walked = match spec.limits.time {
        None => walk_in(workflow, nested, cx).await,
        Some(longest) => Box::pin(walk_within(longest, workflow, nested, cx)).await,
    };
    let walked = walked.and_then(|walked| cx.check_limits().map(|()| walked));
    if let Some(meter) = meter {
        cx.meter = meter;
    }
    (cx.scope, cx.known, cx.unchecked) = (scope, known, unchecked);
    (cx.states, cx.frame.announced) = (states, announced);
    if let Some(above) = above {
        cx.inherited = above;
    }
    let flow = match walked? {
        Walked::Through => Flow::Continue,
        Walked::Exit(exit) if exit.ends_all_loops(cx) => Flow::Exit,
        Walked::Exit(exit) => return Err(exit_outside_loop(exit, cx)),
    };
    if workflow.root().is_none() && cx.config().resumable {
        checkpoint::emit_end(cx).await?;
    }
    if nested && let Some(emit) = nested::leave(spec, cx) {
        emit.await?;
    }
    Ok(flow)
}

async fn walk_in(
    workflow: &(dyn StepTable + Sync),
    nested: bool,
    cx: &mut Context,
) -> Result<Walked> {
    let spec = workflow.spec();
    if nested && let Some(emit) = nested::enter(workflow, cx)? {
        emit.await?;
    }
    if workflow.is_closed() {
        cx.known = nested::known_keys(spec);
    }
    cx.states = nested::state_keys(workflow, cx);
    let walk = Walk {
        workflow,
        steps: spec.steps,
    };
    walk.run_steps(0..spec.steps.len(), cx).await
}

/// Runs the steps with a time limit. Steps that are unfinished at the deadline are dropped.
async fn walk_within(
    longest: Duration,
    workflow: &(dyn StepTable + Sync),
    nested: bool,
    cx: &mut Context,
) -> Result<Walked> {
    let Some((key, deadline)) = cx.start_time_limit(longest).await? else {
        return walk_in(workflow, nested, cx).await;
    };
    let place = (
        cx.path().clone(),
        cx.frame.author.clone(),
        cx.instance.clone(),
        cx.inherited.clone(),
    );
    let run = cx.run.clone();
    if let Some(walked) = run
        .run_until(key, deadline, walk_in(workflow, nested, cx))
        .await
    {
        return walked;
    }
    cx.drop_pending();
    (cx.frame.path, cx.frame.author, cx.instance, cx.inherited) = place;
    Err(cx.time_error(cx.path()))
}

/// Makes the error for an exit that leaves the workflow: like `break` in a function, an exit ends
/// at its workflow.
fn exit_outside_loop(exit: Exit, cx: &Context) -> Error {
    let who = match &exit.reason {
        LoopEndReason::Escalated { by } => format!("agent `{}` (at {by})", by.name()),
        _ => "a `break`".to_owned(),
    };
    let message = match exit.target {
        Some(name) => {
            format!(
                "{who} ends loop `{name}`, but no loop of that name is around it in this workflow"
            )
        }
        None => format!("{who} ends a loop, but is not inside a loop"),
    };
    Error::new(ErrorKind::UnexpectedExit, message)
        .with_help("put it inside `loop < ... >`")
        .at(cx.path())
}

/// Checks every agent of a workflow before a run. `Agent::prepare` of every workflow calls this
/// function.
pub fn prepare(workflow: &(dyn StepTable + Sync), prepare: &mut Prepare<'_>) {
    prepare.check(|run| workflow.check_state(&Values { run }));
    // For each block around the current step: the index of its end, and the path outside of the
    // block.
    let mut open = Vec::new();
    for (at, step) in workflow.spec().steps.iter().enumerate() {
        match step.kind {
            StepKind::Agent { .. } => {
                if let Some(agent) = workflow.agent(at) {
                    let outer = enter_step(workflow, at, prepare);
                    agent.prepare_dyn(prepare);
                    let name = || prepare.path().name().clone();
                    if let Some(team) =
                        Team::from_agent(agent, name, &|meta| workflow.target(meta.name))
                    {
                        team.prepare(prepare);
                    }
                    prepare.leave(outer);
                }
            }
            StepKind::Sequence
            | StepKind::Parallel { .. }
            | StepKind::Loop { .. }
            | StepKind::Match { .. }
            | StepKind::Each { .. }
            | StepKind::Try(_) => {
                open.push((step.end, enter_step(workflow, at, prepare)));
                prepare.block(step);
                let skips = workflow.callbacks(at).is_some_and(AgentCallbacks::may_skip);
                if skips && !step.skippable {
                    prepare.fail(unchecked_skip(step.name));
                }
            }
            // A `StepKind::End` may also end a branch, which is not in `open`.
            StepKind::End => {
                if let Some((_, outer)) = open.pop_if(|(end, _)| *end == at) {
                    prepare.leave(outer);
                }
            }
            StepKind::Branch | StepKind::Arm { .. } | StepKind::Else | StepKind::Break { .. } => {}
        }
    }
}

/// Makes the error for a callback that may skip a block. The checks rely on the writes inside a
/// block, so only a declared callback may skip it.
fn unchecked_skip(block: &str) -> Error {
    let message =
        format!("`add_before_agent` gave block `{block}` a callback that may answer in its place");
    Error::new(ErrorKind::Unchecked, message).with_help(format!(
        "write it where the block is declared, as in `{block}: sequence(before_agent = f) < ... \
         >`, or let it return `()`"
    ))
}

/// Moves `prepare` to the path of a step, and returns the outer path. A step that is the workflow
/// itself has the current path.
fn enter_step(workflow: &(dyn StepTable + Sync), at: usize, prepare: &mut Prepare<'_>) -> Path {
    if workflow.root() == Some(at) {
        prepare.here()
    } else {
        prepare.enter(workflow.name(at))
    }
}
