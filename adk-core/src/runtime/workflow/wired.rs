//! The trait [`Wired`], in which the walk looks up the agents, limits and callbacks of steps; and where a walk begins.

use super::team::Team;
use super::walk::{Exit, Walk, Walked};
use super::{Form, Keys, Values, checkpoint, nested, seek};
use crate::flow::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, LoopEndReason, Prepare};
use crate::spec::{Spec, StepKind};
use crate::{BoxFuture, Error, ErrorKind, Name, Path, Result};
use std::time::Duration;

/// What the walk needs to know of a workflow beside its [`Spec`]: thin code that the macro writes.
// It does not ask for `Send` and `Sync` again, so that rustc says once that a workflow is not: of `MadeByMacro`.
pub trait Wired {
    /// The whole tree.
    fn spec(&self) -> &Spec<'_>;

    /// The name of a step.
    fn name(&self, step: usize) -> Name {
        self.spec().steps.get(step).map_or_else(Name::default, |step| Name::shared(step.name))
    }

    /// The agent of a step.
    fn agent(&self, step: usize) -> Option<&dyn DynAgent>;

    /// The agent of that name, which others transfer to and which is no step.
    fn target(&self, _name: &str) -> Option<&dyn DynAgent> {
        None
    }

    /// The most rounds of a loop: what was set on its field, otherwise what was declared.
    fn max(&self, _step: usize) -> Option<u32> {
        None
    }

    /// The callbacks of a block: those of its field.
    fn callbacks(&self, _step: usize) -> Option<&AgentCallbacks> {
        None
    }

    /// Which arm of a `match` the value of its key selects, counted from 0.
    ///
    /// # Errors
    /// When the value is not of the type of the patterns: why it is not. Key, block and path are said by the walk.
    fn select(&self, _step: usize, _value: &serde_json::Value) -> Result<usize> {
        Ok(0)
    }

    /// Whether the keys inside are its own, as those of a workflow are; a tree that was built at run time works on the
    /// keys around it, as in ADK.
    fn is_closed(&self) -> bool {
        true
    }

    /// The step that is the workflow itself: a root block has no place below itself.
    fn root(&self) -> Option<usize> {
        None
    }

    /// Whether an exit that nobody announced, and one outside of any loop, is let pass: in a tree that was built without
    /// checks of its flow.
    fn is_unchecked(&self) -> bool {
        false
    }

    /// Evaluates the `let` items.
    fn lets(&self, _keys: &mut Keys) -> Result<()> {
        Ok(())
    }

    /// Says the defaults of its inputs to a form that wants them.
    fn form(&self, _form: &mut Form) {}

    /// Sees that each `state` key holds a value of its type.
    fn check_state(&self, _values: &Values<'_>) -> Result<()> {
        Ok(())
    }
}

/// Runs a workflow: what `Agent::run` of every workflow is.
///
/// # Errors
/// Those of its agents, and an exit that no loop of the workflow takes.
// Boxed here, rustc does not prove again for each workflow that it is `Send`, nor compile the walk again in its crate.
pub fn run<'a>(workflow: &'a (dyn Wired + Sync), cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
    Box::pin(walk_all(workflow, cx))
}

async fn walk_all(workflow: &(dyn Wired + Sync), cx: &mut Context) -> Result<Flow> {
    let spec = workflow.spec();
    let is_block = spec.steps.first().is_some_and(|step| !matches!(step.kind, StepKind::Agent { .. }));
    let settled = match (workflow.root(), workflow.is_closed()) {
        (Some(_), _) => is_block.then_some(true),
        (None, is_closed) => is_closed.then_some(false),
    };
    let above = cx.settle_global(settled);
    if cx.search.is_some() {
        return Box::pin(seek::down(workflow, cx)).await;
    }
    // At the root of a run the inputs came with the event of the user.
    let nested = workflow.is_closed() && cx.path().parent().is_some();
    // They are given back after an error too: an agent that runs a workflow by itself may go on.
    let (scope, known) = (cx.scope.clone(), cx.known.clone());
    let (unchecked, states, announced) = (cx.unchecked, cx.states.clone(), cx.frame.announced.take());
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
        Walked::Exit(exit) => return Err(outside(exit, cx)),
    };
    if workflow.root().is_none() && cx.config().resumable {
        checkpoint::ended(cx).await?;
    }
    if nested && let Some(emit) = nested::leave(spec, cx) {
        emit.await?;
    }
    Ok(flow)
}

async fn walk_in(workflow: &(dyn Wired + Sync), nested: bool, cx: &mut Context) -> Result<Walked> {
    let spec = workflow.spec();
    if nested && let Some(emit) = nested::enter(workflow, cx)? {
        emit.await?;
    }
    if workflow.is_closed() {
        cx.known = nested::known(spec);
    }
    cx.states = nested::states(workflow, cx);
    let walk = Walk { workflow, steps: spec.steps };
    walk.steps(0..spec.steps.len(), cx).await
}

/// The same for at most so long. What has not ended by then is dropped where it is.
async fn walk_within(
    longest: Duration,
    workflow: &(dyn Wired + Sync),
    nested: bool,
    cx: &mut Context,
) -> Result<Walked> {
    let Some((key, deadline)) = cx.start_time_limit(longest).await? else {
        return walk_in(workflow, nested, cx).await;
    };
    let place = (cx.path().clone(), cx.frame.author.clone(), cx.instance.clone(), cx.inherited.clone());
    let run = cx.run.clone();
    if let Some(walked) = run.run_until(key, deadline, walk_in(workflow, nested, cx)).await {
        return walked;
    }
    cx.drop_pending();
    (cx.frame.path, cx.frame.author, cx.instance, cx.inherited) = place;
    Err(cx.time_error(cx.path()))
}

/// An exit never leaves a workflow, as `break` never leaves a function.
fn outside(exit: Exit, cx: &Context) -> Error {
    let who = match &exit.reason {
        LoopEndReason::Escalated { by } => format!("agent `{}` (at {by})", by.name()),
        _ => "a `break`".to_owned(),
    };
    let message = match exit.target {
        Some(name) => {
            format!("{who} ends loop `{name}`, but no loop of that name is around it in this workflow")
        }
        None => format!("{who} ends a loop, but is in none"),
    };
    Error::new(ErrorKind::UnexpectedExit, message).with_help("put it inside `loop < ... >`").at(cx.path())
}

/// Looks at every agent of a workflow before a run: what `Agent::prepare` of every workflow is.
pub fn prepare(workflow: &(dyn Wired + Sync), prepare: &mut Prepare<'_>) {
    prepare.check(|run| workflow.check_state(&Values { run }));
    // The blocks around a step: where each ends, and the path outside of it.
    let mut open = Vec::new();
    for (at, step) in workflow.spec().steps.iter().enumerate() {
        match step.kind {
            StepKind::Agent { .. } => {
                if let Some(agent) = workflow.agent(at) {
                    let outer = step_of(workflow, at, prepare);
                    agent.prepare_dyn(prepare);
                    let name = || prepare.path().name().clone();
                    if let Some(team) = Team::of(agent, name, &|meta| workflow.target(meta.name)) {
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
                open.push((step.end, step_of(workflow, at, prepare)));
                prepare.block(step);
                let skips = workflow.callbacks(at).is_some_and(AgentCallbacks::may_skip);
                if skips && !step.skippable {
                    prepare.fail(may_skip(step.name));
                }
            }
            // That of a branch is not the end of a block.
            StepKind::End => {
                if let Some((_, outer)) = open.pop_if(|(end, _)| *end == at) {
                    prepare.leave(outer);
                }
            }
            StepKind::Branch | StepKind::Arm { .. } | StepKind::Else | StepKind::Break { .. } => {}
        }
    }
}

/// What is written in a block is only certain after it where nothing may skip the block.
fn may_skip(block: &str) -> Error {
    let message = format!("`add_before_agent` gave block `{block}` a callback that may answer in its place");
    Error::new(ErrorKind::Unchecked, message).with_help(format!(
        "write it where the block is declared, as in `{block}: sequence(before_agent = f) < ... >`, or let it return `()`"
    ))
}

/// Goes to a step; the workflow's own step is the current place already.
fn step_of(workflow: &(dyn Wired + Sync), at: usize, prepare: &mut Prepare<'_>) -> Path {
    if workflow.root() == Some(at) { prepare.here() } else { prepare.enter(workflow.name(at)) }
}
