//! `workflow!` and `llm::agent!`: normalise -> parse -> plan -> check -> expand. After an error the names alone are expanded.

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

pub(crate) use names::{plain as unraw, type_text, unspanned};
use proc_macro2::TokenStream;

pub(crate) fn workflow(input: TokenStream) -> TokenStream {
    let (tree, mut diagnostics) = parse::workflow(input);
    let mut plan = plan::of(&tree);
    if diagnostics.is_empty() {
        check::workflow(&tree, &mut plan, &mut diagnostics);
    }
    if diagnostics.is_empty() {
        expand::workflow(&tree, &plan)
    } else {
        expand::stub(&tree, &plan, diagnostics.into_tokens())
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
