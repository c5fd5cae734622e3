//! `workflow!` and `llm::agent!`: parse -> plan -> check -> lower.

mod ast;
mod check;
mod lower;
mod names;
mod parse;
mod plan;
mod report;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use names::type_text;
use proc_macro2::TokenStream;

/// What `workflow!` expands to.
pub(crate) fn workflow(input: TokenStream) -> TokenStream {
    let (mut tree, mut report) = parse::workflow(input);
    check::circles(&mut tree.items.agents, tree.name.as_ref(), &mut report);
    let mut plan = plan::of(&tree);
    check::workflow(&tree, &mut plan, &mut report);
    lower::workflow(&tree, &plan, report)
}

/// What `llm::agent!` expands to.
pub(crate) fn llm_agent(input: TokenStream) -> TokenStream {
    let (mut agents, mut report) = parse::agents(input);
    check::circles(&mut agents, None, &mut report);
    check::agents(&agents, &mut report);
    lower::agents(&agents, report)
}
