//! `Wired::select`: rustc itself judges the arms of a `match`, on a match over the value of the key.

use super::super::ast::{BlockKind, Match};
use super::super::plan::What;
use super::patterns::{is_compared, takes_all};
use super::{Lower, index, numbered};
use crate::bare;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashMap;
use syn::{Pat, Type};

impl Lower<'_> {
    /// A function per `match` that tells the arm of a value.
    pub(super) fn choices(&self) -> TokenStream {
        let mut declared: HashMap<String, Vec<&Type>> = HashMap::new();
        self.all_declared()
            .for_each(|(typed, _)| declared.entry(typed.key.text()).or_default().push(&typed.ty));
        let types = |choice: &Match| declared.get(&choice.key.text()).map_or(&[][..], Vec::as_slice);
        self.matches().map(|(i, choice)| self.choice(i, choice, types(choice))).collect()
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

    /// Those whose arms could be read.
    fn matches(&self) -> impl Iterator<Item = (usize, &Match)> {
        self.plan.steps.iter().enumerate().filter_map(|(i, step)| match step.what {
            What::Block(block) => match &block.kind {
                BlockKind::Match(choice) if choice.whole && !choice.arms.is_empty() => {
                    // What could not be read may have said the type, for which rustc would ask behind a guard.
                    let unknown = self.tree.partial && choice.arms.iter().all(|arm| takes_all(&arm.pattern));
                    (!unknown).then_some((i, choice))
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// Their patterns.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pat> {
        self.matches().flat_map(|(_, choice)| choice.arms.iter().map(|arm| &arm.pattern))
    }

    fn choice(&self, i: usize, choice: &Match, declared: &[&Type]) -> TokenStream {
        let (function, ty, key) = (numbered("select", i), numbered("Key", i), choice.key.text());
        let key_type =
            declared.iter().fold(self.key_to_match(i, choice), |ty, declared| bare::declared(ty, declared));
        let key_type = choice.arms.iter().fold(key_type, |ty, arm| bare::matched(ty, &arm.pattern));
        // Brackets at the user's key, since rustc points at what is matched. A name there would be a definition to
        // editors.
        let name = crate::twice::binding(&choice.key.name);
        let subject = quote_spanned!(choice.key.name.span()=> { #name });
        let last = choice.arms.len().saturating_sub(1);
        let arms = choice.arms.iter().enumerate().map(|(at, arm)| {
            let (pattern, guard) = (&arm.pattern, arm.guard.iter());
            let mut number = Literal::usize_unsuffixed(at);
            if at == last {
                // From another context than the rest, so that rustc does not offer to add an arm behind it.
                number.set_span(Span::mixed_site());
            }
            quote!(#pattern #(if #guard)* => #number)
        });
        // Behind the only arm of a match rustc would offer one all the same.
        let first = (last == 0).then(|| quote!(_ if false => 0,));
        // Where nothing gives the value a type, rustc would ask for one.
        let untyped = choice.arms.iter().all(|arm| arm.guard.is_none() && takes_all(&arm.pattern));
        let place = crate::code::place(&choice.key.name);
        let value = Ident::new("__value", Span::mixed_site());
        let value_of = if is_compared(choice) {
            // rustc points at the type before the `as`.
            let at = Ident::new(&ty.to_string(), place);
            quote_spanned!(place=> <#at as __wire::Compared<_, _>>::compared)
        } else {
            let read = Ident::new(if untyped { "__any" } else { "__read" }, place);
            quote!((&__wire::Reader::<#ty>::NEW).#read)
        };
        quote! {
            type #ty = #key_type;
            #[allow(unused_variables, unused_mut)]
            fn #function(#value: &__adk::serde_json::Value) -> __adk::Result<usize> {
                let #name = #value_of(#key, #value)?;
                ::core::result::Result::Ok(match #subject { #first #(#arms),* })
            }
        }
    }
}
