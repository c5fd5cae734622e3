//! The checks of a workflow and of its agents before a run.

use super::keys::Values;
use super::steps::StepTable;
use super::turn::Team;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::Prepare;
use crate::spec::StepKind;
use crate::{Error, ErrorKind, Path};

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
