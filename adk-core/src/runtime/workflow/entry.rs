//! [`run`]: the start and the end of a walk over a whole workflow.

use super::steps::{Exit, StepTable, Steps, Walked};
use super::turn::checkpoint;
use super::{descend, nested};
use crate::Flow;
use crate::LoopEndReason;
use crate::runtime::run::{AnnouncedKeys, Context};
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::time::Duration;

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

// An `async fn` would hold its arguments twice; an `async` block holds them once.
#[expect(clippy::manual_async_fn, reason = "the size of a run that waits")]
fn walk_all(
    workflow: &(dyn StepTable + Sync),
    cx: &mut Context,
) -> impl Future<Output = Result<Flow>> + Send {
    async move {
        if cx.search.is_some() {
            return Box::pin(descend::descend(workflow, cx)).await;
        }
        let spec = workflow.spec();
        // At the root of a run, the inputs came with the event of the user.
        let nested = workflow.is_closed() && cx.path().parent().is_some();
        let walked = {
            // The events of the walk are not those of the agent whose turn this is.
            let mut cx = cx.enter(None::<AnnouncedKeys>);
            let inside = nested::surroundings(workflow, &cx);
            let mut cx = cx.enter(inside);
            let walked = match spec.limits.time {
                None => walk_in(workflow, nested, &mut cx).await,
                Some(longest) => Box::pin(walk_within(longest, workflow, nested, &mut cx)).await,
            };
            walked.and_then(|walked| cx.check_limits().map(|()| walked))
        };
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
        cx.around.known = nested::known_keys(spec);
    }
    cx.around.states = nested::state_keys(workflow, cx);
    let steps = Steps {
        workflow,
        steps: spec.steps,
    };
    steps.run_steps(0..spec.steps.len(), cx).await
}

/// Runs the steps with a time limit. Steps that are unfinished at the deadline are dropped, and the
/// context is then again where it was before them.
async fn walk_within(
    longest: Duration,
    workflow: &(dyn StepTable + Sync),
    nested: bool,
    cx: &mut Context,
) -> Result<Walked> {
    let Some((key, deadline)) = cx.start_time_limit(longest).await? else {
        return walk_in(workflow, nested, cx).await;
    };
    let run = cx.run.clone();
    if let Some(walked) = run
        .run_until(key, deadline, walk_in(workflow, nested, cx))
        .await
    {
        return walked;
    }
    cx.drop_pending();
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
