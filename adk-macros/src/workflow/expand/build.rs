//! How a workflow is made: `Default`, and `new` where the caller supplies agents.

use super::super::ast::{DeclKind, Toolset};
use super::super::names::unspanned;
use super::super::plan::{Step, What};
use super::fields::callbacks;
use super::skips;
use super::{Expansion, numbered};
use crate::code::code;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::slice;

/// The parts of `Default` and of `new`.
#[derive(Default)]
struct Parts {
    given: TokenStream,
    /// What `Default` needs of supplied agents.
    bounds: TokenStream,
    /// The parameters of `new`, each with the number of its declaration.
    parameters: Vec<(usize, TokenStream)>,
    /// The checks of agents that are known at run time.
    agree: TokenStream,
    /// The toolsets, as agents share them.
    toolsets: TokenStream,
}

impl Expansion<'_> {
    pub(super) fn build(&self) -> TokenStream {
        let mut parts = Parts::default();
        for (i, step) in self.plan.all() {
            if let Some(field) = &step.field_used() {
                self.part(i, step, field, &mut parts);
            }
        }
        let (name, new) = (&self.name, self.new_function(&mut parts));
        let Parts { given, bounds, agree, parameters, .. } = &parts;
        let made = if parameters.is_empty() {
            quote!(Self { #given })
        } else {
            let defaults = parameters.iter().map(|_| quote!(::core::default::Default::default()));
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
                    let mut __shown = ::core::fmt::Formatter::debug_struct(__f, ::core::stringify!(#name));
                    ::core::fmt::DebugStruct::finish_non_exhaustive(&mut __shown)
                }
            }
        }
    }

    /// The field of a step.
    fn part(&self, i: usize, step: &Step<'_>, field: &Ident, parts: &mut Parts) {
        let kind = self.decl(step);
        match (kind, step.declared()) {
            (Some(DeclKind::Given { ty }), Some(number)) => {
                let parameter = unspanned(field);
                parts.parameters.push((number, quote!(#parameter: #ty)));
                parts.given.extend(quote!(#field: #parameter,));
                // The quantifier makes it a bound that may fail: otherwise rustc wants it to hold here.
                parts.bounds.extend(quote!(for<'__any> #ty: ::core::default::Default,));
            }
            (Some(DeclKind::Described { ty, .. }), Some(number)) => {
                let (alias, meta, parameter) =
                    (numbered("Agent", i), numbered("DESCRIBED", number), unspanned(field));
                parts.parameters.push((number, quote!(#parameter: #ty)));
                parts.given.extend(quote!(#field: #parameter,));
                let held = quote!(__wire::SuppliedAgent<{ __wire::ItemFacts::<#alias>::DYN }>);
                parts.agree.extend(
                    quote!(__wire::check_supplied(&Self::SPEC, &#meta, <#alias as #held>::meta(&#parameter))?;),
                );
            }
            _ => {
                let value = match kind {
                    Some(DeclKind::Llm { fields, .. }) if !fields.toolsets.is_empty() => {
                        let names = fields.toolsets.iter().map(|(_, name)| unspanned(name));
                        quote!(__wire::with_toolsets(&[#(&#names),*]))
                    }
                    _ => made(i, step),
                };
                parts.given.extend(quote!(#field: #value,));
            }
        }
    }

    /// `new`, where the caller supplies agents.
    fn new_function(&self, parts: &mut Parts) -> Option<TokenStream> {
        // As they are declared: moving a step must not exchange two agents of one type.
        parts.parameters.sort_by_key(|(number, _)| *number);
        for (number, Toolset { name, ty, .. }) in self.tree.items.toolsets.iter().enumerate() {
            let (name, file) = (unspanned(name), numbered("FILE", number));
            parts.parameters.push((number, quote!(#name: #ty)));
            parts.toolsets.extend(quote!(let #name = __wire::toolset::<#ty>(#name, #file);));
            parts.bounds.extend(quote!(for<'__any> #ty: ::core::default::Default,));
        }
        let parameters: Vec<_> = parts.parameters.iter().map(|(_, parameter)| parameter).collect();
        let (name, given, agree, toolsets) = (&self.name, &parts.given, &parts.agree, &parts.toolsets);
        let (errors, output, made) = if agree.is_empty() {
            (TokenStream::new(), quote!(Self), quote!(Self { #given }))
        } else {
            let errors = quote! {
                ///
                /// # Errors
                /// When an agent reads or writes other keys than the workflow was checked with.
            };
            (errors, quote!(__adk::Result<Self>), quote!(::core::result::Result::Ok(Self { #given })))
        };
        (!parameters.is_empty()).then(|| {
            quote! {
                impl #name {
                    /// Makes the workflow of the agents and toolsets that it does not declare itself.
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

/// The value of a field that the workflow makes itself.
fn made(i: usize, step: &Step<'_>) -> TokenStream {
    match step.what {
        What::Block(block) if !block.callbacks.is_empty() => {
            let declare = block.callbacks.iter().map(|callback| {
                skips::added(callback)
                    .unwrap_or_else(|| callbacks(quote!(&mut *__of), slice::from_ref(callback)))
            });
            quote!(__wire::block(|__of: &mut __wire::BlockDeclaration<'_>| { #(#declare)* }))
        }
        What::Path(run) => {
            let (path, make) = (&run.path, code!("as __wire::Make<__Kind_{i}>>::make()"));
            quote!(<(#path) #make)
        }
        _ => quote!(::core::default::Default::default()),
    }
}
