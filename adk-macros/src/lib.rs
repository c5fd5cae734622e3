//! Procedural macros of `adk-workflow`. Each macro parses its input, checks it and expands it.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod answerer;
mod code;
mod data;
mod depth;
mod diag;
mod docs;
mod facade;
mod fragments;
mod function;
#[cfg(test)]
mod fuzz;
mod place;
mod resources;
mod typed;
mod types;
mod workflow;

use fragments::inline_fragments;
use proc_macro::TokenStream;

#[doc = include_str!("../docs/agent.md")]
#[proc_macro_attribute]
pub fn agent(args: TokenStream, item: TokenStream) -> TokenStream {
    function::agent(inline_fragments(args.into()), inline_fragments(item.into())).into()
}

#[doc = include_str!("../docs/tool.md")]
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    function::tool(inline_fragments(args.into()), inline_fragments(item.into())).into()
}

#[doc = include_str!("../docs/data.md")]
#[proc_macro_attribute]
pub fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    data::data(args.into(), inline_fragments(item.into())).into()
}

#[doc = include_str!("../docs/resources.md")]
#[proc_macro_derive(Resources, attributes(resource))]
pub fn resources(item: TokenStream) -> TokenStream {
    resources::derive(inline_fragments(item.into())).into()
}

#[doc = include_str!("../docs/links.md")]
#[doc = include_str!("../docs/language.md")]
#[proc_macro]
pub fn workflow(input: TokenStream) -> TokenStream {
    workflow::workflow(inline_fragments(input.into())).into()
}

#[doc = include_str!("../docs/llm_agent.md")]
#[proc_macro]
pub fn llm_agent(input: TokenStream) -> TokenStream {
    workflow::llm_agent(inline_fragments(input.into())).into()
}

/// Returns the `#[cfg(...)]` attributes: the conditions under which an item exists.
fn conditions(attrs: &[syn::Attribute]) -> impl Iterator<Item = &syn::Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}
