//! `StepTable::select`: rustc checks the arms of a `match`, in a match on the value of the key.

use super::super::ast::{BlockKind, Match};
use super::super::names::without_span;
use super::super::plan::StepKind;
use super::{Expansion, index, numbered_ident};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Pat;

impl Expansion<'_> {
    /// Returns one function per `match` that selects the arm for a value.
    pub(super) fn choices(&self) -> TokenStream {
        self.matches()
            .map(|(i, choice)| self.choice(i, choice))
            .collect()
    }

    /// Returns the method of `StepTable` that calls these functions.
    pub(super) fn select(&self) -> Option<TokenStream> {
        let mut arms = self.matches().map(|(i, _)| {
            let (at, function) = (index(i), numbered_ident("select", i));
            quote!(#at => #function(__value),)
        });
        let first = arms.next()?;
        Some(quote! {
            fn select(
                &self,
                __step: usize,
                __value: &__adk::serde_json::Value,
            ) -> __adk::Result<usize> {
                match __step {
                    #first
                    #(#arms)*
                    _ => ::core::result::Result::Ok(0),
                }
            }
        })
    }

    fn matches(&self) -> impl Iterator<Item = (usize, &Match)> {
        self.plan
            .steps
            .iter()
            .enumerate()
            .filter_map(|(i, step)| match step.kind {
                StepKind::Block(block) => match &block.kind {
                    BlockKind::Match(choice) => Some((i, choice)),
                    _ => None,
                },
                _ => None,
            })
    }

    fn choice(&self, i: usize, choice: &Match) -> TokenStream {
        let (function, ty, key) = (
            numbered_ident("select", i),
            numbered_ident("Key", i),
            choice.key.text(),
        );
        let key_type = self.key_itself(i);
        // The brackets have the span of the user's key, since rustc points at the matched value. A
        // name with this span would be a definition for editors.
        let name = without_span(&choice.key.name);
        let subject = quote_spanned!(choice.key.name.span()=> { #name });
        let last = choice.arms.len().saturating_sub(1);
        let arms = choice.arms.iter().enumerate().map(|(at, arm)| {
            let (pattern, guard) = (&arm.pattern, arm.guard.iter());
            let mut number = Literal::usize_unsuffixed(at);
            if at == last {
                // The context differs from the other arms, so that rustc does not suggest an arm
                // after the last.
                number.set_span(Span::mixed_site());
            }
            quote!(#pattern #(if #guard)* => #number)
        });
        // After the only arm of a match, rustc would suggest another arm despite the context.
        let first = (last == 0).then(|| quote!(_ if false => 0,));
        // If no pattern determines the type of the value, rustc would ask for a type.
        let untyped = choice
            .arms
            .iter()
            .all(|arm| arm.guard.is_none() && takes_all(&arm.pattern));
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

/// Returns whether a pattern accepts values of any type: `_`, or a name.
fn takes_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => {
            name.subpat.is_none() && !name.ident.to_string().starts_with(char::is_uppercase)
        }
        Pat::Paren(inner) => takes_all(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(takes_all),
        _ => false,
    }
}
