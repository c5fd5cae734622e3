//! [`MissingCause`]: why a key is written on some paths only, and the remedy.

use super::types::push_owned_type;
use super::{
    Act, EnclosingKind, are_in_siblings, common_loop, holds, in_else, innermost, kind, push_clause,
    push_step, write_of, writes, writes_surely, written_type,
};
use crate::effects::contains;
use crate::message::Message;
use crate::spec::{AgentKind, KeySpec, Spec, StepKind, has_prefix};

/// The reason why a writer may not have written its key before a reader reads it. Each number is
/// the index of a step.
pub(super) enum MissingCause {
    /// The writer is the reader itself, and no other step writes the key.
    Itself,
    /// The writer comes after the reader in this loop, or in this `try`.
    Later(usize),
    /// The writer is in this `try`, which may fail before the writer runs, or in the `else` of this
    /// `try`.
    Try(usize),
    /// The writer and the reader are in different arms of a match in a loop.
    OtherArm,
    /// This step does not always write the key.
    Perhaps(usize),
    /// The writer is in this block, which a callback may skip.
    Skipped(usize),
    /// The writer is in one arm of this match.
    Arm(usize),
    /// This loop may end before the writer runs.
    Loop(usize),
    /// This loop may end while an `each` inside it runs, which then writes no lists: the loop, the
    /// `each`.
    Broken(usize, usize),
    Paths,
}

pub(super) const fn cause(spec: &Spec<'_>, at: usize, writer: usize, key: &str) -> MissingCause {
    let inside = at < spec.steps.len();
    if writer == at {
        MissingCause::Itself
    } else if inside && are_in_siblings(spec, writer, at) {
        MissingCause::OtherArm
    } else if inside && writer > at {
        MissingCause::Later(match common_loop(spec, at, writer) {
            Some(block) => block,
            None => at,
        })
    } else if !writes_surely(spec, writer, key) {
        MissingCause::Perhaps(writer)
    } else if let Some(block) = innermost(spec, writer, at, EnclosingKind::Skippable) {
        MissingCause::Skipped(block)
    } else if let Some(block) = innermost(spec, writer, at, EnclosingKind::Match) {
        match uncertain_step(spec, block, key) {
            Some(step) => MissingCause::Perhaps(step),
            None => MissingCause::Arm(block),
        }
    } else if let Some(block) = innermost(spec, writer, at, EnclosingKind::Try) {
        MissingCause::Try(block)
    } else if let Some(block) = innermost(spec, writer, at, EnclosingKind::Loop) {
        match each_around(spec, writer, at) {
            Some(each) if holds(spec, block, each) => MissingCause::Broken(block, each),
            _ => MissingCause::Loop(block),
        }
    } else {
        MissingCause::Paths
    }
}

pub(super) const fn push_cause(
    m: &mut Message,
    spec: &Spec<'_>,
    writer: usize,
    key: &str,
    cause: &MissingCause,
) {
    match cause {
        MissingCause::Itself => {
            m.push("nothing else writes that key, so it is not there in the first round")
        }
        MissingCause::Later(block) => {
            push_step(m, spec, writer);
            m.push(match spec.steps[*block].kind {
                StepKind::Try(_) => {
                    " writes it later in the same `try`, so it is not there in the first attempt"
                }
                _ => " writes it later in the same loop, so it is not there in the first round",
            });
        }
        MissingCause::Try(block) if in_else(spec, *block, writer) => {
            push_clause(m, spec, writer, &[" writes it only if "]);
            push_clause(m, spec, *block, &[" fails"]);
        }
        MissingCause::Try(block) => {
            push_clause(m, spec, *block, &[" may fail before "]);
            push_clause(m, spec, writer, &[" writes it"]);
        }
        MissingCause::OtherArm => {
            push_step(m, spec, writer);
            m.push(
                " writes it in another arm of the same loop, so it is not there in the first round",
            );
        }
        MissingCause::Perhaps(step) => push_perhaps(m, spec, *step, key),
        MissingCause::Skipped(block) => {
            m.push("nothing in ");
            push_step(m, spec, *block);
            m.push(if spec.steps[*block].skips_branches() {
                " is certain to finish, since it continues when a branch fails (this includes "
            } else {
                " runs when the block's `before_agent` answers in its place (this includes "
            });
            push_clause(m, spec, writer, &[", which writes it)"]);
        }
        MissingCause::Arm(block) => {
            let silent = silent_arm(spec, *block, key);
            match silent {
                Some(pattern) => m.all(&["arm `", pattern, "` of "]),
                None if matches!(spec.steps[*block].kind, StepKind::Match { .. }) => {
                    m.push("not every arm of ")
                }
                None => m.push("not every branch of "),
            }
            push_step(m, spec, *block);
            m.push(if silent.is_some() {
                " does not write it"
            } else {
                " writes it for certain"
            });
        }
        MissingCause::Loop(block) => {
            push_clause(m, spec, *block, &[" may end before "]);
            push_clause(m, spec, writer, &[" writes it"]);
        }
        MissingCause::Broken(block, each) => {
            push_clause(m, spec, *block, &[" may end inside of "]);
            push_clause(m, spec, *each, &[", which then leaves no lists"]);
        }
        MissingCause::Paths => push_clause(m, spec, writer, &[" writes it on some paths only"]),
    }
}

/// Returns the pattern of the first arm of a match that does not write a key. Arms with a `break`
/// are returned only if there is no other.
const fn silent_arm<'a>(spec: &Spec<'a>, block: usize, key: &str) -> Option<&'a str> {
    let (mut arm, mut leaving) = (block + 1, None);
    while arm < spec.steps[block].end {
        let end = spec.steps[arm].end;
        if let StepKind::Arm { pattern } = spec.steps[arm].kind
            && find!(i in arm + 1, end => writes(spec, i, key)).is_none()
        {
            if find!(i in arm + 1, end => matches!(spec.steps[i].kind, StepKind::Break { .. }))
                .is_none()
            {
                return Some(pattern);
            }
            if leaving.is_none() {
                leaving = Some(pattern);
            }
        }
        arm = if end > arm { end + 1 } else { arm + 1 };
    }
    leaving
}

/// Returns the step of a match that may not write a key, if every arm has a step that may write it.
const fn uncertain_step(spec: &Spec<'_>, block: usize, key: &str) -> Option<usize> {
    if silent_arm(spec, block, key).is_some() {
        return None;
    }
    find!(i in block + 1, spec.steps[block].end => {
        writes(spec, i, key) && !writes_surely(spec, i, key)
    })
}

/// Describes why an agent may end without writing one of its keys.
const fn push_perhaps(m: &mut Message, spec: &Spec<'_>, writer: usize, key: &str) {
    push_step(m, spec, writer);
    let StepKind::Agent { meta, .. } = spec.steps[writer].kind else {
        return;
    };
    each!(tool in meta.tools => {
        if contains(tool.writes, key) {
            return m.all(&[" writes it only if it calls its tool `", tool.name, "`"]);
        }
    });
    each!(target in meta.transfer => {
        if !contains(target.writes, key) {
            return m.all(&[" may transfer to agent `", target.name, "`, which does not write it"]);
        }
    });
    let is_returned = matches!(
        write_of(spec, writer, key),
        Some(Act::Write {
            spec: KeySpec { perhaps: true, .. },
            ..
        })
    );
    m.push(match meta.kind {
        _ if !meta.transfer.is_empty() => " may transfer to an agent that may not write it",
        AgentKind::Function if is_returned => " returns an `Option`, and `None` does not write it",
        AgentKind::Function => " writes it only if it sets its `Out`",
        _ => " may not write it",
    });
}

pub(super) const fn remedy(
    m: &mut Message,
    spec: &Spec<'_>,
    at: usize,
    writer: usize,
    key: &str,
    cause: &MissingCause,
) {
    let each = each_around(spec, writer, at);
    match cause {
        MissingCause::Arm(block) if matches!(spec.steps[*block].kind, StepKind::Match { .. }) => {
            m.push("write it in every arm")
        }
        MissingCause::Arm(_) => m.push("write it in every branch"),
        MissingCause::Perhaps(step) if matches!(kind(spec, *step), Some(AgentKind::Workflow)) => {
            m.all(&["let `", key, "` be an output of "]);
            push_step(m, spec, *step);
        }
        MissingCause::Broken(_, each) => {
            m.push("end the loop after ");
            push_step(m, spec, *each);
        }
        // Only an `each` creates a list, and an element's key has no value outside of its `each`.
        _ if each.is_some()
            || each_around(spec, at, spec.steps.len()).is_some()
            || has_prefix(key) =>
        {
            m.push("write it before on every path");
        }
        _ => first_value(m, spec, key, written_type(spec, writer, key)),
    }
}

pub(super) const fn first_value(m: &mut Message, spec: &Spec<'_>, key: &str, ty: &str) {
    if spec.built {
        m.all(&[
            "give it a first value, `.initial_state(\"",
            key,
            "\", VALUE)`",
        ])
    } else {
        m.all(&["give it a first value, `let ", key, ": "]);
        push_owned_type(m, ty);
        m.push(" = ...;`");
    }
}

/// Returns the outermost `each` that holds the step `at` and not the step `not`.
const fn each_around(spec: &Spec<'_>, at: usize, not: usize) -> Option<usize> {
    find!(i in 0, if at < spec.steps.len() { at } else { spec.steps.len() } => {
        let is_each = matches!(spec.steps[i].kind, StepKind::Each { .. });
        is_each && holds(spec, i, at) && !holds(spec, i, not)
    })
}
