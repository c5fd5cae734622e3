//! The macros of `adk-workflow`: parse -> check -> lower, nothing else.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod facade;
mod workflow;

use proc_macro::TokenStream;

/// Writes a workflow of agents: inputs, outputs, agents, and a body of steps.
#[proc_macro]
pub fn workflow(input: TokenStream) -> TokenStream {
    workflow::workflow(input.into()).into()
}

/// Declares an LLM agent outside of a workflow, in the grammar of `workflow!`; workflows use it by its path.
#[proc_macro]
pub fn llm_agent(input: TokenStream) -> TokenStream {
    workflow::llm_agent(input.into()).into()
}
