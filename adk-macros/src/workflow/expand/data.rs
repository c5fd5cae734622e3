//! The struct of the workflow.

use super::super::ast::{BlockKind, DeclKind};
use super::super::plan::StepKind;
use super::{Expansion, index, tree};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::HashSet;

impl Expansion<'_> {
    /// Returns the struct with a field per agent and per named block.
    pub(super) fn structs(&self) -> TokenStream {
        let (adk, name) = (crate::facade::private(), &self.name);
        let (vis, attrs) = (&self.tree.vis, &self.tree.attrs);
        let defined = &self.tree.name;
        let mut fields = TokenStream::new();
        let mut seen = HashSet::new();
        for (i, step) in self.plan.entries() {
            // Fields of a rejected workflow may share a name.
            let Some(field) = step
                .field
                .as_ref()
                .filter(|field| seen.insert(field.to_string()))
            else {
                continue;
            };
            let (doc, ty, field) = match step.kind {
                StepKind::Declared(_, number) | StepKind::Target(number) => {
                    let Some(decl) = self.tree.items.agents.get(number) else {
                        continue;
                    };
                    let n = index(number);
                    let ty = match &decl.kind {
                        DeclKind::Llm { .. } => quote!(#adk::llm::Declared<#name, #n>),
                        DeclKind::Supplied { ty } | DeclKind::Described { ty, .. } => quote!(#ty),
                    };
                    let has_alias =
                        matches!(step.kind, StepKind::Declared(run, _) if run.alias.is_some());
                    // The declaration defines the field; the step uses it.
                    let field = if has_alias { field } else { &decl.name };
                    (crate::docs::description(&decl.attrs), ty, field)
                }
                StepKind::Path(run) => (None, run.path.to_token_stream(), field),
                StepKind::TargetPath(path) => (None, path.to_token_stream(), field),
                StepKind::Block(block) => {
                    let n = index(i);
                    let ty = match block.kind {
                        BlockKind::Loop { .. } => quote!(#adk::workflow::LoopBlock<#name, #n>),
                        _ => quote!(#adk::workflow::Block<#name, #n>),
                    };
                    (crate::docs::description(&block.attrs), ty, field)
                }
                StepKind::Branch
                | StepKind::Arm(_)
                | StepKind::Else
                | StepKind::Break(_)
                | StepKind::Await(_)
                | StepKind::End => {
                    continue;
                }
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
        let separator = attrs
            .iter()
            .any(|attr| attr.path().is_ident("doc"))
            .then(|| quote!(#[doc = ""]));
        let tree = format!("```text\n{}```", tree::text(self.tree, self.plan));
        let allow = super::allow();
        quote! {
            #(#attrs)*
            #separator
            #[doc = #tree]
            #allow
            #vis struct #defined { #fields }
        }
    }
}
