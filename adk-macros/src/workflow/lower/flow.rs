//! The facts of a workflow, the types that they compare, and the consts that raise what is wrong.
//!
//! Every writer has a number: 0 stands for no type, a step has its place and 1, behind the steps come the declared keys,
//! then further keys of steps. `adk_core::check` says which number the type of a key has.

use super::super::ast::{Block, BlockKind, DeclKind, Key, Typed};
use super::super::names;
use super::super::plan::{Step, What};
use super::{Lower, index, numbered, raise};
use crate::code::{code, read};
use crate::typed::{FEW, Made, READS, WRITES, places};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The parts of a step where faults are shown: `Part` of `adk_core::check`.
const NAME: usize = 0;
const KEY: usize = 1;
const OUTPUT: usize = 2;
const RENAMINGS: usize = 3;

/// What is known of the types of a step.
enum Types {
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
            if let Some((span, fits)) = self.steering(i, step) {
                if self.told_by_type(i).is_none() {
                    raises.extend(self.raise(span, i, KEY, &fits));
                }
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

    /// What is wrong with the key of a block, where it has to be told on the way to the type of the key: that is an error
    /// then, and rustc does not ask for it as well, in the guards of a `match`.
    fn told_by_type(&self, i: usize) -> Option<TokenStream> {
        let step = self.plan.steps.get(i).filter(|step| self.has_guard && !step.told)?;
        let is_needed =
            guarded(step).is_some() || (i + 1..self.plan.steps.len()).any(|at| self.is_element(i, at));
        let (span, fits) = self.steering(i, step).filter(|_| is_needed)?;
        let (at, part) = (index(i), index(KEY));
        Some(super::call(span, quote!(__raise), quote!(#at, #part, #fits)))
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
        code!(
            "impl __typed::At<{number}> for __Keys {{
                type Key = __typed::Is<<<__Types_{step} as __typed::Typed>::Writes as __typed::First>::T{slot}>;
            }}"
        )
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

    /// Whether the keys that a step reads and writes have the types that it says.
    fn fits(&self, i: usize, known: &Types) -> TokenStream {
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
    fn key(&self, at: usize, slot: usize, reads: bool) -> String {
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

    /// The same for a `match`, whose guards may need it.
    pub(super) fn key_to_match(&self, i: usize) -> TokenStream {
        let key = self.key_itself(i);
        let Some(told) = self.told_by_type(i) else { return key };
        let key = quote!(<#key as __typed::OfValue<{ #told; false }>>::Value);
        // Of an element nothing is known where its list is missing, which is told by its own type.
        match (0..i).rev().find(|each| self.is_element(*each, i)) {
            Some(each) => {
                let item = numbered("Item", each);
                quote!(<(#key, #item, (), ()) as __typed::First>::T0)
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

    /// The key of a block, and whether its type is one that steers the block.
    fn steering(&self, i: usize, step: &Step<'_>) -> Option<(Span, TokenStream)> {
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

/// The key of a `match` with guards.
fn guarded<'a>(step: &Step<'a>) -> Option<&'a Key> {
    match step.what {
        What::Block(block) if block.is_guarded() => block.kind.key(),
        _ => None,
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
