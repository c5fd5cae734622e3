//! `workflow!` and `llm::agent!`, in five phases: normalise, parse, plan, check and expand. After
//! an error only names are expanded, and for a workflow that could be parsed also the checks that
//! const evaluation makes.

mod ast;
mod check;
mod expand;
mod names;
mod normalise;
pub(crate) mod parse;
mod plan;
#[cfg(test)]
mod tests;
mod text;

use expand::KnownParts;
pub(crate) use names::{type_text, unraw, without_span};
use proc_macro2::TokenStream;

pub(crate) fn workflow(input: TokenStream) -> TokenStream {
    let (mut tree, mut diagnostics) = parse::workflow(input);
    if !diagnostics.has_known_flow() {
        let plan = plan::flatten(&tree);
        return expand::stub(&tree, &plan, KnownParts::Nothing, diagnostics.into_tokens());
    }
    let mut found = check::mend(&mut tree);
    let mut plan = plan::flatten(&tree);
    check::workflow(&tree, &mut plan, &mut found);
    let known = if found.has(&check::NAMES) {
        KnownParts::Names
    } else {
        KnownParts::Flow
    };
    diagnostics.extend(found);
    if diagnostics.is_empty() {
        expand::workflow(&tree, &plan)
    } else {
        expand::stub(&tree, &plan, known, diagnostics.into_tokens())
    }
}

pub(crate) fn llm_agent(input: TokenStream) -> TokenStream {
    let (agents, mut diagnostics) = parse::agents(input);
    if diagnostics.is_empty() {
        check::agents(&agents, &mut diagnostics);
    }
    if diagnostics.is_empty() {
        expand::agents(&agents)
    } else {
        expand::stubs(&agents, &diagnostics.into_tokens())
    }
}
