//! One turn of one agent at the current path: its begin, its execution, and the check of its
//! effects.

use super::checkpoint;
use super::lifecycle::{self, BeginOutcome, LifecycleNode};
use crate::Flow;
use crate::panic::CatchPanic;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, LifecycleReporter, NothingWritten, in_span, stored_key};
use crate::spec::{AgentKind, AgentMeta};
use crate::{Error, ErrorKind, Result};

/// Runs an agent at the current path, with its callbacks unless it has begun already.
pub(crate) async fn run(agent: &dyn DynAgent, begun: bool, cx: &mut Context) -> Result<Flow> {
    let mut cx = cx.enter(Some(agent.announced_dyn()));
    match (!begun)
        .then_some(LifecycleNode::Agent(agent))
        .filter(|node| is_observed(*node, &cx))
    {
        // Boxed to keep the future small, because few agents are watched.
        Some(node) => Box::pin(run_watched(agent, node, &mut cx)).await,
        None => run_body(agent, &mut cx)
            .await
            .and_then(|flow| checked_flow(agent, flow, &cx)),
    }
}

/// Returns `true` if callbacks, plugins, a trace or lifecycle events observe the begin and the end
/// of the agent.
pub(super) fn is_observed(node: LifecycleNode<'_>, cx: &Context) -> bool {
    node.is_watched(cx) || cx.trace.is_some() || cx.config().lifecycle_events
}

async fn run_watched(
    agent: &dyn DynAgent,
    node: LifecycleNode<'_>,
    cx: &mut Context,
) -> Result<Flow> {
    let watch = LifecycleReporter::begin(agent.meta().kind.into(), cx).await;
    let ran = {
        let span = cx.span_of_turn(agent.meta());
        let mut cx = cx.enter(span);
        let ran = run_between_callbacks(agent, node, &mut cx).await;
        cx.end_span(&ran);
        ran
    };
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
pub(super) fn checked_flow(agent: &dyn DynAgent, flow: Flow, cx: &Context) -> Result<Flow> {
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

pub(super) async fn run_body(agent: &dyn DynAgent, cx: &mut Context) -> Result<Flow> {
    if cx.cell().is_some() {
        // Boxed to keep the future small, because few workflows have guards.
        Box::pin(cx.begin_guarded(agent.meta())).await?;
    }
    let flow = match CatchPanic(in_span(cx.trace.clone(), agent.run_dyn(cx))).await {
        Ok(flow) => flow.inspect_err(|_| cx.note_failure())?,
        Err(panic) => {
            cx.note_failure();
            let error = panic.into_error("it", cx.run_id(), cx.path());
            return Err(error.with_help("fix the panic in the code of the agent"));
        }
    };
    if cx.has_pending() {
        cx.flush().await?;
    }
    if cx.config().resumable {
        let kind = agent.meta().kind;
        // A workflow emits its end at the end of its body.
        if kind != AgentKind::Workflow && checkpoint::emits_end(kind, cx) {
            checkpoint::emit_end(cx).await?;
        }
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
        let stored = stored_key(cx.around.scope.as_deref(), key.name);
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
