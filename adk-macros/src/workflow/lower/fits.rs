//! What is compared by traits: whether the types that a step says fit those of its keys.

use super::super::ast::{BlockKind, Typed};
use super::super::plan::{Step, What};
use super::flow::Types;
use super::{Lower, numbered};
use crate::code::{code, read};
use crate::typed::{FEW, Made, READS, WRITES};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

impl Lower<'_> {
    /// Whether the keys that a step reads and writes have the types that it says.
    pub(super) fn fits(&self, i: usize, known: &Types) -> TokenStream {
        match known {
            Types::Nothing | Types::Writes(None) => quote!(true),
            Types::Writes(Some(ty)) => {
                let written = read(&self.key(i, 0, false));
                quote!(__typed::Fits::<#written, #ty>::YES)
            }
            Types::Declared { reads, writes } => {
                let read = (0..reads.len()).map(|slot| read(&self.key(i, slot, true)));
                let written = writes.iter().map(|_| crate::code::read(&self.key(i, 0, false)));
                let writes = writes.iter();
                quote!(__typed::Fits::<((#(#read,)*), (#(#written,)*)), ((#(#reads,)*), (#(#writes,)*))>::YES)
            }
            Types::Agent { further } => {
                let one = |slot, reads| self.key(i, slot, reads);
                let keys = |slots: std::ops::Range<usize>, reads| {
                    slots.map(|slot| format!("{},", one(slot, reads))).collect::<String>()
                };
                let few = keys(0..FEW, true);
                let types = format!("<__Types_{i} as __typed::Typed>");
                if *further {
                    let (more, written) = (keys(FEW..READS, true), keys(0..WRITES, false));
                    return code!(
                        "__typed::Fits::<
                            (({few}), ({more}), ({written})),
                            ({types}::Reads, {types}::More, {types}::Writes),
                        >::YES"
                    );
                }
                if self.has_each {
                    let written = one(0, false);
                    return code!(
                        "__typed::Fits::<
                            (({few}), ({written},)),
                            ({types}::Reads, (<{types}::Writes as __typed::First>::T0,)),
                        >::YES"
                    );
                }
                let reads: String = (0..FEW).map(|slot| format!("{{ __reads({i}, {slot}) }}, ")).collect();
                code!("__typed::FitsStep::<__Keys, __Types_{i}, {reads}{{ __writes({i}, 0) }}>::YES")
            }
        }
    }

    /// The type of a key that a step reads or writes, as its first writer says: what the step's own type has to fit.
    pub(super) fn key(&self, at: usize, slot: usize, reads: bool) -> String {
        let (number, lists) = match reads {
            true => ("__reads", "__read_lists"),
            false => ("__writes", "__written_lists"),
        };
        let key = format!("<__Keys as __typed::At<{{ {number}({at}, {slot}) }}>>::Key");
        match self.has_each {
            true => format!("<{key} as __typed::Lists<{{ {lists}({at}, {slot}) }}>>::List"),
            false => key,
        }
    }

    /// The type of the key of a block, as itself.
    pub(super) fn key_itself(&self, at: usize) -> TokenStream {
        code!("<{} as __typed::Known>::Type", self.key(at, 0, true))
    }

    /// The key of a block, and whether its type is one that steers the block.
    pub(super) fn steering(&self, i: usize, step: &Step<'_>) -> Option<(Span, TokenStream)> {
        let What::Block(block) = step.what else { return None };
        let (key, fits) = match &block.kind {
            BlockKind::Loop { until: Some(until), .. } => {
                (until, code!("__typed::Fits::<{}, bool>::YES", self.key(i, 0, true)))
            }
            BlockKind::Match(choice) => (&choice.key, quote!(true)),
            BlockKind::Each { list, .. } => {
                let alias = numbered("List", i);
                (list, quote!(__typed::Of::<#alias>::LIST != 0))
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
            (ty, quote!(<#ty as __typed::OfValue<{ __typed::Of::<#ty>::VALUE }>>::Value))
        });
        let writes = self.tree.outputs.iter().map(|typed| (&typed.ty, typed.ty.to_token_stream()));
        implement(name, reads.collect(), writes.collect())
    }
}

/// The types of an LLM agent: prompts take any value.
pub(super) fn written(name: &Ident, output: Option<&Typed>) -> TokenStream {
    let writes = output.iter().map(|typed| (&typed.ty, typed.ty.to_token_stream()));
    implement(name, Vec::new(), writes.collect())
}

fn implement(name: &Ident, reads: Made<'_>, writes: Made<'_>) -> TokenStream {
    crate::typed::implement(&quote!(impl __typed::Typed for #name), &reads, &writes, READS)
}
