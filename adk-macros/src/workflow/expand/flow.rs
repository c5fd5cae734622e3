//! The facts of a workflow, the types that they compare, and the consts that raise what is wrong.
//!
//! Everything that says a type has a number: 0 is none, a step has its place and 1, after the steps come the declared keys, then
//! the outputs. `adk_spec::check` says which two types are compared, by these numbers.

use super::super::ast::{DeclKind, Typed, Workflow};
use super::super::plan::{Plan, Step, What};
use super::{Expansion, Known, index, numbered, raise};
use crate::code::{code, read};
use crate::typed::{READS, is_plain, list, places};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// The parts of a step where faults are shown: `Part` of `adk_spec::check`.
const NAME: usize = 0;
pub(super) const KEY: usize = 1;
const OUTPUT: usize = 2;
const RENAMINGS: usize = 3;

/// How many numbers are looked up on one type.
pub(super) const NUMBERS: usize = 256;

impl Expansion<'_> {
    /// `__FACTS`, and a const for each place where something may be wrong.
    pub(super) fn facts(&self) -> TokenStream {
        let name = &self.name;
        let count = self.plan.steps.len();
        let (mut types, mut raises) = (TokenStream::new(), TokenStream::new());
        for (i, step) in self.plan.steps.iter().enumerate() {
            types.extend(self.says(i, step));
            if !step.name.is_empty() || matches!(step.what, What::Break(_)) {
                raises.extend(self.raise(step.span, i, NAME));
            }
            if let Some((span, fits)) = self.steering(i, step) {
                let (at, part) = (index(i), index(KEY));
                raises.extend(raise(span, quote!(__raise_block), quote!(#at, #part, #fits)));
            }
            if let What::Declared(run, _) | What::Path(run) = step.what {
                for (j, (renamed, key)) in run.reads.iter().enumerate() {
                    let parts = [key.name.span(), renamed.name.span()].into_iter().zip(RENAMINGS + 2 * j..);
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
            self.at(number, quote!(__typed::DeclaredTypes<#declared>))
        };
        for key in self.declared_keys() {
            let ty = &key.ty;
            types.extend(at(quote!((), (__typed::Is<#ty>, ()))));
        }
        for (j, key) in self.tree.outputs.iter().enumerate() {
            let ty = &key.ty;
            types.extend(at(quote!((__typed::Is<#ty>, ()), ())));
            // One that is declared twice is reported as that.
            let is_first = !self.tree.outputs.iter().take(j).any(|other| other.key.text() == key.key.text());
            if is_first {
                raises.extend(self.raise(key.key.name.span(), count + j, NAME));
            }
        }
        let (known, pairs, holders) = (self.known(), self.pairs(), self.holders());
        let nobody = self.at(0, quote!(__typed::Untyped));
        quote! {
            #holders
            #nobody
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

    /// What const evaluation finds before types are compared, and what it tells of blocks.
    fn known(&self) -> TokenStream {
        let name = &self.name;
        let check = quote!(__adk::check);
        let (steps, rows) = (self.plan.steps.len(), self.plan.steps.len() + self.tree.outputs.len());
        let blocks = index(self.blocks());
        let (steps, rows, pairs, unlike) = (index(steps), index(rows), index(self.room()), !self.plan.alike);
        let sizes = read("{ __SIZES.keys }, { __SIZES.slots }, { __SIZES.words }, { __SIZES.depth }");
        let facts = quote!(#check::Facts<'static, #steps, #pairs, #blocks>);
        let of_blocks = (self.blocks() > 0).then(|| {
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
        let without = self.refused.filter(|known| *known == Known::Names).map(|_| quote!(.without_names()));
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

    /// The comparisons of types, and what const evaluation finds after them.
    fn pairs(&self) -> TokenStream {
        let (steps, room, blocks) = (self.plan.steps.len(), self.room(), self.blocks());
        let lists = if self.has_each { 5 } else { 4 };
        let asked: String = (0..room)
            .map(|pair| {
                let numbers: String = (0..lists).map(|of| format!("{{ __pair({pair}, {of}) }}, ")).collect();
                let [key, says] = [0, 2].map(|of| self.holder_of(&format!("__pair({pair}, {of})")));
                format!("<__typed::Pair<{key}, {says}, {numbers}>>::YES, ")
            })
            .collect();
        // By a call: to index into a const costs rustc more, each time.
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

    /// How many steps there are room for whose types of keys are asked as themselves: all of them, or none where there is no such block.
    fn blocks(&self) -> usize {
        let has_key = |step: &Step<'_>| matches!(step.what, What::Block(block) if block.kind.key().is_some());
        if self.plan.steps.iter().any(has_key) { self.plan.steps.len() } else { 0 }
    }

    /// How many pairs of types without a number can be compared: each costs rustc a million instructions, whether it is needed or
    /// not. In a large workflow few steps have one. What is spelled so that its type has a number needs none.
    fn room(&self) -> usize {
        let steps =
            self.plan.steps.iter().filter(|step| step.is_agent() && self.may_need_a_pair(step)).count();
        let declared =
            self.declared_keys().chain(&self.tree.outputs).filter(|typed| !is_plain(&typed.ty)).count();
        self.tree.type_pairs.unwrap_or(2 + declared + steps.min(16) + steps / 16)
    }

    /// Whether an agent may read or write a type without a number.
    fn may_need_a_pair(&self, step: &Step<'_>) -> bool {
        let needs = |typed: &Typed| !is_plain(&typed.ty);
        match self.decl(step) {
            Some(DeclKind::Llm { output, .. }) => output.iter().any(|typed| needs(typed)),
            Some(DeclKind::Described { reads, output, .. }) => {
                reads.iter().any(needs) || output.iter().any(|typed| needs(typed))
            }
            Some(DeclKind::Given { .. }) | None => true,
        }
    }

    /// Inputs, `let` and `state`, in the order in which they are numbered.
    fn declared_keys(&self) -> impl Iterator<Item = &Typed> {
        let inputs = self.tree.inputs.iter().map(|input| &input.typed);
        inputs.chain(self.tree.lets()).chain(&self.tree.items.states)
    }

    fn raise(&self, span: Span, at: usize, part: usize) -> TokenStream {
        let (at, part) = (index(at), index(part));
        raise(span, quote!(__raise), quote!(#at, #part))
    }

    /// Gives a step its number, where something is known of what it reads and writes.
    fn says(&self, i: usize, step: &Step<'_>) -> TokenStream {
        let at = i + 1;
        let written = |output: &Option<Box<Typed>>| {
            let written = output.iter().map(|typed| typed.ty.to_token_stream());
            list(written.map(|ty| quote!(__typed::Is<#ty>)).collect::<Vec<_>>().into_iter())
        };
        let declared = |reads: TokenStream, writes: TokenStream| {
            self.at(at, quote!(__typed::DeclaredTypes<#reads, #writes>))
        };
        match step.what {
            What::Block(block) if block.is_each() => self.element(i),
            What::Path(_) if self.placed_type(step).is_some() => self.says_itself(i),
            What::Declared(..) => match self.decl(step) {
                Some(DeclKind::Llm { output, .. }) => declared(quote!(()), written(output)),
                Some(DeclKind::Described { reads, output, .. }) => {
                    declared(list(self.placed_reads(reads).into_iter()), written(output))
                }
                Some(DeclKind::Given { .. }) => self.says_itself(i),
                None => TokenStream::new(),
            },
            What::Await(wait) => {
                let ty = &wait.typed.ty;
                declared(quote!(()), quote!((__typed::Is<#ty>, ())))
            }
            _ => TokenStream::new(),
        }
    }

    /// A step whose own type says it.
    fn says_itself(&self, i: usize) -> TokenStream {
        let (at, holder) = (i + 1, self.holder(i + 1));
        code!(
            "impl __typed::TypeSource<{at}> for {holder} {{
                type Agent = <__Agent_{i} as __typed::TypesOf<__Kind_{i}>>::Types;
            }}"
        )
    }

    /// The types of the keys that an agent is declared to read, by their places.
    fn placed_reads(&self, reads: &[Typed]) -> Vec<TokenStream> {
        let places = places(reads.iter().map(|typed| &typed.ty), READS);
        let mut placed: Vec<_> = reads.iter().zip(places).filter(|(_, place)| *place > 0).collect();
        placed.sort_by_key(|(_, place)| *place);
        placed.iter().map(|(typed, _)| super::declared::parameter(&typed.ty)).collect()
    }

    /// The item of an `each` is written by the block.
    fn element(&self, i: usize) -> TokenStream {
        let (alias, list) = (numbered("List", i), self.key_itself(i));
        let item_alias = numbered("Item", i);
        let at = self.at(i + 1, quote!(__typed::DeclaredTypes<(), (#item_alias, ())>));
        quote! {
            type #alias = #list;
            type #item_alias = <#alias as __typed::Element<{ __typed::KeyFacts::<#alias>::LIST }>>::Key;
            #at
        }
    }

    /// What is said by the one of that number.
    fn at(&self, number: usize, agent: TokenStream) -> TokenStream {
        let (holder, number) = (Ident::new(&self.holder(number), Span::call_site()), index(number));
        quote!(impl __typed::TypeSource<#number> for #holder { type Agent = #agent; })
    }

    /// What the numbers are looked up on. rustc looks through all impls of one type for each of them, so that each is that of
    /// a few numbers.
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

    /// On what a number is looked up.
    fn holder(&self, number: usize) -> String {
        if !self.is_large { "__Keys".to_owned() } else { format!("__Keys_{}", number / NUMBERS) }
    }

    /// The same of a number that const evaluation finds.
    pub(super) fn holder_of(&self, number: &str) -> String {
        if !self.is_large {
            "__Keys".to_owned()
        } else {
            format!("<__Keys as __typed::Chunk<{{ {number} / {NUMBERS} }}>>::Keys")
        }
    }
}

/// Whether the numbers are looked up on several types.
pub(super) fn is_large(tree: &Workflow, plan: &Plan<'_>) -> bool {
    numbers(tree, plan) > NUMBERS
}

/// How many there are who say a type.
fn numbers(tree: &Workflow, plan: &Plan<'_>) -> usize {
    let declared = tree.inputs.len() + tree.lets().count() + tree.items.states.len();
    1 + plan.steps.len() + declared + tree.outputs.len()
}

#[cfg(test)]
mod tests;
