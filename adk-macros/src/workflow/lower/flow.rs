//! The facts of a workflow, the types that they compare, and the consts that raise what is wrong.
//!
//! Every writer has a number: 0 stands for no type, a step has its place and 1, behind the steps come the declared keys,
//! then further keys of steps. `adk_core::check` says which number the type of a key has.

use super::super::ast::{DeclKind, Typed};
use super::super::names;
use super::super::plan::{Step, What};
use super::{Lower, index, numbered, raise};
use crate::code::{code, read};
use crate::typed::{FEW, WRITES, places};
use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The parts of a step where faults are shown: `Part` of `adk_core::check`.
const NAME: usize = 0;
pub(super) const KEY: usize = 1;
const OUTPUT: usize = 2;
const RENAMINGS: usize = 3;

/// What is known of the types of a step.
pub(super) enum Types {
    /// It writes a key of this type, or none.
    Writes(Option<TokenStream>),
    /// It is declared with these.
    Declared {
        reads: Vec<TokenStream>,
        writes: Option<TokenStream>,
    },
    /// Its own type says.
    Agent {
        further: bool,
    },
    Nothing,
}

impl Lower<'_> {
    /// `__FACTS`, and a const for each place where something may be wrong.
    pub(super) fn facts(&self) -> TokenStream {
        let name = &self.name;
        let (count, rows) = (self.plan.steps.len(), self.plan.steps.len() + self.tree.outputs.len());
        let (steps, rows) = (index(count), index(rows));
        let mut types = TokenStream::new();
        let mut places: Vec<Literal> = Vec::new();
        let mut raises = TokenStream::new();
        for (i, step) in self.plan.steps.iter().enumerate() {
            let known = self.types(step);
            places.push(match step.what {
                What::Block(block) if block.is_each() => {
                    types.extend(self.element(i));
                    index(1)
                }
                _ => self.number(i, &known, &mut types),
            });
            if step.told {
                continue;
            }
            let fits = self.fits(i, &known);
            if !step.name.is_empty() || matches!(step.what, What::Break(_)) {
                raises.extend(self.raise(step.span, i, NAME, &fits));
            }
            if let Some((span, fits)) = self.steering(i, step).filter(|_| self.told_by_type(i).is_none()) {
                raises.extend(self.raise(span, i, KEY, &fits));
            }
            if let What::Declared(run, _) | What::Path(run) = step.what {
                for (j, (renamed, key)) in run.reads.iter().enumerate() {
                    let parts = [key.name.span(), renamed.name.span()].into_iter().zip(RENAMINGS + 2 * j..);
                    raises.extend(parts.map(|(span, part)| self.raise(span, i, part, &quote!(true))));
                }
                if let Some(key) = run.writes.first() {
                    raises.extend(self.raise(key.name.span(), i, OUTPUT, &quote!(true)));
                }
            }
        }
        for (j, key) in self.declared_keys().enumerate() {
            types.extend(self.at(count + j + 1, &key.ty));
            places.push(index(1));
        }
        types.extend(quote!(impl __typed::At<0> for __Keys { type Key = __typed::Nothing; }));
        for (j, key) in self.tree.outputs.iter().enumerate() {
            let (ty, written) = (&key.ty, read(&self.key(count + j, 0, true)));
            let fits = quote!(__typed::Fits::<#written, #ty>::YES);
            raises.extend(self.raise(key.key.name.span(), count + j, NAME, &fits));
        }
        let check = quote!(__adk::check);
        // By a call: to index into a const costs rustc more, each time.
        let numbers = |ask: &str, slots: &str| {
            let (name, table) = (format_ident!("__{ask}"), format_ident!("__NUMBERS_{ask}"));
            let (ask, slots) = (format_ident!("{ask}"), format_ident!("{slots}"));
            quote! {
                const #table: &[[usize; #check::#slots]; #rows] = &__FACTS.numbers().#ask;
                const fn #name(at: usize, slot: usize) -> usize {
                    #table[at][slot]
                }
            }
        };
        let told = !self.plan.alike;
        let mut asked = numbers("reads", "READS");
        asked.extend(numbers("writes", "WRITES"));
        if self.has_each {
            asked.extend(numbers("read_lists", "READS"));
            asked.extend(numbers("written_lists", "WRITES"));
        }
        quote! {
            struct __Keys;
            #types
            const __PLACES: &[u8] = &[#(#places),*];
            const __SIZES: #check::Sizes = #check::sizes(&#name::SPEC);
            const __FACTS: &#check::Facts<'static, #steps, #rows> = &#check::facts::<
                #steps,
                #rows,
                { __SIZES.names },
                { __SIZES.keys },
                { __SIZES.slots },
                { __SIZES.words },
                { __SIZES.depth },
            >(&#name::SPEC, __PLACES, #told);
            #asked
            #[track_caller]
            const fn __raise(at: usize, part: usize, fits: bool) {
                __FACTS.raise::<{ __SIZES.keys }, { __SIZES.slots }, { __SIZES.words }, { __SIZES.depth }>(
                    &#name::SPEC, __PLACES, at, part, fits,
                );
            }
            #raises
        }
    }

    /// Inputs, `let` and `state`, in the order in which they are numbered.
    fn declared_keys(&self) -> impl Iterator<Item = &Typed> {
        let inputs = self.tree.inputs.iter().map(|input| &input.typed);
        inputs.chain(self.tree.lets()).chain(&self.tree.items.states)
    }

    fn raise(&self, span: Span, at: usize, part: usize, fits: &TokenStream) -> TokenStream {
        let (at, part) = (index(at), index(part));
        raise(span, quote!(__raise), quote!(#at, #part, #fits))
    }

    fn types(&self, step: &Step<'_>) -> Types {
        match step.what {
            _ if step.told => Types::Nothing,
            What::Path(run) | What::Declared(run, _) if run.vague => Types::Nothing,
            What::Path(run) => {
                // Functions write one key and are called in lower case; a workflow may have several outputs.
                let last = names::last(&run.path).map(names::plain).unwrap_or_default();
                Types::Agent { further: last.starts_with(char::is_uppercase) }
            }
            What::Declared(_, number) => match self.tree.items.agents.get(number).map(|decl| &decl.kind) {
                Some(DeclKind::Llm { output, .. }) => {
                    Types::Writes(output.as_ref().map(|typed| typed.ty.to_token_stream()))
                }
                Some(DeclKind::Described { reads, output, .. }) => Types::Declared {
                    reads: self.placed_reads(reads),
                    writes: output.as_ref().map(|typed| typed.ty.to_token_stream()),
                },
                Some(DeclKind::Given { .. }) => Types::Agent { further: true },
                None => Types::Nothing,
            },
            What::Await(wait) => Types::Writes(Some(wait.typed.ty.to_token_stream())),
            _ => Types::Nothing,
        }
    }

    /// The types of the keys that an agent is declared to read, by their places.
    fn placed_reads(&self, reads: &[Typed]) -> Vec<TokenStream> {
        let places = places(super::declared::once(reads).map(|typed| &typed.ty), FEW);
        let mut placed: Vec<_> =
            super::declared::once(reads).zip(places).filter(|(_, place)| *place > 0).collect();
        placed.sort_by_key(|(_, place)| *place);
        placed.iter().map(|(typed, _)| super::declared::parameter(&typed.ty)).collect()
    }

    /// The item of an `each` is written by the block.
    fn element(&self, i: usize) -> TokenStream {
        let (alias, list) = (numbered("List", i), self.key_itself(i));
        let item_alias = numbered("Item", i);
        let number = index(i + 1);
        let (told, is_list) = (self.told_by_type(i).into_iter(), quote!(__typed::Of::<#alias>::LIST));
        quote! {
            type #alias = #list;
            type #item_alias = <#alias as __typed::Element<{ #(#told;)* #is_list }>>::Key;
            impl __typed::At<#number> for __Keys { type Key = #item_alias; }
        }
    }

    /// Where further keys of a step have their numbers.
    fn further(&self, i: usize) -> usize {
        1 + self.plan.steps.len() + self.declared_keys().count() + i * WRITES
    }

    /// Gives a type its number.
    fn at(&self, number: usize, ty: &impl ToTokens) -> TokenStream {
        let number = index(number);
        quote!(impl __typed::At<#number> for __Keys { type Key = __typed::Is<#ty>; })
    }

    /// The same for the type of a key that a step writes, which its own type says.
    fn at_of_step(&self, number: usize, step: usize, slot: usize) -> TokenStream {
        let key = match slot {
            0 => format!("Own<__Types_{step}>"),
            _ => format!("Is<<<__Types_{step} as __typed::Typed>::Writes as __typed::First>::T{slot}>"),
        };
        code!("impl __typed::At<{number}> for __Keys {{ type Key = __typed::{key}; }}")
    }

    /// Gives a step its number; how many of the keys that it writes have one.
    fn number(&self, i: usize, known: &Types, types: &mut TokenStream) -> Literal {
        let at = i + 1;
        match known {
            Types::Nothing => index(0),
            Types::Writes(written) | Types::Declared { writes: written, .. } => {
                if let Some(ty) = written {
                    types.extend(self.at(at, ty));
                }
                index(1)
            }
            Types::Agent { further } => {
                types.extend(code!(
                    "type __Types_{i} = <__Agent_{i} as __typed::TypesOf<__Kind_{i}>>::Types;"
                ));
                types.extend(self.at_of_step(at, i, 0));
                let base = self.further(i);
                for slot in (1..WRITES).filter(|_| *further) {
                    types.extend(self.at_of_step(base + slot, i, slot));
                }
                index(if *further { WRITES } else { 1 })
            }
        }
    }
}
