//! The walk over a part of a block: the steps of a branch, an element or an attempt.

use crate::LoopEndReason;
use crate::runtime::run::{Context, Cut};
use crate::runtime::workflow::steps::{Exit, RunPart, Steps, Walked, boxed};
use crate::spec::{AgentKind, StepKind};
use crate::{BoxFuture, Event, Name, Result};
use serde_json::Value;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

impl RunPart for Steps<'_> {
    /// Runs the steps of one branch or element. An `async fn` would recurse in the `Send` check;
    /// the declared type ends the recursion.
    fn run_part<'s>(
        &'s self,
        range: Range<usize>,
        item: Option<(Name, Arc<Value>)>,
        mut own: Context,
    ) -> BoxFuture<'s, Result<Walked>> {
        Box::pin(async move {
            if let Some((item, value)) = item {
                begin_element(item, value, &mut own).await?;
            }
            match own.cut.clone() {
                None => self.run_steps(range, &mut own).await,
                Some(cut) => {
                    boxed(|| async move { self.run_until_cut(range, &cut, own).await }).await
                }
            }
        })
    }
}

impl Steps<'_> {
    /// Runs a branch until it ends, or until its own child escalates, which ends the block at once.
    /// This is ADK's rule, under `RunConfig::escalate_ends_all_loops`. An escalate from deeper
    /// inside leaves the block after all branches have ended.
    async fn run_until_cut(
        &self,
        range: Range<usize>,
        cut: &Cut,
        mut own: Context,
    ) -> Result<Walked> {
        // If the branch is a nested workflow, the escalate comes from an agent deeper inside.
        let is_workflow = |at: usize| match self.steps.get(at).map(|step| step.kind) {
            Some(StepKind::Agent { meta, .. }) => meta.kind == AgentKind::Workflow,
            _ => false,
        };
        let (start, block) = (range.start, own.path().clone());
        let mut walk = pin!(self.run_steps(range, &mut own));
        let walked = poll_fn(|task| match (walk.as_mut().poll(task), cut.ended_by()) {
            (Poll::Pending, Some(by)) => Poll::Ready(Ok(Walked::Exit(Exit::from_cut(by.clone())))),
            (polled, _) => polled,
        });
        let mut walked = walked.await?;
        if let Walked::Exit(exit) = &mut walked
            && let LoopEndReason::Escalated { by } = &exit.reason
        {
            exit.is_direct = by.parent() == Some(&block) && !is_workflow(start);
        }
        Ok(walked)
    }
}

/// Commits the item of an element. The future is boxed as in [`gather`], since blocks nest and an
/// event is large.
pub(crate) fn begin_element(
    item: Name,
    value: Arc<Value>,
    own: &mut Context,
) -> BoxFuture<'_, Result<()>> {
    let mut event = Event::new();
    event.actions.state_delta.insert(item, value);
    Box::pin(async move { own.emit(event).await.map(drop) })
}
