//! `Wired::select`: rustc itself judges the arms of a `match`, on a match over the value of the key.

use super::super::ast::{BlockKind, Match};
use super::super::names::unspanned;
use super::super::plan::What;
use super::{Expansion, index, numbered};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Pat;

impl Expansion<'_> {
    /// A function per `match` that tells the arm of a value.
    pub(super) fn choices(&self) -> TokenStream {
        self.matches().map(|(i, choice)| self.choice(i, choice)).collect()
    }

    /// The method of `Wired` that calls them.
    pub(super) fn select(&self) -> Option<TokenStream> {
        let mut arms = self.matches().map(|(i, _)| {
            let (at, function) = (index(i), numbered("select", i));
            quote!(#at => #function(__value),)
        });
        let first = arms.next()?;
        Some(quote! {
            fn select(&self, __step: usize, __value: &__adk::serde_json::Value) -> __adk::Result<usize> {
                match __step {
                    #first
                    #(#arms)*
                    _ => ::core::result::Result::Ok(0),
                }
            }
        })
    }

    fn matches(&self) -> impl Iterator<Item = (usize, &Match)> {
        self.plan.steps.iter().enumerate().filter_map(|(i, step)| match step.what {
            What::Block(block) => match &block.kind {
                BlockKind::Match(choice) => Some((i, choice)),
                _ => None,
            },
            _ => None,
        })
    }

    fn choice(&self, i: usize, choice: &Match) -> TokenStream {
        let (function, ty, key) = (numbered("select", i), numbered("Key", i), choice.key.text());
        let key_type = self.key_itself(i);
        // Brackets at the user's key, since rustc points at what is matched. A name there would be a definition to editors.
        let name = unspanned(&choice.key.name);
        let subject = quote_spanned!(choice.key.name.span()=> { #name });
        let last = choice.arms.len().saturating_sub(1);
        let arms = choice.arms.iter().enumerate().map(|(at, arm)| {
            let (pattern, guard) = (&arm.pattern, arm.guard.iter());
            let mut number = Literal::usize_unsuffixed(at);
            if at == last {
                // From another context than the rest, so that rustc does not offer to add an arm after it.
                number.set_span(Span::mixed_site());
            }
            quote!(#pattern #(if #guard)* => #number)
        });
        // After the only arm of a match rustc would offer one all the same.
        let first = (last == 0).then(|| quote!(_ if false => 0,));
        // Where nothing gives the value a type, rustc would ask for one.
        let untyped = choice.arms.iter().all(|arm| arm.guard.is_none() && takes_all(&arm.pattern));
        let read = Ident::new(if untyped { "__any" } else { "__read" }, Span::call_site());
        let value = Ident::new("__value", Span::mixed_site());
        quote! {
            type #ty = #key_type;
            #[allow(unused_variables, unused_mut)]
            fn #function(#value: &__adk::serde_json::Value) -> __adk::Result<usize> {
                let #name = (&__wire::MatchReader::<#ty>::NEW).#read(#key, #value)?;
                ::core::result::Result::Ok(match #subject { #first #(#arms),* })
            }
        }
    }
}

/// Whether a pattern takes a value of any type: `_`, or a name.
fn takes_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => name.subpat.is_none() && !name.ident.to_string().starts_with(char::is_uppercase),
        Pat::Paren(inner) => takes_all(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(takes_all),
        _ => false,
    }
}
