//! Construction of a workflow: `Default`, and `new` if the caller supplies agents.

use super::super::ast::{DeclKind, Run, Toolset};
use super::super::names::without_span;
use super::super::plan::{Step, StepKind};
use super::block_callbacks;
use super::fields::callbacks;
use super::{Expansion, numbered_ident};
use crate::code::code;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::slice;

/// The parts of `Default` and of `new`.
#[derive(Default)]
struct Parts {
    given: TokenStream,
    /// The bounds of `Default` on the supplied agents.
    bounds: TokenStream,
    /// The parameters of `new`, each with the number of its declaration.
    parameters: Vec<(usize, TokenStream)>,
    /// The checks of agents that are known only at run time.
    agree: TokenStream,
    /// The toolsets, as the shared values that several agents use.
    toolsets: TokenStream,
}

impl Expansion<'_> {
    pub(super) fn build(&self) -> TokenStream {
        let mut parts = Parts::default();
        for (i, step) in self.plan.entries() {
            if let Some(field) = &step.field_use() {
                self.part(i, step, field, &mut parts);
            }
        }
        let (name, new) = (&self.name, self.new_function(&mut parts));
        let Parts {
            given,
            bounds,
            agree,
            parameters,
            ..
        } = &parts;
        let made = if parameters.is_empty() {
            quote!(Self { #given })
        } else {
            let defaults = parameters
                .iter()
                .map(|_| quote!(::core::default::Default::default()));
            quote!(Self::new(#(#defaults),*))
        };
        let default = agree.is_empty().then(|| {
            quote! {
                impl ::core::default::Default for #name where #bounds {
                    fn default() -> Self {
                        #made
                    }
                }
            }
        });
        quote! {
            #default
            #new
            impl ::core::fmt::Debug for #name {
                fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut __shown =
                        ::core::fmt::Formatter::debug_struct(__f, ::core::stringify!(#name));
                    ::core::fmt::DebugStruct::finish_non_exhaustive(&mut __shown)
                }
            }
        }
    }

    /// Adds the field of a step.
    fn part(&self, i: usize, step: &Step<'_>, field: &Ident, parts: &mut Parts) {
        let kind = self.decl(step);
        match (kind, step.declared_number()) {
            (Some(DeclKind::Supplied { ty }), Some(number)) => {
                let parameter = without_span(field);
                parts.parameters.push((number, quote!(#parameter: #ty)));
                parts.given.extend(quote!(#field: #parameter,));
                // With `for<...>` the bound may fail, and the workflow then has no `Default`.
                // Without it, rustc would require here that the bound holds.
                parts
                    .bounds
                    .extend(quote!(for<'__any> #ty: ::core::default::Default,));
            }
            (Some(DeclKind::Described { ty, .. }), Some(number)) => {
                let (alias, meta, parameter) = (
                    numbered_ident("Agent", i),
                    numbered_ident("DESCRIBED", number),
                    without_span(field),
                );
                parts.parameters.push((number, quote!(#parameter: #ty)));
                parts.given.extend(quote!(#field: #parameter,));
                let held = quote!(__wire::SuppliedAgent<{ __wire::ItemFacts::<#alias>::DYN }>);
                let described = quote!(<#alias as #held>::meta(&#parameter));
                parts
                    .agree
                    .extend(quote!(__wire::check_supplied(&Self::SPEC, &#meta, #described)?;));
            }
            _ => {
                let value = match kind {
                    Some(DeclKind::Llm { fields, .. }) if !fields.tools.sets.is_empty() => {
                        let names = fields.tools.sets.iter().map(|(_, name)| without_span(name));
                        quote!(__wire::with_toolsets(&[#(&#names),*]))
                    }
                    _ => field_value(i, step),
                };
                parts.given.extend(quote!(#field: #value,));
            }
        }
    }

    /// Returns `new` if the caller supplies agents or toolsets.
    fn new_function(&self, parts: &mut Parts) -> Option<TokenStream> {
        // The order of declarations, so that moving a step cannot exchange two agents of the same
        // type.
        parts.parameters.sort_by_key(|(number, _)| *number);
        for (number, Toolset { name, ty, .. }) in self.tree.items.toolsets.iter().enumerate() {
            let (name, file) = (without_span(name), numbered_ident("FILE", number));
            parts.parameters.push((number, quote!(#name: #ty)));
            parts
                .toolsets
                .extend(quote!(let #name = __wire::toolset::<#ty>(#name, #file);));
            parts
                .bounds
                .extend(quote!(for<'__any> #ty: ::core::default::Default,));
        }
        let parameters: Vec<_> = parts
            .parameters
            .iter()
            .map(|(_, parameter)| parameter)
            .collect();
        let (name, given, agree, toolsets) =
            (&self.name, &parts.given, &parts.agree, &parts.toolsets);
        let (errors, output, made) = if agree.is_empty() {
            (TokenStream::new(), quote!(Self), quote!(Self { #given }))
        } else {
            let errors = quote! {
                ///
                /// # Errors
                /// Returns an error if an agent reads or writes undeclared keys.
            };
            (
                errors,
                quote!(__adk::Result<Self>),
                quote!(::core::result::Result::Ok(Self { #given })),
            )
        };
        (!parameters.is_empty()).then(|| {
            quote! {
                impl #name {
                    /// Creates the workflow from the agents and toolsets that the caller supplies.
                    #errors
                    pub fn new(#(#parameters),*) -> #output {
                        #agree
                        #toolsets
                        #made
                    }
                }
            }
        })
    }
}

/// Returns the value of a field that the workflow creates itself.
fn field_value(i: usize, step: &Step<'_>) -> TokenStream {
    match step.kind {
        StepKind::Block(block) if !block.callbacks.is_empty() => {
            let declare = block.callbacks.iter().map(|callback| {
                block_callbacks::block_callback(callback)
                    .unwrap_or_else(|| callbacks(quote!(&mut *__of), slice::from_ref(callback)))
            });
            quote!(__wire::block(|__of: &mut __wire::BlockDeclaration<'_>| { #(#declare)* }))
        }
        StepKind::Path(Run { path, .. }) | StepKind::TargetPath(path) => {
            let make = code!("as __wire::Make<__Kind_{i}>>::make()");
            quote!(<(#path) #make)
        }
        _ => quote!(::core::default::Default::default()),
    }
}
