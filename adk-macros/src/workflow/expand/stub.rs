//! The expansion of a workflow that a check of the macros rejected: its names, and the checks of
//! const evaluation if its flow is known.
//!
//! The description holds the errors, so that rustc reports no errors in workflows that run this
//! one. Editors get the names that they need to complete half-typed code.

use super::super::ast::Workflow;
use super::super::plan::Plan;
use super::{Expansion, allow, allow_deprecated};
use crate::{facade, place};
use proc_macro2::TokenStream;
use quote::quote;

/// The facts about a rejected workflow.
#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum KnownParts {
    /// Nothing, because a part of the workflow does not parse.
    Nothing,
    /// The flow, and the errors in its names.
    Names,
    /// The flow.
    Flow,
}

/// Returns the names of the workflow, and the errors.
pub(in super::super) fn workflow(
    tree: &Workflow,
    plan: &Plan<'_>,
    known: KnownParts,
    errors: TokenStream,
) -> TokenStream {
    let Some(name) = &tree.name else {
        return errors;
    };
    let expand = Expansion {
        refused: Some(known),
        ..Expansion::new(tree, plan, name)
    };
    let flow = (known != KnownParts::Nothing).then(|| expand.flow());
    let (editor, structs, keys) = (expand.editor(), expand.structs(), expand.key_structs());
    let (allow, names, deprecated) = (
        allow(),
        facade::workflow_imports(),
        allow_deprecated(&tree.attrs),
    );
    let (name, label) = (&expand.name, &plan.name);
    let (input, output, input_impls) = (
        expand.input_type(),
        expand.output_type(),
        expand.input_impls(),
    );
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
    /// Returns the items that const evaluation checks.
    fn flow(&self) -> TokenStream {
        let scope = place::scope_const();
        let (declared, awaits, placed, spec) = (
            self.declared(),
            self.awaits(),
            self.agent_aliases(),
            self.spec(),
        );
        quote!(#scope #declared #awaits #placed #spec)
    }
}
