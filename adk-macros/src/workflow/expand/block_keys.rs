//! The key types of blocks, and the types that the workflow itself reads and writes.

use super::super::ast::{BlockKind, KeyDecl};
use super::super::plan::{Step, StepKind};
use super::{Expansion, numbered_ident};
use crate::code::code;
use crate::typed::TypePairs;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Pat;

impl Expansion<'_> {
    /// Returns the text of the type of a block's key, as the first writer of the key declares it.
    fn key(&self, at: usize) -> String {
        let holder = self.holder_of(&format!("__block({at}, 0)"));
        format!(
            "__typed::KeyOf<{holder}, {{ __block({at}, 0) }}, {{ __block({at}, 1) }}, {{ \
             __block({at}, 2) }}>"
        )
    }

    /// Returns the type of a block's key as tokens.
    pub(super) fn key_itself(&self, at: usize) -> TokenStream {
        code!("<{} as __typed::KnownType>::Type", self.key(at))
    }

    /// Returns the span of a block's key, and whether its type can control the block.
    pub(super) fn block_key_check(&self, i: usize, step: &Step<'_>) -> Option<(Span, TokenStream)> {
        let StepKind::Block(block) = step.kind else {
            return None;
        };
        let (key, fits) = match &block.kind {
            BlockKind::Loop {
                until: Some(until), ..
            } => (
                until,
                code!("__typed::Fits::<{}, __typed::Is<bool>>::YES", self.key(i)),
            ),
            BlockKind::Match(choice) if choice.arms.iter().any(|arm| takes_some(&arm.pattern)) => {
                let ty = numbered_ident("Key", i);
                (&choice.key, quote!(__typed::KeyFacts::<#ty>::OPTION))
            }
            BlockKind::Match(choice) => (&choice.key, quote!(true)),
            BlockKind::Each { list, .. } => {
                let alias = numbered_ident("List", i);
                (list, quote!(__typed::KeyFacts::<#alias>::LIST != 0))
            }
            _ => return None,
        };
        Some((key.name.span(), fits))
    }

    /// Implements `Typed`, for the workflow as a step of another workflow.
    pub(super) fn typed(&self) -> TokenStream {
        let name = &self.name;
        let reads = self.tree.inputs.iter().map(|input| {
            let ty = &input.typed.ty;
            (ty, quote!(__typed::Is<#ty>))
        });
        let writes = self
            .tree
            .outputs
            .iter()
            .map(|typed| (&typed.ty, typed.ty.to_token_stream()));
        implement(name, reads.collect(), writes.collect())
    }
}

/// Returns whether a pattern contains the `Some` of an `Option`. A `None` may be a variant of an
/// enum of the user.
fn takes_some(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(variant) => variant
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Some"),
        Pat::Ident(name) => name
            .subpat
            .as_ref()
            .is_some_and(|(_, inner)| takes_some(inner)),
        Pat::Paren(inner) => takes_some(&inner.pat),
        Pat::Reference(inner) => takes_some(&inner.pat),
        Pat::Or(all) => all.cases.iter().any(takes_some),
        _ => false,
    }
}

/// Implements `Typed` for an LLM agent. The list of read types is empty, because a prompt accepts a
/// key of any type.
pub(super) fn agent_types(name: &Ident, output: Option<&KeyDecl>) -> TokenStream {
    let writes = output
        .iter()
        .map(|typed| (&typed.ty, typed.ty.to_token_stream()));
    implement(name, Vec::new(), writes.collect())
}

fn implement(name: &Ident, reads: TypePairs<'_>, writes: TypePairs<'_>) -> TokenStream {
    crate::typed::implement(&quote!(impl __typed::Typed for #name), &reads, &writes)
}
