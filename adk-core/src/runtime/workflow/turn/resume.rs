//! Branches that run again when a run is resumed before the end of their parallel block.
//! Hand-written agents never count as finished in ADK, so they run again under
//! `RunConfig::custom_agents_finish(false)`.
//!
//! Each execution is a turn of its own (`par/fetch@2`). The journal holds all turns, and they are
//! replayed like any other turn; a turn that was cut off continues where it was.

use super::agent;
use super::checkpoint::emits_end;
use crate::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::Context;
use crate::runtime::workflow::steps::Steps;
use crate::spec::StepKind;
use crate::{Path, Result};

impl Steps<'_> {
    /// Returns `true` if the agent at this step may run again: it is the only step of its branch,
    /// and the run is resumed. A block with `max_concurrency` does not repeat agents: a branch that
    /// may not begin yet would wait for the end of the replay, and the replay would wait for the
    /// branch. ADK has no such limit.
    pub(super) fn may_repeat(&self, at: usize, cx: &Context) -> bool {
        if cx.run.kind.replay().is_none() || !cx.config().resumable {
            return false;
        }
        let StepKind::Agent { meta, .. } = self.steps[at].kind else {
            return false;
        };
        let Some(branch) = at
            .checked_sub(1)
            .filter(|before| self.steps[*before].end == at + 1)
        else {
            return false;
        };
        let around = self.steps[..branch].iter().rev().find(|step| step.end > at);
        !emits_end(meta.kind, cx)
            && around.is_some_and(|block| {
                matches!(
                    block.kind,
                    StepKind::Parallel {
                        max_concurrency: None,
                        ..
                    }
                )
            })
    }
}

/// Runs an agent that is the only step of the branch `branch`. Replays all recorded turns, and runs
/// one more turn if its block had not ended.
pub(super) async fn run_turns(
    agent: &dyn DynAgent,
    branch: &str,
    cx: &mut Context,
) -> Result<Flow> {
    let mut turns = 1;
    loop {
        let flow = match cx.replay_finished().await {
            Some(flow) => flow,
            None => {
                let flow = agent::run(agent, false, cx).await?;
                if cx.has_added() {
                    return Ok(flow);
                }
                cx.run
                    .mark_finished(cx.path(), &flow, cx.frame.usage.as_ref());
                flow
            }
        };
        if flow != Flow::Continue || is_block_over(branch, cx) {
            return Ok(flow);
        }
        turns += 1;
        cx.take_turn(turns).await;
    }
}

/// Returns `true` if the block around the branch has ended in the journal.
fn is_block_over(branch: &str, cx: &Context) -> bool {
    let (Some(replay), Some(block)) = (cx.run.kind.replay(), cx.path().parent()) else {
        return true;
    };
    replay
        .journal
        .is_past(block, outer_branch(block, branch, cx))
}

/// Returns the name of the branch that contains the block.
fn outer_branch<'a>(block: &Path, branch: &str, cx: &'a Context) -> Option<&'a str> {
    let own = format!("{}.{branch}", block.name());
    cx.branch()?.strip_suffix(&*own)?.strip_suffix('.')
}
