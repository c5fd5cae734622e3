//! The facts of a workflow, the types to compare, and the consts that raise errors.
//!
//! Every source of a type has a number, by which `adk_spec::check` selects the two types of each
//! comparison. A source is a step, a declared key or an output: 0 means no source, steps have their
//! index plus 1, the declared keys follow, and the outputs are last.

use super::super::ast::{DeclKind, KeyDecl, Workflow};
use super::super::plan::{Plan, Step, StepKind};
use super::{Expansion, KnownParts, index, numbered_ident, raise};
use crate::code::{code, read};
use crate::typed::{READS, is_plain, list, places};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// Parts of a step that errors point at: `Part` of `adk_spec::check`.
const NAME: usize = 0;
pub(super) const KEY: usize = 1;
const OUTPUT: usize = 2;
const RENAMINGS: usize = 3;

/// How many source numbers each [holder type](Expansion::holders) has.
pub(super) const NUMBERS: usize = 256;

impl Expansion<'_> {
    /// Returns `__FACTS`, and a const for each token that may have an error.
    pub(super) fn facts(&self) -> TokenStream {
        let name = &self.name;
        let count = self.plan.steps.len();
        let (mut types, mut raises) = (TokenStream::new(), TokenStream::new());
        for (i, step) in self.plan.steps.iter().enumerate() {
            types.extend(self.step_types(i, step));
            if !step.name.is_empty() || matches!(step.kind, StepKind::Break(_)) {
                raises.extend(self.raise(step.span, i, NAME));
            }
            if let Some((span, fits)) = self.block_key_check(i, step) {
                let (at, part) = (index(i), index(KEY));
                raises.extend(raise(
                    span,
                    quote!(__raise_block),
                    quote!(#at, #part, #fits),
                ));
            }
            if let StepKind::Declared(run, _) | StepKind::Path(run) = step.kind {
                for (j, (renamed, key)) in run.reads.iter().enumerate() {
                    let parts = [key.name.span(), renamed.name.span()]
                        .into_iter()
                        .zip(RENAMINGS + 2 * j..);
                    raises.extend(parts.map(|(span, part)| self.raise(span, i, part)));
                }
                if let Some(key) = run.writes.first() {
                    raises.extend(self.raise(key.name.span(), i, OUTPUT));
                }
            }
        }
        let mut number = count;
        let mut at = |declared: TokenStream| {
            number += 1;
            self.number_impl(number, quote!(__typed::DeclaredTypes<#declared>))
        };
        for key in self.declared_keys() {
            let ty = &key.ty;
            types.extend(at(quote!((), (__typed::Is<#ty>, ()))));
        }
        for (j, key) in self.tree.outputs.iter().enumerate() {
            let ty = &key.ty;
            types.extend(at(quote!((__typed::Is<#ty>, ()), ())));
            // An output that is declared twice has its own error.
            let is_first = !self
                .tree
                .outputs
                .iter()
                .take(j)
                .any(|other| other.key.text() == key.key.text());
            if is_first {
                raises.extend(self.raise(key.key.name.span(), count + j, NAME));
            }
        }
        let (known, pairs, holders) = (self.known_facts(), self.pairs(), self.holders());
        let no_source = self.number_impl(0, quote!(__typed::Untyped));
        quote! {
            #holders
            #no_source
            #types
            #known
            #pairs
            #[track_caller]
            const fn __raise(__at: usize, __part: usize) {
                __FACTS.raise(&#name::SPEC, __at, __part);
            }
            #raises
        }
    }

    /// Returns the facts that const evaluation finds before types are compared, and the facts about
    /// blocks.
    fn known_facts(&self) -> TokenStream {
        let name = &self.name;
        let check = quote!(__adk::check);
        let (steps, rows) = (
            self.plan.steps.len(),
            self.plan.steps.len() + self.tree.outputs.len(),
        );
        let blocks = index(self.block_count());
        let (steps, rows, pairs, unlike) = (
            index(steps),
            index(rows),
            index(self.pair_count()),
            !self.plan.alike,
        );
        let sizes =
            read("{ __SIZES.keys }, { __SIZES.slots }, { __SIZES.words }, { __SIZES.depth }");
        let facts = quote!(#check::Facts<'static, #steps, #pairs, #blocks>);
        let of_blocks = (self.block_count() > 0).then(|| {
            quote! {
                const __BLOCKS: &[[usize; 3]; #blocks] = __KNOWN.blocks();
                const fn __block(__at: usize, __of: usize) -> usize {
                    __BLOCKS[__at][__of]
                }
                #[track_caller]
                const fn __raise_block(__at: usize, __part: usize, __fits: bool) {
                    __KNOWN.raise_block::<#rows, #sizes>(&#name::SPEC, __at, __part, __fits);
                }
            }
        });
        let module = crate::place::module(&quote!(__SCOPE));
        let without = self
            .refused
            .filter(|known| *known == KnownParts::Names)
            .map(|_| quote!(.without_names()));
        quote! {
            const __SIZES: #check::Sizes = #check::sizes(&#name::SPEC);
            const fn __facts(__answers: &[bool]) -> #facts {
                #check::facts::<#steps, #rows, #pairs, #blocks, { __SIZES.names }, #sizes>(
                    &#name::SPEC, #module, __answers, #unlike,
                )
                #without
            }
            const __KNOWN: &#facts = &__facts(&[]);
            #of_blocks
        }
    }

    /// Returns the comparisons of types, and the facts that const evaluation finds after them.
    fn pairs(&self) -> TokenStream {
        let (steps, room, blocks) = (self.plan.steps.len(), self.pair_count(), self.block_count());
        let lists = if self.has_each { 5 } else { 4 };
        let asked: String = (0..room)
            .map(|pair| {
                let numbers: String = (0..lists)
                    .map(|of| format!("{{ __pair({pair}, {of}) }}, "))
                    .collect();
                let [key, says] = [0, 2].map(|of| self.holder_of(&format!("__pair({pair}, {of})")));
                format!("<__typed::Pair<{key}, {says}, {numbers}>>::YES, ")
            })
            .collect();
        // A function, because each index expression into a const would cost rustc more.
        code!(
            "const __PAIRS: &[__adk::check::Pair; {room}] = __KNOWN.pairs();
            const fn __pair(__pair: usize, __of: usize) -> usize {{
                __PAIRS[__pair].numbers[__of]
            }}
            const __ANSWERS: &[bool; {room}] = &[{asked}];
            const __FACTS: &__adk::check::Facts<'static, {steps}, {room}, {blocks}> =
                if __adk::check::all(__ANSWERS) {{ __KNOWN }} else {{ &__facts(__ANSWERS) }};"
        )
    }

    /// Returns the size of the table of block keys: the number of steps, or 0 without blocks that
    /// have a key.
    fn block_count(&self) -> usize {
        let has_key = |step: &Step<'_>| match step.kind {
            StepKind::Block(block) => block.kind.key().is_some(),
            _ => false,
        };
        if self.plan.steps.iter().any(has_key) {
            self.plan.steps.len()
        } else {
            0
        }
    }

    /// Returns how many comparisons of types without an identifying number the expansion provides.
    /// Each comparison costs rustc a million instructions, whether it is needed or not, so the
    /// count is an estimate: in a large workflow few steps have such a type.
    fn pair_count(&self) -> usize {
        let steps = self
            .plan
            .steps
            .iter()
            .filter(|step| step.is_agent() && self.may_need_a_pair(step))
            .count();
        let declared = self
            .declared_keys()
            .chain(&self.tree.outputs)
            .filter(|typed| !is_plain(&typed.ty))
            .count();
        self.tree
            .type_pairs
            .unwrap_or(2 + declared + steps.min(16) + steps / 16)
    }

    /// Returns whether an agent may read or write a type without an identifying number.
    fn may_need_a_pair(&self, step: &Step<'_>) -> bool {
        let needs = |typed: &KeyDecl| !is_plain(&typed.ty);
        match self.decl(step) {
            Some(DeclKind::Llm { output, .. }) => output.iter().any(|typed| needs(typed)),
            Some(DeclKind::Described { reads, output, .. }) => {
                reads.iter().any(needs) || output.iter().any(|typed| needs(typed))
            }
            Some(DeclKind::Supplied { .. }) | None => true,
        }
    }

    /// Returns inputs, `let` and `state`, in the order of their source numbers.
    fn declared_keys(&self) -> impl Iterator<Item = &KeyDecl> {
        let inputs = self.tree.inputs.iter().map(|input| &input.typed);
        inputs
            .chain(self.tree.lets())
            .chain(&self.tree.items.states)
    }

    fn raise(&self, span: Span, at: usize, part: usize) -> TokenStream {
        let (at, part) = (index(at), index(part));
        raise(span, quote!(__raise), quote!(#at, #part))
    }

    /// Implements `TypeSource` for a step, with the types that the step reads and writes.
    fn step_types(&self, i: usize, step: &Step<'_>) -> TokenStream {
        let at = i + 1;
        let written = |output: &Option<Box<KeyDecl>>| {
            let written = output.iter().map(|typed| typed.ty.to_token_stream());
            list(
                written
                    .map(|ty| quote!(__typed::Is<#ty>))
                    .collect::<Vec<_>>()
                    .into_iter(),
            )
        };
        let declared = |reads: TokenStream, writes: TokenStream| {
            self.number_impl(at, quote!(__typed::DeclaredTypes<#reads, #writes>))
        };
        match step.kind {
            StepKind::Block(block) if block.is_each() => self.element(i),
            StepKind::Path(_) if self.placed_type(step).is_some() => self.own_types(i),
            StepKind::Declared(..) => match self.decl(step) {
                Some(DeclKind::Llm { output, .. }) => declared(quote!(()), written(output)),
                Some(DeclKind::Described { reads, output, .. }) => {
                    declared(list(self.placed_reads(reads).into_iter()), written(output))
                }
                Some(DeclKind::Supplied { .. }) => self.own_types(i),
                None => TokenStream::new(),
            },
            StepKind::Await(wait) => {
                let ty = &wait.typed.ty;
                declared(quote!(()), quote!((__typed::Is<#ty>, ())))
            }
            _ => TokenStream::new(),
        }
    }

    /// Implements `TypeSource` for a step whose own type declares its keys.
    fn own_types(&self, i: usize) -> TokenStream {
        let (at, holder) = (i + 1, self.holder(i + 1));
        code!(
            "impl __typed::TypeSource<{at}> for {holder} {{
                type Agent = <__Agent_{i} as __typed::TypesOf<__Kind_{i}>>::Types;
            }}"
        )
    }

    /// Returns the types of the keys that an agent is declared to read, in the order of their
    /// places.
    fn placed_reads(&self, reads: &[KeyDecl]) -> Vec<TokenStream> {
        let places = places(reads.iter().map(|typed| &typed.ty), READS);
        let mut placed: Vec<_> = reads
            .iter()
            .zip(places)
            .filter(|(_, place)| *place > 0)
            .collect();
        placed.sort_by_key(|(_, place)| *place);
        placed
            .iter()
            .map(|(typed, _)| super::declared::parameter(&typed.ty))
            .collect()
    }

    /// Implements `TypeSource` for an `each`, whose only written type is that of an element.
    fn element(&self, i: usize) -> TokenStream {
        let (alias, list) = (numbered_ident("List", i), self.key_itself(i));
        let item_alias = numbered_ident("Item", i);
        let at = self.number_impl(i + 1, quote!(__typed::DeclaredTypes<(), (#item_alias, ())>));
        quote! {
            type #alias = #list;
            type #item_alias =
                <#alias as __typed::Element<{ __typed::KeyFacts::<#alias>::LIST }>>::Key;
            #at
        }
    }

    /// Implements `TypeSource` for a source number, with the types of the source.
    fn number_impl(&self, number: usize, agent: TokenStream) -> TokenStream {
        let (holder, number) = (
            Ident::new(&self.holder(number), Span::call_site()),
            index(number),
        );
        quote!(impl __typed::TypeSource<#number> for #holder { type Agent = #agent; })
    }

    /// Defines the holder types, which implement `TypeSource`. rustc searches all impls of a type
    /// for each lookup, so each holder has at most [`NUMBERS`] of them.
    fn holders(&self) -> TokenStream {
        if !self.is_large {
            return quote!(
                struct __Keys;
            );
        }
        let each = (0..numbers(self.tree, self.plan).div_ceil(NUMBERS)).map(|some| {
            format!(
                "struct __Keys_{some};
                impl __typed::Chunk<{some}> for __Keys {{ type Keys = __Keys_{some}; }}"
            )
        });
        code!("struct __Keys; {}", each.collect::<String>())
    }

    /// Returns the holder type of a source number.
    fn holder(&self, number: usize) -> String {
        if !self.is_large {
            "__Keys".to_owned()
        } else {
            format!("__Keys_{}", number / NUMBERS)
        }
    }

    /// Returns the holder type of a source number that const evaluation computes.
    pub(super) fn holder_of(&self, number: &str) -> String {
        if !self.is_large {
            "__Keys".to_owned()
        } else {
            format!("<__Keys as __typed::Chunk<{{ {number} / {NUMBERS} }}>>::Keys")
        }
    }
}

/// Returns whether the source numbers need several holder types.
pub(super) fn is_large(tree: &Workflow, plan: &Plan<'_>) -> bool {
    numbers(tree, plan) > NUMBERS
}

/// Returns how many source numbers there are.
fn numbers(tree: &Workflow, plan: &Plan<'_>) -> usize {
    let declared = tree.inputs.len() + tree.lets().count() + tree.items.states.len();
    1 + plan.steps.len() + declared + tree.outputs.len()
}

#[cfg(test)]
mod tests;
