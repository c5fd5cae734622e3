//! The struct of the workflow.

use super::super::ast::{BlockKind, DeclKind};
use super::super::plan::What;
use super::{Lower, index, tree};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

impl Lower<'_> {
    /// The struct with a field per agent and per named block.
    pub(super) fn structs(&self) -> TokenStream {
        let (adk, name) = (crate::facade::private(), &self.name);
        let (vis, attrs) = (&self.tree.vis, &self.tree.attrs);
        let defined = &self.tree.name;
        let mut fields = TokenStream::new();
        for (i, step) in self.plan.all() {
            let Some(field) = &step.field else {
                continue;
            };
            let (doc, ty, field) = match step.what {
                What::Declared(_, number) | What::Target(number) => {
                    let Some(decl) = self.tree.items.agents.get(number) else {
                        continue;
                    };
                    let n = index(number);
                    let ty = match &decl.kind {
                        DeclKind::Llm { .. } => quote!(#adk::llm::Declared<#name, #n>),
                        DeclKind::Given { ty } | DeclKind::Described { ty, .. } => quote!(#ty),
                    };
                    let has_alias = matches!(step.what, What::Declared(run, _) if run.alias.is_some());
                    // The declaration is where the field is defined; the step is a use of it.
                    let field = if has_alias { field } else { &decl.name };
                    (crate::docs::description(&decl.attrs), ty, field)
                }
                What::Path(_) => (None, self.path_type(i, step).unwrap_or_default(), field),
                What::Block(block) => {
                    let n = index(i);
                    let ty = match block.kind {
                        BlockKind::Loop { .. } => quote!(#adk::workflow::LoopBlock<#name, #n>),
                        _ => quote!(#adk::workflow::Block<#name, #n>),
                    };
                    (crate::docs::description(&block.attrs), ty, field)
                }
                What::Branch | What::Arm(_) | What::Break(_) | What::Await(_) | What::Unread | What::End => {
                    continue;
                }
            };
            let doc = doc.unwrap_or_else(|| {
                let text = format!("The step `{}`.", step.name);
                quote!(#text)
            });
            // Whoever reads the docs is shown what was written.
            let (shown, hidden) = match step.what {
                What::Path(run) if self.is_global(step) => {
                    (Some(&run.path), quote!(#[cfg(not(any(doc, rust_analyzer)))]))
                }
                _ => (None, TokenStream::new()),
            };
            let shown = shown.map(|path| {
                quote! {
                    #[doc = #doc]
                    #[cfg(any(doc, rust_analyzer))]
                    pub #field: #path,
                }
            });
            fields.extend(quote! {
                #shown
                #[doc = #doc]
                #hidden
                pub #field: #ty,
            });
        }
        for (number, decl) in self.misspelt() {
            let (field, n) = (&decl.name, index(number));
            let ty = match &decl.kind {
                DeclKind::Llm { .. } => quote!(#adk::llm::Declared<#name, #n>),
                _ if self.has_field(field) => continue,
                DeclKind::Given { ty } | DeclKind::Described { ty, .. } => quote!(#ty),
            };
            fields.extend(quote!(#[doc(hidden)] pub #field: #ty,));
        }
        for (i, field) in self.meant() {
            let ty = self.plan.steps.get(i).and_then(|step| self.path_type(i, step));
            fields.extend(ty.map(|ty| quote!(#[doc(hidden)] pub #field: #ty,)));
        }
        let separator = attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| quote!(#[doc = ""]));
        let tree = format!("```text\n{}```", tree::text(self.tree, self.plan));
        let allow = super::allow();
        let place = defined.as_ref().map_or_else(Span::call_site, crate::code::place);
        // rustc would propose the type of a field, where it is a letter that nothing is called, as a parameter of the struct: one
        // more message. It does not where the list of parameters is ours.
        let none = quote!(<>);
        let structure = quote_spanned!(place=> struct #defined #none { #fields });
        quote! {
            #(#attrs)*
            #separator
            #[doc = #tree]
            #allow
            #vis #structure
        }
    }
}
