//! A workflow that a check of the macros refused: its names and, where its flow is known, what const evaluation finds in it.
//!
//! The description holds the errors, so that rustc reports nothing of the workflows that run this one. Editors get what they
//! complete half-typed code by.

use super::super::ast::Workflow;
use super::super::plan::Plan;
use super::{Expansion, allow, deprecated};
use crate::{facade, place};
use proc_macro2::TokenStream;
use quote::quote;

/// What is known of a workflow that was refused.
#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum Known {
    /// A part of it could not be read.
    Nothing,
    /// Its flow, and what is wrong with its names.
    Names,
    /// Its flow.
    Flow,
}

/// The names of the workflow, and the errors.
pub(in super::super) fn workflow(
    tree: &Workflow,
    plan: &Plan<'_>,
    known: Known,
    errors: TokenStream,
) -> TokenStream {
    let Some(name) = &tree.name else { return errors };
    let expand = Expansion { refused: Some(known), ..Expansion::new(tree, plan, name) };
    let flow = (known != Known::Nothing).then(|| expand.flow());
    let (editor, structs, keys) = (expand.editor(), expand.structs(), expand.key_structs());
    let (allow, names, deprecated) = (allow(), facade::names_of_workflows(), deprecated(&tree.attrs));
    let (name, label) = (&expand.name, &plan.name);
    let (input, output, input_impls) = (expand.input_type(), expand.output_type(), expand.input_impls());
    quote! {
        #editor
        #structs
        #keys
        #allow
        #deprecated
        const _: () = {
            #names
            #flow
            #input_impls
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    ::core::unreachable!()
                }
            }
            impl __adk::GeneratedAgent for #name {
                const META: &'static __adk::AgentMeta<'static> = {
                    #errors
                    &__adk::AgentMeta::new(__adk::AgentKind::Workflow, #label)
                };
                fn behavior(&self) -> __adk::Behavior<'_> {
                    ::core::unreachable!()
                }
            }
            impl<__R: ?::core::marker::Sized> __adk::resources::Needs<__R> for #name {}
            impl __adk::GeneratedWorkflow for #name {
                type Input = #input;
                type Output = #output;
            }
        };
    }
}

impl Expansion<'_> {
    /// What const evaluation looks at.
    fn flow(&self) -> TokenStream {
        let scope = place::scope_const();
        let (declared, awaits, placed, spec) = (self.declared(), self.awaits(), self.placed(), self.spec());
        quote!(#scope #declared #awaits #placed #spec)
    }
}
