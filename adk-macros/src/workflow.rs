//! `workflow!` and `llm::agent!`: parse -> plan -> check -> lower. After an error the names alone are lowered.

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

pub(crate) use names::{instead_of_keyword, nearest, plain as unraw, type_text, unspanned};
use proc_macro2::TokenStream;

/// What `workflow!` expands to.
pub(crate) fn workflow(input: TokenStream) -> TokenStream {
    let (tree, mut report) = parse::workflow(input);
    let mut plan = plan::of(&tree);
    check::workflow(&tree, &mut plan, &mut report);
    if report.len() == 0 {
        lower::workflow(&tree, &plan)
    } else {
        lower::stub(&tree, &plan, report.into_tokens())
    }
}

/// What `llm::agent!` expands to.
pub(crate) fn llm_agent(input: TokenStream) -> TokenStream {
    let (agents, mut report) = parse::agents(input);
    check::agents(&agents, &mut report);
    if report.len() == 0 { lower::agents(&agents) } else { lower::stubs(&agents, &report.into_tokens()) }
}
