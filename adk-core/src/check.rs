//! What is wrong with a workflow: `const fn` over slices, so that one rule serves the compiler and the run time.
//!
//! `workflow!` calls [`facts`] in const evaluation and raises each finding under the token of its step. For a tree
//! that was built at run time, [`faults`] gives the same findings as values.

mod limits;
mod message;
mod names;
mod text;
mod tools;

pub use limits::{limit, raise_limit};
pub use tools::raise_tool;

use crate::spec::{Spec, Step, StepKind};
use message::Message;
use names::{Entry, Finding};
use std::fmt;

/// A fault of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The check, such as `name-duplicate`.
    pub check: &'static str,
    /// The step, agent or block; empty for the workflow itself.
    pub node: String,
    /// The fact, the names, and what to do; begins with the name of the check.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// All faults of a workflow, in the order of its steps.
///
/// ```
/// # use adk_core as adk;
/// use adk::spec::{Spec, Step, StepKind};
/// let steps = [
///     Step::new("again", StepKind::Loop { max: Some(0), until: None }, 1),
///     Step::new("", StepKind::End, 1),
/// ];
/// let faults = adk::check::faults(&Spec::new("writing", "", &steps));
/// let checks: Vec<_> = faults.iter().map(|fault| fault.check).collect();
/// assert_eq!(checks, ["loop-max", "block-empty"]);
/// ```
pub fn faults(spec: &Spec<'_>) -> Vec<Fault> {
    let mut table = vec![Entry::EMPTY; slots(spec)];
    let mut findings = vec![Finding::None; spec.steps.len()];
    names::find(spec, &mut table, &mut findings);
    let mut faults = Vec::new();
    if let Some(message) = names::of_workflow(spec.name) {
        faults.push(fault("", &message));
    }
    for (step, finding) in spec.steps.iter().zip(&findings) {
        if let Some(message) = names::describe(step, finding).or_else(|| names::of_step(step)) {
            faults.push(fault(step.name, &message));
        }
        own(step, spec.steps, &mut faults);
    }
    faults
}

/// The faults of a step that has nothing to do with others, those of nested workflows included.
fn own(step: &Step<'_>, steps: &[Step<'_>], faults: &mut Vec<Fault>) {
    match &step.kind {
        StepKind::Agent { meta, .. } => {
            for at in 0..meta.tools.len() {
                faults.extend(
                    tools::describe(step.name, meta.tools, at).map(|message| fault(step.name, &message)),
                );
            }
            for inner in meta.steps {
                own(inner, meta.steps, faults);
            }
        }
        StepKind::Loop { max: Some(0), .. } => {
            faults.push(fault(step.name, &limits::describe("max", step.name, 0)))
        }
        StepKind::Parallel { max_concurrency: Some(0) } => {
            faults.push(fault(step.name, &limits::describe("max_concurrency", step.name, 0)));
        }
        _ => {}
    }
    let block = matches!(step.kind, StepKind::Sequence | StepKind::Parallel { .. } | StepKind::Loop { .. });
    let next = steps.get(step.end.saturating_sub(1));
    if block && next.is_none_or(|last| std::ptr::eq(last, step)) {
        let mut message = Message::new();
        message.all(&[
            "block-empty: block `",
            step.name,
            "` has no steps; help: remove it, or put a step into it",
        ]);
        faults.push(fault(step.name, &message));
    }
}

fn fault(node: &str, message: &Message) -> Fault {
    let text = message.as_str();
    let check = names::CHECKS.iter().chain(tools::CHECKS).chain(limits::CHECKS);
    let check = check.copied().find(|check| text.split(':').next() == Some(*check)).unwrap_or("syntax");
    Fault { check, node: node.to_owned(), message: text.to_owned() }
}

/// What const evaluation found, by step.
#[doc(hidden)]
#[derive(Debug)]
pub struct Facts<'a, const N: usize> {
    names: [Finding<'a>; N],
}

/// How large the table of names has to be.
#[doc(hidden)]
pub const fn slots(spec: &Spec<'_>) -> usize {
    (4 * (names::count(spec.steps) + 1)).next_power_of_two()
}

/// Checks a workflow of `N` steps.
#[doc(hidden)]
pub const fn facts<'a, const N: usize, const SLOTS: usize>(spec: &Spec<'a>) -> Facts<'a, N> {
    let mut facts = Facts { names: [Finding::None; N] };
    let mut table = [Entry::EMPTY; SLOTS];
    names::find(spec, &mut table, &mut facts.names);
    facts
}

impl<const N: usize> Facts<'_, N> {
    /// Ends const evaluation when something is wrong with a step.
    #[doc(hidden)]
    #[track_caller]
    pub const fn raise(&self, spec: &Spec<'_>, at: usize) {
        if let Some(message) = names::describe(&spec.steps[at], &self.names[at]) {
            panic!("{}", message.as_str());
        }
    }
}

#[cfg(test)]
mod tests;
