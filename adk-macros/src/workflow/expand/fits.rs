//! The types of the keys of blocks, and those that the workflow itself reads and writes.

use super::super::ast::{BlockKind, Typed};
use super::super::plan::{Step, What};
use super::{Expansion, numbered};
use crate::code::code;
use crate::typed::Made;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Pat;

impl Expansion<'_> {
    /// The type of the key of a block, as its first writer says.
    fn key(&self, at: usize) -> String {
        let holder = self.holder_of(&format!("__block({at}, 0)"));
        format!(
            "__typed::KeyOf<{holder}, {{ __block({at}, 0) }}, {{ __block({at}, 1) }}, {{ __block({at}, 2) }}>"
        )
    }

    /// The type of the key of a block, as itself.
    pub(super) fn key_itself(&self, at: usize) -> TokenStream {
        code!("<{} as __typed::KnownType>::Type", self.key(at))
    }

    /// The key of a block, and whether its type is one that steers the block.
    pub(super) fn steering(&self, i: usize, step: &Step<'_>) -> Option<(Span, TokenStream)> {
        let What::Block(block) = step.what else { return None };
        let (key, fits) = match &block.kind {
            BlockKind::Loop { until: Some(until), .. } => {
                (until, code!("__typed::Fits::<{}, __typed::Is<bool>>::YES", self.key(i)))
            }
            BlockKind::Match(choice) if choice.arms.iter().any(|arm| takes_some(&arm.pattern)) => {
                let ty = numbered("Key", i);
                (&choice.key, quote!(__typed::KeyFacts::<#ty>::OPTION))
            }
            BlockKind::Match(choice) => (&choice.key, quote!(true)),
            BlockKind::Each { list, .. } => {
                let alias = numbered("List", i);
                (list, quote!(__typed::KeyFacts::<#alias>::LIST != 0))
            }
            _ => return None,
        };
        Some((key.name.span(), fits))
    }

    /// `impl Typed`, for the workflow as a step of another.
    pub(super) fn typed(&self) -> TokenStream {
        let name = &self.name;
        let reads = self.tree.inputs.iter().map(|input| {
            let ty = &input.typed.ty;
            (ty, quote!(__typed::Is<<#ty as __typed::OfValue<{ __typed::KeyFacts::<#ty>::VALUE }>>::Value>))
        });
        let writes = self.tree.outputs.iter().map(|typed| (&typed.ty, typed.ty.to_token_stream()));
        implement(name, reads.collect(), writes.collect())
    }
}

/// Whether a pattern takes the `Some` of an `Option`. By `None` alone it may be a variant of an enum of the user's.
fn takes_some(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(variant) => variant.path.segments.last().is_some_and(|last| last.ident == "Some"),
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, inner)| takes_some(inner)),
        Pat::Paren(inner) => takes_some(&inner.pat),
        Pat::Reference(inner) => takes_some(&inner.pat),
        Pat::Or(all) => all.cases.iter().any(takes_some),
        _ => false,
    }
}

/// The types of an LLM agent: prompts take any value.
pub(super) fn written(name: &Ident, output: Option<&Typed>) -> TokenStream {
    let writes = output.iter().map(|typed| (&typed.ty, typed.ty.to_token_stream()));
    implement(name, Vec::new(), writes.collect())
}

fn implement(name: &Ident, reads: Made<'_>, writes: Made<'_>) -> TokenStream {
    crate::typed::implement(&quote!(impl __typed::Typed for #name), &reads, &writes)
}
