//! A step that is not declared here and whose name is near to one that is: whether it is a slip, only rustc knows. And a
//! step that is looked up in one place, since rustc would say something else of it in another.

use super::super::ast::{Decl, DeclKind};
use super::super::plan::{Step, What};
use super::{Lower, index, numbered};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

impl Lower<'_> {
    /// The declared agent that may have been meant.
    pub(super) fn slip(&self, step: &Step<'_>) -> Option<&Ident> {
        let near = step.near.filter(|_| !step.told)?;
        self.tree.items.agents.get(near).map(|decl| &decl.name)
    }

    /// The agents that only steps with a slip in their name were to run, which is told there: whoever supplies them, or uses their
    /// fields, is told nothing.
    pub(super) fn misspelt(&self) -> Vec<(usize, &Decl)> {
        let mut numbers: Vec<_> = self.plan.steps.iter().filter_map(|step| step.near).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let runs = |number| self.plan.all().any(|(_, step)| step.declared() == Some(number));
        let unused = numbers.into_iter().filter(|number| !runs(*number));
        let decls = unused.filter_map(|number| Some((number, self.tree.items.agents.get(number)?)));
        let is_llm = |decl: &Decl| matches!(decl.kind, DeclKind::Llm { .. });
        decls.filter(|(_, decl)| !is_llm(decl) || !self.has_field(&decl.name)).collect()
    }

    /// Whether a step has a field of that name, which a declared agent with a slip may have otherwise.
    pub(super) fn has_field(&self, name: &Ident) -> bool {
        self.plan.all().any(|(_, step)| step.field.as_ref() == Some(name))
    }

    /// The fields that steps would have whose paths certainly lead nowhere, if what may have been meant stood there.
    pub(super) fn meant(&self) -> Vec<(usize, Ident)> {
        let mut all: Vec<(usize, Ident)> = Vec::new();
        for (i, step) in self.plan.all().filter(|(_, step)| !step.told) {
            let Some(Ok(field)) = step.meant.as_deref().map(syn::parse_str::<Ident>) else { continue };
            let is_declared = self.tree.items.agents.iter().any(|decl| decl.name == field);
            if !is_declared && !self.has_field(&field) && all.iter().all(|(_, other)| *other != field) {
                all.push((i, field));
            }
        }
        all
    }

    /// Whether its path is mentioned in one place alone, behind which the type is asked for.
    pub(super) fn is_held(&self, step: &Step<'_>) -> bool {
        self.slip(step).is_some() || self.is_global(step)
    }

    /// Whether its path begins with `::`, or leads nowhere as it seems. Of one that does not resolve rustc proposes what it would
    /// import: in the block of the workflow also what the module around has already, so that two places would be two messages.
    pub(super) fn is_global(&self, step: &Step<'_>) -> bool {
        let is_global = matches!(step.what, What::Path(run) if run.path.leading_colon.is_some());
        (is_global || step.astray) && !step.told && step.field_used().is_some()
    }

    /// The type of a step that is known by its path.
    pub(super) fn path_type(&self, i: usize, step: &Step<'_>) -> Option<TokenStream> {
        let What::Path(run) = step.what else {
            return None;
        };
        Some(if !self.is_held(step) {
            run.path.to_token_stream()
        } else {
            let (holder, i) = (self.slips(), index(i));
            // Where the struct is defined, our short names are not known.
            let adk = crate::facade::private();
            quote!(<#holder as #adk::wire::Slip<#i>>::Agent)
        })
    }

    /// What such types are looked up on: private, since an agent may be less visible than the workflow.
    fn slips(&self) -> Ident {
        format_ident!("__{}Slips", self.name, span = Span::call_site())
    }

    /// That type, in a workflow that needs it.
    pub(super) fn slip_holder(&self) -> Option<TokenStream> {
        let (holder, allow) = (self.slips(), super::allow());
        let any = self.plan.steps.iter().any(|step| self.is_held(step));
        any.then(|| quote!(#[doc(hidden)] #allow struct #holder;))
    }

    /// Its alias. Where a slip is looked up there stands a type of the declared agent's name, so that rustc, when it finds
    /// none of the written name, says which one is similar. Nothing else is looked up there.
    pub(super) fn held(&self, i: usize, step: &Step<'_>) -> TokenStream {
        let What::Path(run) = step.what else {
            return TokenStream::new();
        };
        let (holder, path, alias) = (self.slips(), &run.path, numbered("Agent", i));
        let n = index(i);
        // rustc names no definition that spans the place of the error, as the whole macro call does.
        let meant = self.slip(step).map(|meant| quote_spanned!(meant.span()=> struct #meant {}));
        quote! {
            const _: () = {
                #meant
                impl __wire::Slip<#n> for #holder {
                    type Agent = #path;
                }
                const _: () = <(#path) as __wire::IsAgent>::YES;
            };
            type #alias = <#holder as __wire::Slip<#n>>::Agent;
        }
    }
}
