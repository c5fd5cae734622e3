//! Checks that need tokens only. `adk_spec::check` makes all other checks in const evaluation.

mod arrows;
mod guards;
mod keys;
mod limits;
mod name_owner;
mod names;
mod tools;
mod transfer;

use super::ast::{BlockKind, Decl, DeclKind, KeyDecl, Node, Workflow};
use super::plan::Plan;
use crate::diag::Diagnostics;
use adk_spec::Check;

/// The checks that compare names.
pub(super) const NAMES: [Check; 4] = [
    Check::AgentReused,
    Check::NameDuplicate,
    Check::NameInvalid,
    Check::NameReserved,
];

/// Reports errors that prevent the analysis of the flow, and removes their causes from the tree.
pub(super) fn mend(tree: &mut Workflow) -> Diagnostics {
    let mut report = Diagnostics::default();
    limits::workflow(tree, &mut report);
    tools::circles(tree, &mut report);
    arrows::workflow(tree, &mut report);
    report
}

/// Visits all nodes, including the nodes inside blocks.
fn visit_nodes(nodes: &mut [Node], look: &mut dyn FnMut(&mut Node)) {
    for node in nodes {
        look(node);
        let Node::Block(block) = node else { continue };
        visit_nodes(&mut block.nodes, look);
        match &mut block.kind {
            BlockKind::Match(choice) => {
                let arms = choice.arms.iter_mut().filter_map(|arm| arm.node.as_mut());
                arms.for_each(|node| visit_nodes(std::slice::from_mut(node), look));
            }
            BlockKind::Try(tried) => {
                visit_nodes(tried.otherwise.as_deref_mut().unwrap_or_default(), look)
            }
            _ => {}
        }
    }
}

pub(super) fn workflow<'a>(tree: &'a Workflow, plan: &mut Plan<'a>, report: &mut Diagnostics) {
    transfer::workflow(tree, plan, report);
    names::workflow(tree, report);
    names::agents(&tree.items.agents, report);
    tools::workflow(&tree.items.agents, report);
    names::steps(tree, plan, report);
    keys::workflow(tree, plan, report);
    if let Some(guards) = &tree.guards {
        guards::workflow(tree, guards, report);
    }
}

/// Returns the keys that a workflow declares, except the keys of its steps.
fn declared_keys(tree: &Workflow) -> impl Iterator<Item = &KeyDecl> {
    let inputs = tree.inputs.iter().map(|input| &input.typed);
    let lets = tree.items.lets.iter().map(|one| &one.typed);
    let outputs = tree
        .items
        .agents
        .iter()
        .filter_map(|decl| match &decl.kind {
            DeclKind::Llm { output, .. } | DeclKind::Described { output, .. } => output.as_deref(),
            DeclKind::Supplied { .. } => None,
        });
    inputs
        .chain(lets)
        .chain(&tree.items.states)
        .chain(outputs)
        .chain(&tree.outputs)
}

/// Checks agents outside a workflow.
pub(super) fn agents(agents: &[Decl], report: &mut Diagnostics) {
    for decl in agents {
        if !matches!(decl.kind, DeclKind::Llm { .. }) {
            report.add(
                Check::Syntax,
                decl.name.span(),
                "outside of a workflow an agent has its fields in `{ }`; help: remove it: a type \
                 that implements `Agent` needs no declaration",
            );
        }
    }
    names::agents(agents, report);
    tools::single_agent_circles(agents, report);
    transfer::single_agents(agents, report);
}
