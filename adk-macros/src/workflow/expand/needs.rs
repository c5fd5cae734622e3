//! `Needs`: what a workflow, or an agent outside of one, takes from the program by its steps and tools.

use super::super::ast::DeclKind;
use super::fields::tool_types;
use super::{Expansion, numbered};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

impl Expansion<'_> {
    /// The bound on what the steps and the tools of its agents take.
    pub(super) fn needs(&self) -> TokenStream {
        let steps = self.plan.all().filter(|(_, step)| self.placed_type(step).is_some());
        let steps = steps.map(|(i, _)| numbered("Agent", i));
        let agents = self.tree.items.agents.iter().enumerate();
        let tools = agents.filter_map(|(number, decl)| match &decl.kind {
            DeclKind::Llm { fields, .. } => Some(tool_types(number, fields, &|path| self.own_agent(path))),
            _ => None,
        });
        let name = &self.name;
        let bounds: Vec<_> = steps.chain(tools.flatten()).map(bound).collect();
        let says = says(name, &bounds);
        quote! {
            impl<__R: ?::core::marker::Sized> __adk::resources::Needs<__R> for #name where #(#bounds)* {}
            #says
        }
    }
}

/// The same of an agent of `llm::agent!`, by its tools.
pub(super) fn of_agent(name: &Ident, tools: Vec<Ident>) -> TokenStream {
    let bounds: Vec<_> = tools.into_iter().map(bound).collect();
    let says = says(name, &bounds);
    let needs = says.is_some().then(|| {
        quote!(impl<__R: ?::core::marker::Sized> __adk::resources::Needs<__R> for #name where #(#bounds)* {})
    });
    quote!(#needs #says)
}

fn bound(of: Ident) -> TokenStream {
    quote!(<#of as __adk::resources::NeedsOf<{ __wire::ItemFacts::<#of>::NEEDS }>>::Type: __adk::resources::Needs<__R>,)
}

/// Nobody asks one that needs nothing.
fn says(name: &Ident, bounds: &[TokenStream]) -> Option<TokenStream> {
    (!bounds.is_empty()).then(|| quote!(impl __adk::resources::DeclaresNeeds for #name {}))
}
