//! The type of a key that guards of a `match` may need, and patterns that do not say it, as `Some(_)`.
//!
//! Where a key is missing nothing says its type, and rustc would ask for it (E0282, E0283). So what is wrong with
//! the key is told on the way to its type, by a const that chooses it: the type is an error then, of which rustc says
//! nothing more.

use super::super::ast::{Arm, Block, BlockKind, Key, Match};
use super::super::names;
use super::super::plan::{Step, What};
use super::flow::KEY;
use super::patterns::{is_compared, says_type, takes_all};
use super::{Lower, call, index, numbered};
use proc_macro2::TokenStream;
use quote::quote;

impl Lower<'_> {
    /// The call that raises what is wrong with the key of a block, where the type of the key has to tell it.
    pub(super) fn told_by_type(&self, i: usize) -> Option<TokenStream> {
        let step = self.plan.steps.get(i).filter(|step| self.has_untyped && !step.told)?;
        let is_needed =
            guarded(step).is_some() || (i + 1..self.plan.steps.len()).any(|at| self.is_element(i, at));
        let (span, fits) = self.steering(i, step).filter(|_| is_needed)?;
        let (at, part) = (index(i), index(KEY));
        Some(call(span, quote!(__raise_block), quote!(#at, #part, #fits)))
    }

    /// The type of the key of a `match`.
    pub(super) fn key_to_match(&self, i: usize, choice: &Match) -> TokenStream {
        let (key, told) = (self.key_itself(i), self.told_by_type(i));
        // Of a key whose type is told to be wrong nothing more is said under the patterns.
        let is_mistyped = match (is_compared(choice), &told) {
            (true, _) => {
                let key = choice.key.text();
                quote!(__FACTS.mistypes(#key))
            }
            (false, Some(_)) => quote!(false),
            (false, None) => return key,
        };
        let telling = told.iter();
        let key = quote!(<#key as __typed::OfValue<{ #(#telling;)* #is_mistyped }>>::Value);
        if told.is_none() {
            return key;
        }
        // Of an element nothing is known where its list is missing, which is told by its own type.
        match (0..i).rev().find(|each| self.is_element(*each, i)) {
            Some(each) => {
                let item = numbered("Item", each);
                quote!(<__typed::Both<#key, #item> as __typed::Known>::Type)
            }
            None => key,
        }
    }

    /// Whether a `match` with guards is on the element of an `each`.
    fn is_element(&self, each: usize, choice: usize) -> bool {
        let [Some(each), Some(choice)] = [each, choice].map(|i| self.plan.steps.get(i)) else { return false };
        match each.what {
            What::Block(Block { kind: BlockKind::Each { item, .. }, .. }) => {
                guarded(choice).is_some_and(|key| key.text() == names::plain(item))
            }
            _ => false,
        }
    }
}

/// The key of a `match` whose arms need its type.
pub(super) fn guarded<'a>(step: &Step<'a>) -> Option<&'a Key> {
    let What::Block(Block { kind: BlockKind::Match(choice), .. }) = step.what else { return None };
    let (mut arms, is_said) = (choice.arms.iter(), |arm: &Arm| says_type(&arm.pattern));
    let needs_type = arms.any(|arm| arm.guard.is_some())
        || !choice.arms.iter().any(is_said) && !choice.arms.iter().all(|arm| takes_all(&arm.pattern));
    needs_type.then_some(&choice.key)
}
