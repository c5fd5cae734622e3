//! `#[bounds(...)]`, and agents that the workflow declares but never uses.

use super::super::ast::{Bound, BoundValue, DeclKind};
use super::super::names;
use super::fields::duration;
use super::{Expansion, number, numbered_ident, raise};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Expr, Path};

impl Expansion<'_> {
    /// Returns `.limits(...)` of the spec. Checks for const evaluation go to `items`.
    pub(super) fn limits(&self, items: &mut TokenStream) -> Option<TokenStream> {
        let bounds = &self.tree.bounds;
        let all = bounds
            .iter()
            .enumerate()
            .map(|(i, Bound { word, value, .. })| {
                let most = match value {
                    BoundValue::Number(number) => self.bound(&word.to_string(), i, number, items),
                    BoundValue::Time(time) => duration(time),
                    BoundValue::Ends => quote!(true),
                };
                let word = names::without_span(word);
                quote!(.#word(#most))
            });
        let all: Vec<_> = all.collect();
        (!all.is_empty()).then(|| quote!(.limits(__adk::spec::Limits::NONE #(#all)*)))
    }

    /// Returns the calls that raise `bounds-exceeded` under the limits.
    pub(super) fn exceeded(&self) -> TokenStream {
        let name = &self.name;
        let raise = |Bound { word, span, .. }: &Bound| {
            let word = word.to_string();
            let given = quote!(&#name::SPEC, #word, __FACTS.is_faulty());
            raise(*span, quote!(__adk::check::raise_bounds), given)
        };
        self.tree.bounds.iter().map(raise).collect()
    }

    fn bound(&self, word: &str, i: usize, bound: &Expr, items: &mut TokenStream) -> TokenStream {
        if let Expr::Lit(number) = bound {
            return quote!(#number);
        }
        let constant = numbered_ident("BOUND", i);
        let call = raise(
            bound.span(),
            quote!(__adk::check::raise_bound),
            quote!(#word, #constant),
        );
        let number = number(bound, &quote!(bound));
        items.extend(quote!(const #constant: i128 = #number as i128; #call));
        quote!(__adk::check::bound(#constant))
    }

    /// Returns `.unplaced(...)` of the spec: agents that are neither a step nor a target nor a
    /// tool.
    pub(super) fn unplaced(&self) -> Option<TokenStream> {
        let agents = &self.tree.items.agents;
        let mut placed: HashSet<String> = HashSet::new();
        for step in &self.plan.steps {
            let decl = step.declared_number().and_then(|number| agents.get(number));
            placed.extend(decl.map(|decl| names::unraw(&decl.name)));
        }
        for decl in agents {
            if let DeclKind::Llm { fields, .. } = &decl.kind {
                let tools = fields
                    .tools
                    .list
                    .iter()
                    .filter(|tool| tool.is_agent)
                    .map(|tool| &tool.path);
                placed.extend(
                    fields
                        .transfer
                        .iter()
                        .chain(tools)
                        .filter_map(Path::get_ident)
                        .map(names::unraw),
                );
            }
        }
        let names = agents.iter().map(|decl| names::unraw(&decl.name));
        let unplaced: Vec<_> = names.filter(|name| !placed.contains(name)).collect();
        (!unplaced.is_empty()).then(|| quote!(.unplaced(&[#(#unplaced),*])))
    }
}
