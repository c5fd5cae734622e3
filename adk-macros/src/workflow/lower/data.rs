//! The struct of the workflow, and code for editors.

use super::super::ast::{BlockKind, DeclKind};
use super::super::plan::What;
use super::{Lower, docs, index, numbered};
use proc_macro2::TokenStream;
use quote::quote;

impl Lower<'_> {
    /// The struct with a field per agent and per named block.
    pub(super) fn structs(&self) -> TokenStream {
        let (adk, name, vis, attrs) = (&self.adk, self.name, &self.tree.vis, &self.tree.attrs);
        let mut fields = TokenStream::new();
        for (i, step) in self.plan.steps.iter().enumerate() {
            let Some(field) = &step.field else {
                continue;
            };
            let (doc, ty, field) = match step.what {
                What::Declared(run, number) => {
                    let Some(decl) = self.tree.items.agents.get(number) else {
                        continue;
                    };
                    let n = index(number);
                    let ty = match &decl.kind {
                        DeclKind::Llm { .. } => quote!(#adk::llm::Declared<#name, #n>),
                        DeclKind::Given { ty } | DeclKind::Described { ty, .. } => quote!(#ty),
                    };
                    // The declaration is where the field is defined; the step is a use of it.
                    let field = if run.alias.is_some() { field } else { &decl.name };
                    (crate::docs::description(&decl.attrs), ty, field)
                }
                What::Path(run) => {
                    let path = &run.path;
                    (None, quote!(#path), field)
                }
                What::Block(block) => {
                    let n = index(i);
                    let ty = match block.kind {
                        BlockKind::Loop { .. } => quote!(#adk::workflow::LoopBlock<#name, #n>),
                        _ => quote!(#adk::workflow::Block<#name, #n>),
                    };
                    (crate::docs::description(&block.attrs), ty, field)
                }
                What::Branch | What::Break(_) | What::End => continue,
            };
            let doc = doc.unwrap_or_else(|| {
                let text = format!("The step `{}`.", step.name);
                quote!(#text)
            });
            fields.extend(quote! {
                #[doc = #doc]
                pub #field: #ty,
            });
        }
        let separator = attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| quote!(#[doc = ""]));
        let tree = format!("```text\n{}```", docs::tree(self.tree, self.plan));
        let allow = super::allow();
        quote! {
            #(#attrs)*
            #separator
            #[doc = #tree]
            #allow
            #vis struct #name { #fields }
        }
    }

    /// Completion of a path that ends in `::`. Has to come first: editors compare two expansions by offset.
    pub(super) fn editor(&self) -> TokenStream {
        let mut uses = TokenStream::new();
        for (i, path) in self.tree.half_typed.iter().enumerate() {
            let item = numbered("half_typed", i);
            // In an item of its own, and seen by editors alone.
            uses.extend(quote!(#[cfg(rust_analyzer)] fn #item() { let _: #path __complete; }));
        }
        match uses.is_empty() {
            true => TokenStream::new(),
            false => quote! {
                #[allow(unexpected_cfgs)]
                const _: () = { #uses };
            },
        }
    }
}
