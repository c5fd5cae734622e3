//! The checks of a workflow and of its agents before a run.

use super::keys::Values;
use super::steps::StepTable;
use super::turn::Team;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::Prepare;
use crate::spec::StepKind;
use crate::{Error, ErrorKind, Path, Result};
use adk_spec::__private::chooses_cleaned_arm;
use serde_json::Value;

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
                    if let Some(default) = prepare.default.take() {
                        check_default(workflow, at, default, prepare);
                    }
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

/// Refuses a default of an `await` that chooses an arm in which the checks rely on the answer of a
/// person.
fn check_default(
    workflow: &(dyn StepTable + Sync),
    at: usize,
    default: fn() -> Result<Value>,
    prepare: &mut Prepare<'_>,
) {
    let spec = workflow.spec();
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else {
        return;
    };
    let [answer] = meta.writes else { return };
    for (choice, step) in spec.steps.iter().enumerate() {
        if !matches!(step.kind, StepKind::Match { key } if key == answer.name) {
            continue;
        }
        let chosen = default().and_then(|value| workflow.select(choice, &value));
        match chosen {
            Ok(arm) if chooses_cleaned_arm(spec, choice, arm, meta.default) => {
                let message = format!(
                    "the default `{}` of the await `{}` chooses an arm of `match {}` that only the \
                     answer of a person may choose",
                    meta.default, meta.name, answer.name
                );
                let help = "write the default and the patterns as variants of the enum, or as \
                    literals";
                prepare.fail(Error::new(ErrorKind::Unchecked, message).with_help(help));
            }
            Ok(_) => {}
            Err(error) => prepare.fail(error),
        }
    }
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
