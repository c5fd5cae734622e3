//! `Agent` and `StepTable`: the implementation that the runtime calls.

use super::super::ast::{Block, BlockKind, DeclKind, KeyDecl, Let};
use super::super::names::is_string;
use super::super::plan::{Step, StepKind};
use super::flow::NUMBERS;
use super::{Expansion, docs, index, key_spec, numbered_ident, reading_spec, string_or_itself};
use crate::code::code;
use crate::place;
use crate::typed::{READS, WRITES, places};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;

impl Expansion<'_> {
    pub(super) fn agent(&self) -> TokenStream {
        let (name, tree) = (&self.name, self.tree);
        let (label, description) = (&self.plan.name, docs::description(&tree.attrs));
        let places_of_reads = places(tree.inputs.iter().map(|input| &input.typed.ty), READS);
        let reads = tree
            .inputs
            .iter()
            .zip(places_of_reads)
            .map(|(input, place)| {
                let key = reading_spec(&input.typed, place);
                let optional = input.default.is_some();
                quote!(#key.optional(#optional))
            });
        let places_of_writes = places(tree.outputs.iter().map(|typed| &typed.ty), WRITES);
        let writes = tree.outputs.iter().zip(places_of_writes);
        let writes = writes.map(|(typed, place)| key_spec(typed, place));
        let states = tree.items.states.iter().map(|typed| key_spec(typed, 0));
        let lets = tree.lets().map(|typed| key_spec(typed, 0));
        let guarded = tree
            .guards
            .as_ref()
            .map(|_| quote!(.guards(#name::SPEC.guards)));
        let (types, definition) = (self.typed(), place::definition(&name.to_string()));
        // rustc reports under these brackets that the workflow is not `Send` because of a field.
        let span = tree.name.as_ref().map_or_else(Span::call_site, Ident::span);
        let bracketed = quote_spanned!(span=> (#name));
        quote! {
            #types
            impl __adk::GeneratedAgent for #bracketed {
                const META: &'static __adk::AgentMeta<'static> = &__adk::stub_if(
                    __FACTS.is_faulty(),
                    __adk::AgentMeta::new(__adk::AgentKind::Workflow, #label)
                        .defined(#definition)
                        .description(#description)
                        .reads(&[#(#reads),*])
                        .writes(&[#(#writes),*])
                        .states(&[#(#states),*])
                        .lets(&[#(#lets),*])
                        .steps(#name::SPEC.steps)
                        #guarded,
                );
                fn behavior(&self) -> __adk::Behavior<'_> {
                    __adk::Behavior::workflow(self)
                }
            }
        }
    }

    pub(super) fn step_table(&self) -> TokenStream {
        let name = &self.name;
        let agents = self.agents();
        let targets = self.targets_by_name();
        let (max, callbacks) = (self.max(), self.callbacks());
        let select = self.select();
        let lets = self.lets();
        let defaults = self.defaults();
        let states = self.states();
        quote! {
            impl __adk::workflow::StepTable for #name {
                fn spec(&self) -> &__adk::Spec<'_> {
                    const { &#name::SPEC }
                }
                fn name(&self, __step: usize) -> __adk::Name {
                    __wire::name(&#name::SPEC, __step)
                }
                fn agent(&self, __step: usize) -> ::core::option::Option<&dyn __adk::DynAgent> {
                    #agents
                }
                #targets
                #max
                #callbacks
                #select
                #lets
                #defaults
                #states
            }
        }
    }

    fn agents(&self) -> TokenStream {
        let mut arms = Vec::new();
        let name = &self.name;
        for (i, step) in self.plan.steps.iter().enumerate() {
            if let StepKind::Await(_) = step.kind {
                let at = index(i);
                let agent = quote!(__wire::Awaited::<#name, #at>::AGENT);
                arms.push((i, quote!(#at => ::core::option::Option::Some(#agent),)));
            }
            let Some(field) = step.field_use().filter(|_| step.is_agent()) else {
                continue;
            };
            let (at, agent) = (index(i), self.value(i, step, &field));
            arms.push((i, quote!(#at => #agent,)));
        }
        let none = none();
        let steps = |arms: &mut dyn Iterator<Item = &TokenStream>| {
            let arms = quote!(#(#arms)* _ => #none);
            quote!(match __step { #arms })
        };
        if !self.is_large {
            return steps(&mut arms.iter().map(|(_, arm)| arm));
        }
        // rustc compares the arms of one `match` with each other.
        let pieces = arms
            .chunk_by(|(a, _), (b, _)| a / NUMBERS == b / NUMBERS)
            .map(|piece| {
                let some = index(piece.first().map_or(0, |(at, _)| at / NUMBERS));
                let steps = steps(&mut piece.iter().map(|(_, arm)| arm));
                quote!(#some => #steps,)
            });
        let numbers = index(NUMBERS);
        quote!(match __step / #numbers { #(#pieces)* _ => #none })
    }

    /// Returns the targets of transfers, which are not steps.
    fn targets_by_name(&self) -> Option<TokenStream> {
        let targets = self
            .plan
            .entries()
            .filter(|(_, step)| matches!(step.kind, StepKind::Target(_) | StepKind::TargetPath(_)));
        let arms = targets.filter_map(|(i, step)| {
            let (name, agent) = (&step.name, self.value(i, step, &step.field_use()?));
            Some(quote!(#name => #agent,))
        });
        let head =
            quote!(fn target(&self, __name: &str) -> ::core::option::Option<&dyn __adk::DynAgent>);
        match_function(&head, &quote!(__name), arms.collect(), &none())
    }

    /// Returns the agent in a field, in the form that the runtime runs.
    fn value(&self, i: usize, step: &Step<'_>, field: &Ident) -> TokenStream {
        let alias = numbered_ident("Agent", i);
        match self.decl(step) {
            Some(DeclKind::Llm { .. }) => {
                quote!(::core::option::Option::Some((&self.#field).as_dyn()))
            }
            Some(DeclKind::Described { .. }) => {
                let held = quote!(__wire::SuppliedAgent<{ __wire::ItemFacts::<#alias>::DYN }>);
                quote!(<#alias as #held>::agent(&self.#field))
            }
            _ => match self.path_checked_at_run(step) {
                Some(path) => quote!(<(#path) as __wire::IsAgent>::as_dyn(&self.#field)),
                None => {
                    code!("<__Agent_{i} as __wire::StepAgent<__Kind_{i}>>::as_dyn(&self.{field})")
                }
            },
        }
    }

    fn max(&self) -> Option<TokenStream> {
        let arms = self
            .block_fields()
            .filter(|(_, block, _)| matches!(block.kind, BlockKind::Loop { .. }));
        let arms = arms.map(|(at, _, field)| quote!(#at => (&self.#field).max(),));
        let head = quote!(fn max(&self, __step: usize) -> ::core::option::Option<u32>);
        match_function(&head, &quote!(__step), arms.collect(), &none())
    }

    fn callbacks(&self) -> Option<TokenStream> {
        let arms = self.block_fields().map(|(at, _, field)| {
            let callbacks = quote!(__wire::BlockField::callbacks(&self.#field));
            quote!(#at => ::core::option::Option::Some(#callbacks),)
        });
        let head = quote! {
            fn callbacks(
                &self,
                __step: usize,
            ) -> ::core::option::Option<&__adk::callback::AgentCallbacks>
        };
        match_function(&head, &quote!(__step), arms.collect(), &none())
    }

    /// Returns the blocks that are fields, with their numbers.
    fn block_fields(&self) -> impl Iterator<Item = (Literal, &Block, Ident)> {
        self.plan
            .steps
            .iter()
            .enumerate()
            .filter_map(|(i, step)| match step.kind {
                StepKind::Block(block) => Some((index(i), block, step.field_use()?)),
                _ => None,
            })
    }

    fn lets(&self) -> Option<TokenStream> {
        let lets = self.tree.items.lets.iter().map(|Let { typed, value }| {
            let (key, ty, value) = (typed.key.text(), &typed.ty, value_body(typed, value));
            quote! {{
                fn __value() -> #ty { #value }
                <#ty as __wire::KeyValue>::set(&__value(), __keys, #key)?;
            }}
        });
        fallible_function(
            &quote!(fn lets(&self, __keys: &mut __adk::workflow::Keys)),
            lets.collect(),
        )
    }

    fn defaults(&self) -> Option<TokenStream> {
        self.tree
            .inputs
            .iter()
            .any(|input| input.default.is_some())
            .then(|| {
                quote! {
                    fn form(&self, __form: &mut __adk::workflow::Form) {
                        <Self as __adk::GeneratedWorkflow>::form(__form);
                    }
                }
            })
    }

    fn states(&self) -> Option<TokenStream> {
        let states = &self.tree.items.states;
        let checks = states.iter().map(|typed| {
            let (key, ty) = (typed.key.text(), &typed.ty);
            let get = quote!(<#ty as __wire::KeyValue>::get(__values, #key)?;);
            if typed.perhaps {
                quote!(if __values.has(#key) { #get })
            } else {
                get
            }
        });
        fallible_function(
            &quote!(fn check_state(&self, __values: &__adk::workflow::Values<'_>)),
            checks.collect(),
        )
    }
}

fn none() -> TokenStream {
    quote!(::core::option::Option::None)
}

/// Returns a function that finds a value by name or number, or `None` without arms.
fn match_function(
    head: &TokenStream,
    by: &TokenStream,
    arms: Vec<TokenStream>,
    other: &TokenStream,
) -> Option<TokenStream> {
    (!arms.is_empty()).then(|| quote!(#head { match #by { #(#arms)* _ => #other, } }))
}

/// Returns a function that executes statements and may fail, or `None` without statements.
fn fallible_function(head: &TokenStream, all: Vec<TokenStream>) -> Option<TokenStream> {
    (!all.is_empty())
        .then(|| quote!(#head -> __adk::Result<()> { #(#all)* ::core::result::Result::Ok(()) }))
}

/// Returns the body of a function that returns the value of a key. A `&str` is accepted for a
/// `String`.
pub(super) fn value_body(typed: &KeyDecl, value: &Expr) -> TokenStream {
    let ty = &typed.ty;
    if !is_string(ty) {
        // The name lets rustc explain the expected type without generated code.
        return quote!(let __value: #ty = #value; __value);
    }
    // The result of a macro has a type of its own, usually a text or a `String`.
    if matches!(value, Expr::Lit(_) | Expr::Macro(_)) {
        return quote!(__wire::ValueOf::<#ty>::value(#value));
    }
    let given = string_or_itself(value);
    quote!(use __wire::Itself as _; __wire::ValueOf::<#ty>::value(#given))
}
