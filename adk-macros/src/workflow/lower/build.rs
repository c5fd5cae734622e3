//! How a workflow is made: `Default`, and `new` where the caller supplies agents.

use super::super::ast::DeclKind;
use super::super::names::unspanned;
use super::super::plan::What;
use super::fields::callbacks;
use super::skips;
use super::{Lower, numbered};
use crate::code::code;
use proc_macro2::TokenStream;
use quote::quote;
use std::slice;

impl Lower<'_> {
    pub(super) fn build(&self) -> TokenStream {
        let name = &self.name;
        let (mut given, mut made, mut parameters, mut agree) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut bounds = Vec::new();
        for (i, step) in self.plan.all() {
            let Some(field) = &step.field_used() else {
                continue;
            };
            let decl =
                step.declared().and_then(|number| self.tree.items.agents.get(number).zip(Some(number)));
            match decl.map(|(decl, number)| (&decl.kind, number)) {
                Some((DeclKind::Given { ty }, number)) => {
                    let parameter = crate::twice::binding(field);
                    parameters.push((number, quote!(#parameter: #ty)));
                    given.push(quote!(#field: #parameter));
                    made.push(quote!(#field: ::core::default::Default::default()));
                    // The quantifier makes it a bound that may fail: otherwise rustc wants it to hold here.
                    bounds.push(quote!(for<'__any> #ty: ::core::default::Default));
                    continue;
                }
                Some((DeclKind::Described { ty, .. }, number)) => {
                    let alias = numbered("Agent", i);
                    let meta = numbered("DESCRIBED", number);
                    let parameter = crate::twice::binding(field);
                    parameters.push((number, quote!(#parameter: #ty)));
                    given.push(quote!(#field: #parameter));
                    let held = quote!(__wire::Holding<{ __wire::Probe::<#alias>::DYN }>);
                    agree.push(quote!(__wire::agrees(&#meta, <#alias as #held>::described(&#parameter))?;));
                    continue;
                }
                _ => {}
            }
            let value = match step.what {
                What::Block(block) if !block.callbacks.is_empty() => {
                    let declare = block.callbacks.iter().map(|callback| {
                        skips::added(callback)
                            .unwrap_or_else(|| callbacks(quote!(&mut *__of), slice::from_ref(callback)))
                    });
                    quote!(__wire::block(|__of: &mut __wire::Declaring<'_>| { #(#declare)* }))
                }
                What::Path(_) => {
                    let (path, make) =
                        (self.path_type(i, step), code!("as __wire::Make<__Kind_{i}>>::make()"));
                    quote!(<(#path) #make)
                }
                _ => quote!(::core::default::Default::default()),
            };
            given.push(quote!(#field: #value));
            made.push(quote!(#field: #value));
        }
        for (number, decl) in self.misspelt() {
            let field = unspanned(&decl.name);
            let default = quote!(#field: ::core::default::Default::default());
            match &decl.kind {
                DeclKind::Given { ty } | DeclKind::Described { ty, .. } if self.has_field(&decl.name) => {
                    parameters.push((number, quote!(_: #ty)));
                }
                DeclKind::Given { ty } | DeclKind::Described { ty, .. } => {
                    let parameter = crate::twice::binding(&decl.name);
                    parameters.push((number, quote!(#parameter: #ty)));
                    given.push(quote!(#field: #parameter));
                    bounds.push(quote!(for<'__any> #ty: ::core::default::Default));
                    made.push(default);
                }
                DeclKind::Llm { .. } => {
                    given.push(default.clone());
                    made.push(default);
                }
            }
            if let DeclKind::Described { .. } = decl.kind {
                // It is asked for a `Result`, without anything to compare.
                agree.push(TokenStream::new());
            }
        }
        for (_, field) in self.meant() {
            let default = quote!(#field: ::core::default::Default::default());
            given.push(default.clone());
            made.push(default);
        }
        // As they are declared: moving a step must not exchange two agents of one type.
        parameters.sort_by_key(|(number, _)| *number);
        let parameters: Vec<_> = parameters.into_iter().map(|(_, parameter)| parameter).collect();
        let default = agree.is_empty().then(|| {
            quote! {
                impl ::core::default::Default for #name where #(#bounds),* {
                    fn default() -> Self {
                        Self { #(#made),* }
                    }
                }
            }
        });
        let new = match (parameters.is_empty(), agree.is_empty()) {
            (true, _) => TokenStream::new(),
            (false, true) => quote! {
                impl #name {
                    /// Makes the workflow of the agents that it does not declare itself.
                    pub fn new(#(#parameters),*) -> Self {
                        Self { #(#given),* }
                    }
                }
            },
            (false, false) => quote! {
                impl #name {
                    /// Makes the workflow of the agents that it does not declare itself.
                    ///
                    /// # Errors
                    /// When an agent reads or writes other keys than the workflow was checked with.
                    pub fn new(#(#parameters),*) -> __adk::Result<Self> {
                        #(#agree)*
                        ::core::result::Result::Ok(Self { #(#given),* })
                    }
                }
            },
        };
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
}
