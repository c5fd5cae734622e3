//! `#[bounds(...)]`, and agents that are never placed.

use super::super::ast::DeclKind;
use super::super::names;
use super::{Expansion, number, numbered, raise};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Expr, Path};

impl Expansion<'_> {
    /// `.limits(...)` of the spec; what const evaluation has to look at goes to `items`.
    pub(super) fn limits(&self, items: &mut TokenStream) -> Option<TokenStream> {
        let bounds = &self.tree.bounds;
        if bounds.model_calls.is_none() && bounds.rounds.is_none() {
            return None;
        }
        let model_calls = self.bound("model_calls", 0, bounds.model_calls.as_ref(), items);
        let rounds = self.bound("rounds", 1, bounds.rounds.as_ref(), items);
        Some(quote!(.limits(__adk::spec::Limits::new(#model_calls, #rounds))))
    }

    /// Raises `bounds-exceeded` under what was allowed.
    pub(super) fn exceeded(&self) -> TokenStream {
        let (name, bounds) = (&self.name, &self.tree.bounds);
        let allowed = [(&bounds.model_calls, false), (&bounds.rounds, true)].into_iter();
        let places = allowed.filter_map(|(allowed, rounds)| allowed.as_ref().map(|at| (at.span(), rounds)));
        let raise = |(at, rounds)| {
            let given = quote!(&#name::SPEC, #rounds, __FACTS.is_faulty());
            raise(at, quote!(__adk::check::raise_bounds), given)
        };
        places.map(raise).collect()
    }

    fn bound(&self, word: &str, i: usize, bound: Option<&Expr>, items: &mut TokenStream) -> TokenStream {
        match bound {
            None => quote!(::core::option::Option::None),
            Some(Expr::Lit(number)) => quote!(::core::option::Option::Some(#number)),
            Some(expr) => {
                let constant = numbered("BOUND", i);
                let call = raise(expr.span(), quote!(__adk::check::raise_bound), quote!(#word, #constant));
                let number = number(expr, &quote!(bound));
                items.extend(quote!(const #constant: i128 = #number as i128; #call));
                quote!(::core::option::Option::Some(__adk::check::bound(#constant)))
            }
        }
    }

    /// `.unplaced(...)` of the spec: agents that are neither a step nor a target nor a tool.
    pub(super) fn unplaced(&self) -> Option<TokenStream> {
        let agents = &self.tree.items.agents;
        let mut placed: HashSet<String> = HashSet::new();
        for step in &self.plan.steps {
            let decl = step.declared().and_then(|number| agents.get(number));
            placed.extend(decl.map(|decl| names::plain(&decl.name)));
        }
        for decl in agents {
            if let DeclKind::Llm { fields, .. } = &decl.kind {
                let tools = fields.tools.iter().filter(|tool| tool.is_agent).map(|tool| &tool.path);
                placed.extend(
                    fields.transfer.iter().chain(tools).filter_map(Path::get_ident).map(names::plain),
                );
            }
        }
        let names = agents.iter().map(|decl| names::plain(&decl.name));
        let unplaced: Vec<_> = names.filter(|name| !placed.contains(name)).collect();
        (!unplaced.is_empty()).then(|| quote!(.unplaced(&[#(#unplaced),*])))
    }
}
