//! What tokens alone can tell. The rest is checked in const evaluation, by `adk_spec::check`.

mod keys;
mod limits;
mod names;
mod taken;
mod tools;
mod transfer;

use super::ast::{Decl, DeclKind, Typed, Workflow};
use super::plan::Plan;
use crate::diag::Diagnostics;
use adk_spec::Check;

/// The checks that compare names.
pub(super) const NAMES: [Check; 4] =
    [Check::AgentReused, Check::NameDuplicate, Check::NameInvalid, Check::NameReserved];

/// Takes limits that are keys for 1, and reports them.
pub(super) fn limits(tree: &mut Workflow) -> Diagnostics {
    let mut report = Diagnostics::default();
    limits::workflow(tree, &mut report);
    report
}

pub(super) fn workflow<'a>(tree: &'a Workflow, plan: &mut Plan<'a>, report: &mut Diagnostics) {
    transfer::workflow(tree, plan, report);
    names::workflow(tree, report);
    names::declared(&tree.items.agents, report);
    tools::workflow(&tree.items.agents, report);
    names::steps(tree, plan, report);
    keys::workflow(tree, plan, report);
}

/// The keys that a workflow declares, but for those of its steps.
fn declared(tree: &Workflow) -> impl Iterator<Item = &Typed> {
    let inputs = tree.inputs.iter().map(|input| &input.typed);
    let lets = tree.items.lets.iter().map(|one| &one.typed);
    let outputs = tree.items.agents.iter().filter_map(|decl| match &decl.kind {
        DeclKind::Llm { output, .. } | DeclKind::Described { output, .. } => output.as_deref(),
        DeclKind::Given { .. } => None,
    });
    inputs.chain(lets).chain(&tree.items.states).chain(outputs).chain(&tree.outputs)
}

/// Looks at agents outside of a workflow.
pub(super) fn agents(agents: &[Decl], report: &mut Diagnostics) {
    for decl in agents {
        if !matches!(decl.kind, DeclKind::Llm { .. }) {
            report.at(
                Check::Syntax,
                decl.name.span(),
                "outside of a workflow an agent has its fields in `{ }`; help: a type that implements `Agent` needs no declaration",
            );
        }
    }
    names::declared(agents, report);
    transfer::outside(agents, report);
}
