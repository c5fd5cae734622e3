//! ADK's checkpoint events under [`RunConfig::resumable`](crate::RunConfig::resumable). They report
//! the next step of a sequence or a loop, and the end of a block or an agent.
//!
//! The runtime only writes these events. It resumes a run from its journal, which identifies steps
//! by path.

use crate::runtime::run::Context;
use crate::runtime::workflow::steps::Steps;
use crate::spec::{AgentKind, StepKind};
use crate::store::event::{Actions, Event, RareActions};
use crate::{BoxFuture, Result};
use serde_json::{Value, json};
use std::sync::Arc;

impl Steps<'_> {
    /// Emits the checkpoint before a step of a sequence, of a loop, or of the body of a workflow.
    /// `block` is the innermost block around the step, with the round of a loop.
    pub(crate) async fn announce(
        &self,
        at: usize,
        is_whole: bool,
        block: Option<(usize, u32)>,
        cx: &mut Context,
    ) -> Result<()> {
        if !cx.config().resumable {
            return Ok(());
        }
        let name = self.workflow.name(at);
        let state = match block {
            None if is_whole && self.workflow.root() != Some(at) => {
                json!({"current_sub_agent": name})
            }
            Some((block, round)) => match self.steps[block].kind {
                StepKind::Sequence => json!({"current_sub_agent": name}),
                StepKind::Loop { .. } => {
                    json!({
                        "current_sub_agent": name,
                        "times_looped": round.saturating_sub(1),
                    })
                }
                _ => return Ok(()),
            },
            None => return Ok(()),
        };
        emit_checkpoint(Some(state), cx).await
    }

    /// Emits the checkpoint before the branches of a parallel block.
    pub(crate) async fn announce_parallel(&self, block: usize, cx: &mut Context) -> Result<()> {
        match self.steps[block].kind {
            StepKind::Parallel { .. } if cx.config().resumable => {
                emit_checkpoint(Some(json!({})), cx).await
            }
            _ => Ok(()),
        }
    }

    /// Emits the end of a block. A parallel block emits it only if all its children emit theirs.
    pub(crate) async fn announce_end(&self, block: usize, cx: &mut Context) -> Result<()> {
        if !cx.config().resumable {
            return Ok(());
        }
        let has_event = match self.steps[block].kind {
            StepKind::Sequence | StepKind::Loop { .. } => true,
            StepKind::Parallel { .. } => self.parts(block).all(|branch| {
                let first = self.steps.get(branch.start).map(|step| step.kind);
                !matches!(first, Some(StepKind::Agent { meta, .. }) if !emits_end(meta.kind, cx))
            }),
            _ => false,
        };
        if has_event {
            emit_checkpoint(None, cx).await
        } else {
            Ok(())
        }
    }
}

/// Returns `true` if an agent of this kind emits its end. In ADK hand-written agents never do.
pub(crate) fn emits_end(kind: AgentKind, cx: &Context) -> bool {
    !matches!(
        kind,
        AgentKind::Custom | AgentKind::Function | AgentKind::Await
    ) || cx.config().custom_agents_finish
}

/// Emits the end of the agent or workflow at the current path, in a resumable run.
pub(crate) fn emit_end(cx: &mut Context) -> BoxFuture<'_, Result<()>> {
    emit_checkpoint(None, cx)
}

/// Commits a checkpoint: a state, or the end. The future is boxed, since blocks nest and an event
/// is large.
fn emit_checkpoint(state: Option<Value>, cx: &mut Context) -> BoxFuture<'_, Result<()>> {
    let mut actions = RareActions::default();
    actions.end_of_agent = state.is_none().then_some(true);
    actions.agent_state = state.map(Arc::new);
    let actions = Actions::from(actions);
    Box::pin(async move {
        cx.emit(Event {
            actions,
            ..Event::new()
        })
        .await
        .map(drop)
    })
}
