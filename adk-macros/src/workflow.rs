//! `workflow!` and `llm::agent!`: parse -> plan -> check -> lower.

mod ast;
mod bare;
mod check;
mod lower;
mod names;
mod parse;
mod plan;
mod report;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use names::{instead_of_keyword, plain as unraw, type_text, unspanned};
use proc_macro2::{Ident, TokenStream};
use syn::Visibility;

/// What `workflow!` expands to.
pub(crate) fn workflow(input: TokenStream) -> TokenStream {
    let (mut tree, mut report) = parse::workflow(input);
    check::functions_as_tools(&mut tree.items.agents, &mut report);
    check::agents_as_tools(&mut tree.items.agents, &mut report);
    check::misspelt_tools(&mut tree.items.agents, &mut report);
    check::circles(&mut tree.items.agents, tree.name.as_ref(), &mut report);
    check::values(&mut tree, &mut report);
    check::leads(&mut tree, &mut report);
    check::reads(&mut tree, &mut report);
    let mut plan = plan::of(&tree);
    check::workflow(&tree, &mut plan, &mut report);
    lower::workflow(&tree, &plan, report)
}

/// The structs of the keys of a workflow, and instead of itself what is said of its name.
pub(crate) fn workflow_alone(
    input: TokenStream,
    say: impl FnOnce(&Visibility, &Ident) -> TokenStream,
) -> TokenStream {
    let (tree, report) = parse::workflow(input);
    let plan = plan::of(&tree);
    lower::workflow_alone(&tree, &plan, report, say)
}

/// Instead of each agent what is said of its name.
pub(crate) fn llm_agent_alone(
    input: TokenStream,
    mut say: impl FnMut(&Visibility, &Ident) -> TokenStream,
) -> TokenStream {
    let (agents, report) = parse::agents(input);
    let mut all: TokenStream = agents.iter().map(|decl| say(&decl.vis, &decl.name)).collect();
    all.extend(report.into_tokens());
    all
}

/// What `llm::agent!` expands to.
pub(crate) fn llm_agent(input: TokenStream) -> TokenStream {
    let (mut agents, mut report) = parse::agents(input);
    check::functions_as_tools(&mut agents, &mut report);
    check::circles(&mut agents, None, &mut report);
    check::agents(&agents, &mut report);
    lower::agents(&agents, report)
}
