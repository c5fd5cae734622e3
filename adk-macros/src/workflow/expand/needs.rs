//! `Needs`: the resources that a workflow or a single agent requires for its steps and tools.

use super::super::ast::DeclKind;
use super::fields::tool_types;
use super::{Expansion, numbered_ident};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

impl Expansion<'_> {
    /// Returns the bound on the resources that the steps and the tools of agents require.
    pub(super) fn needs(&self) -> TokenStream {
        let steps = self
            .plan
            .entries()
            .filter(|(_, step)| self.placed_type(step).is_some());
        let steps = steps.map(|(i, _)| numbered_ident("Agent", i));
        let agents = self.tree.items.agents.iter().enumerate();
        let tools = agents.filter_map(|(number, decl)| match &decl.kind {
            DeclKind::Llm { fields, .. } => {
                Some(tool_types(number, fields, &|path| self.own_agent(path)))
            }
            _ => None,
        });
        let name = &self.name;
        let bounds: Vec<_> = steps.chain(tools.flatten()).map(bound).collect();
        let says = needs_impl(name, &bounds);
        quote! {
            impl<__R: ?::core::marker::Sized> __adk::resources::Needs<__R> for #name
            where #(#bounds)* {}
            #says
        }
    }
}

/// Returns the bound for an agent of `llm::agent!`, on the resources of its tools and targets.
pub(super) fn agent_needs(name: &Ident, required: Vec<Ident>) -> TokenStream {
    let bounds: Vec<_> = required.into_iter().map(bound).collect();
    let says = needs_impl(name, &bounds);
    let needs = says.is_some().then(|| {
        quote! {
            impl<__R: ?::core::marker::Sized> __adk::resources::Needs<__R> for #name
            where #(#bounds)* {}
        }
    });
    quote!(#needs #says)
}

fn bound(ty: Ident) -> TokenStream {
    let needs = quote!(__adk::resources::NeedsOf<{ __wire::ItemFacts::<#ty>::NEEDS }>);
    quote!(<#ty as #needs>::Type: __adk::resources::Needs<__R>,)
}

/// An agent without needs requires no impl.
fn needs_impl(name: &Ident, bounds: &[TokenStream]) -> Option<TokenStream> {
    (!bounds.is_empty()).then(|| quote!(impl __adk::resources::DeclaresNeeds for #name {}))
}
