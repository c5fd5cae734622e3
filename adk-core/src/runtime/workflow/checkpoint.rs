//! ADK's checkpoint events, under [`RunConfig::resumable`](crate::RunConfig::resumable): what a sequence or a loop is about
//! to run, and that a block or an agent has ended.
//!
//! They are a view: nothing reads them back. A run is taken up again from its record, by path and not by name.

use super::walk::{EnteredBlock, Walk};
use crate::runtime::run::Context;
use crate::spec::{AgentKind, StepKind};
use crate::store::event::{Actions, Event, RareActions};
use crate::{BoxFuture, Result};
use serde_json::{Value, json};
use std::sync::Arc;

impl Walk<'_> {
    /// Says that a step is about to run: in a sequence, in a loop, or in the body of a workflow.
    pub(super) async fn announce(
        &self,
        at: usize,
        is_whole: bool,
        open: &[EnteredBlock],
        cx: &mut Context,
    ) -> Result<()> {
        if !cx.config().resumable {
            return Ok(());
        }
        let name = self.workflow.name(at);
        let state = match open.last() {
            None if is_whole && self.workflow.root() != Some(at) => json!({"current_sub_agent": name}),
            Some(block) => match self.steps[block.at].kind {
                StepKind::Sequence => json!({"current_sub_agent": name}),
                StepKind::Loop { .. } => {
                    json!({"current_sub_agent": name, "times_looped": block.round.saturating_sub(1)})
                }
                _ => return Ok(()),
            },
            None => return Ok(()),
        };
        emit_checkpoint(Some(state), cx).await
    }

    /// Says that the branches of a parallel block are about to run.
    pub(super) async fn announce_parallel(&self, block: usize, cx: &mut Context) -> Result<()> {
        match self.steps[block].kind {
            StepKind::Parallel { .. } if cx.config().resumable => emit_checkpoint(Some(json!({})), cx).await,
            _ => Ok(()),
        }
    }

    /// Says that a block has ended. A parallel one says so when all its children do.
    pub(super) async fn announce_end(&self, block: usize, cx: &mut Context) -> Result<()> {
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
        if has_event { emit_checkpoint(None, cx).await } else { Ok(()) }
    }
}

/// Whether an agent of this kind says that it has ended. In ADK one that is written by hand never does.
pub(super) fn emits_end(kind: AgentKind, cx: &Context) -> bool {
    !matches!(kind, AgentKind::Custom | AgentKind::Function | AgentKind::Await)
        || cx.config().custom_agents_finish
}

/// Says that the agent or workflow at this place has ended, in a run that is resumable.
pub(super) fn emit_end(cx: &mut Context) -> BoxFuture<'_, Result<()>> {
    emit_checkpoint(None, cx)
}

/// Commits a checkpoint: a state, or the end. Boxed, since blocks nest and an event is large.
fn emit_checkpoint(state: Option<Value>, cx: &mut Context) -> BoxFuture<'_, Result<()>> {
    let end_of_agent = state.is_none().then_some(true);
    let agent_state = state.map(Arc::new);
    let actions = Actions::from(RareActions { agent_state, end_of_agent, ..RareActions::default() });
    Box::pin(async move { cx.emit(Event { actions, ..Event::new() }).await.map(drop) })
}
