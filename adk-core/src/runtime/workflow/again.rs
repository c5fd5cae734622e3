//! Branches that run again when a parallel block is taken up before its end, where agents that are written by hand never
//! count as finished: ADK's way, under `RunConfig::custom_agents_finish(false)`.
//!
//! Each time is a turn of its own (`par/fetch@2`). All of them are in the record, and are given back like any other; a turn
//! that was cut off goes on where it was.

use super::checkpoint::finishes;
use super::turn;
use super::walk::Walk;
use crate::flow::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::Context;
use crate::spec::StepKind;
use crate::{Path, Result};

impl Walk<'_> {
    /// Whether the agent at this step is one that may run again: by itself a branch, in a run that is taken up. ADK has no
    /// limit on branches; where there is one, those that wait for a place would wait for the record, and it for them.
    pub(super) fn repeats(&self, at: usize, cx: &Context) -> bool {
        if cx.run.replay.is_none() || !cx.config().resumable {
            return false;
        }
        let StepKind::Agent { meta, .. } = self.steps[at].kind else { return false };
        let Some(branch) = at.checked_sub(1).filter(|before| self.steps[*before].end == at + 1) else {
            return false;
        };
        let around = self.steps[..branch].iter().rev().find(|step| step.end > at);
        !finishes(meta.kind, cx)
            && around
                .is_some_and(|block| matches!(block.kind, StepKind::Parallel { max_concurrency: None, .. }))
    }
}

/// Runs an agent that is by itself the branch of that name, in as many turns as there were, and in one more when its block
/// was not at its end.
pub(super) async fn run(agent: &dyn DynAgent, branch: &str, cx: &mut Context) -> Result<Flow> {
    let mut turns = 1;
    loop {
        let flow = match cx.replay_finished().await {
            Some(flow) => flow,
            None => {
                let flow = turn::run(agent, false, cx).await?;
                if cx.has_added() {
                    return Ok(flow);
                }
                cx.run.mark_finished(cx.path(), &flow, cx.frame.usage.as_ref());
                flow
            }
        };
        if flow != Flow::Continue || is_past(branch, cx) {
            return Ok(flow);
        }
        turns += 1;
        cx.take_turn(turns).await;
    }
}

/// Whether the block around the branch came to its end in the record.
fn is_past(branch: &str, cx: &Context) -> bool {
    let (Some(replay), Some(block)) = (&cx.run.replay, cx.path().parent()) else { return true };
    replay.is_past(block, around(block, branch, cx))
}

/// The branch of the block.
fn around<'a>(block: &Path, branch: &str, cx: &'a Context) -> Option<&'a str> {
    let own = format!("{}.{branch}", block.name());
    cx.branch()?.strip_suffix(&*own)?.strip_suffix('.')
}
