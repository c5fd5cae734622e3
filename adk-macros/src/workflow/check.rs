//! What tokens alone can tell. The rest is checked in const evaluation, by `adk_core::check`.

mod circles;
pub(super) mod functions;
mod keys;
mod leads;
mod limits;
mod names;
mod reads;
mod supplied;
mod taken;
mod tools;
mod transfer;
mod values;

pub(super) use circles::circles;
pub(super) use functions::tools as functions_as_tools;
pub(super) use leads::tell as leads;
pub(super) use reads::tell as reads;
pub(super) use tools::{agents as agents_as_tools, misspelt as misspelt_tools};
pub(super) use values::tell as values;

use super::ast::{Decl, DeclKind, Typed, Workflow};
use super::names::plain;
use super::plan::Plan;
use super::report::Report;
use std::collections::HashSet;

/// Looks at a whole workflow and marks the steps whose faults are reported.
pub(super) fn workflow<'a>(tree: &'a Workflow, plan: &mut Plan<'a>, report: &mut Report) {
    names::workflow(tree, report);
    names::declared(&tree.items.agents, report);
    tools::workflow(&tree.items.agents, report);
    transfer::workflow(tree, plan, report);
    supplied::steps(tree, plan, report);
    functions::steps(plan, report);
    names::steps(tree, plan, report);
    keys::workflow(tree, plan, report);
    limits::workflow(tree, plan, report);
    if let Some(name) = &tree.name {
        let steps = plan.steps.iter().filter(|step| !step.told).filter_map(names::path);
        // What is declared here is another one than what has its name outside.
        let own: HashSet<_> = tree.items.agents.iter().map(|decl| &decl.name).collect();
        let is_own = |path: &&syn::Path| path.get_ident().is_some_and(|name| own.contains(name));
        let tools = tree.items.agents.iter().flat_map(circles::tools).filter(|path| !is_own(path));
        crate::calls::know(&plain(name), steps.chain(tools));
    }
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
pub(super) fn agents(agents: &[Decl], report: &mut Report) {
    for decl in agents {
        if !matches!(decl.kind, DeclKind::Llm { .. }) {
            report.at(
                decl.name.span(),
                "syntax: outside of a workflow an agent has its fields in `{ }`; help: a type that implements `Agent` needs no declaration",
            );
        }
    }
    names::declared(agents, report);
    transfer::outside(agents, report);
}
