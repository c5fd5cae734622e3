//! The agents of `llm::agent!`: one type per agent.

use super::super::ast::{Decl, DeclKind, Fields, KeyDecl};
use super::super::names;
use super::declared::Declaration;
use super::fields::tool_types;
use super::needs;
use crate::code::code;
use crate::{facade, place};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;

/// Expands `llm::agent!`.
///
/// The imports enclose the impls of all agents. With imports for each agent, rustc would read the
/// text of the whole call for every unused name of every agent: gigabytes for 3,000 agents.
pub(in super::super) fn agents(agents: &[Decl]) -> TokenStream {
    let all = agents.iter().filter_map(|decl| match &decl.kind {
        DeclKind::Llm { output, fields } => {
            Some((structure(decl), agent(decl, output.as_deref(), fields)))
        }
        _ => None,
    });
    let (structs, impls): (TokenStream, TokenStream) = all.unzip();
    in_block(&structs, &impls)
}

/// Expands agents with errors. Each agent depends on the errors, so that rustc reports no errors
/// about its uses.
pub(in super::super) fn stubs(agents: &[Decl], errors: &TokenStream) -> TokenStream {
    let mut seen: HashSet<String> = HashSet::new();
    let agents = agents
        .iter()
        .filter(|decl| seen.insert(names::unraw(&decl.name)));
    let all = agents.map(|decl| {
        let name = names::without_span(&decl.name);
        let stub = quote! {
            impl __adk::llm::Declares<0> for #name {
                const DECL: __adk::llm::LlmDecl = __ERRORS;
            }
        };
        let (types, impls) = (super::block_keys::agent_types(&name, None), impls(&name));
        (structure(decl), quote!(#stub #types #impls))
    });
    let (structs, impls): (TokenStream, TokenStream) = all.unzip();
    let errors = quote!(const __ERRORS: __adk::llm::LlmDecl = { #errors ::core::panic!() };);
    in_block(&structs, &quote!(#errors #impls))
}

fn in_block(structs: &TokenStream, impls: &TokenStream) -> TokenStream {
    let (allow, short, scope) = (
        super::allow(),
        facade::workflow_imports(),
        place::scope_const(),
    );
    quote! {
        #structs
        #allow
        const _: () = {
            #short
            #scope
            #impls
        };
    }
}

fn structure(decl: &Decl) -> TokenStream {
    let (attrs, vis, defined) = (&decl.attrs, &decl.vis, &decl.name);
    let (name, text) = (names::without_span(defined), names::unraw(defined));
    let (allow, adk) = (super::allow(), facade::private());
    let fallback = (!attrs.iter().any(crate::docs::is_doc)).then(|| {
        let doc = format!("The LLM agent `{text}`.");
        quote!(#[doc = #doc])
    });
    quote! {
        #(#attrs)*
        #fallback
        #allow
        #vis struct #defined { agent: #adk::llm::Declared<#name, 0>, }
    }
}

/// Returns the impls of an agent.
fn agent(decl: &Decl, output: Option<&KeyDecl>, fields: &Fields) -> TokenStream {
    let (name, text) = (&names::without_span(&decl.name), names::unraw(&decl.name));
    let own = Declaration {
        number: 0,
        decl,
        output,
        fields,
        is_refused: false,
    };
    let declares = own.expand(name, &place::definition(&text), &[], &|_| None);
    let (types, deprecated) = (
        super::block_keys::agent_types(name, output),
        super::allow_deprecated(&decl.attrs),
    );
    let (impls, needs) = (
        impls(name),
        needs::agent_needs(name, tool_types(0, fields, &|_| None)),
    );
    quote! {
        #deprecated
        const _: () = {
            #declares
            #types
            #impls
            #needs
        };
    }
}

/// Returns the impls of an agent other than its declaration.
fn impls(name: &proc_macro2::Ident) -> TokenStream {
    code!(
        "impl __adk::GeneratedAgent for {name} {{
            const META: &'static __adk::AgentMeta<'static> =
                <{name} as __adk::llm::Declares<0>>::META;
            fn behavior(&self) -> __adk::Behavior<'_> {{
                __adk::Behavior::Agent(__adk::llm::Declared::as_dyn(&self.agent))
            }}
        }}
        impl ::core::default::Default for {name} {{
            fn default() -> Self {{
                Self {{ agent: ::core::default::Default::default() }}
            }}
        }}
        impl ::core::ops::Deref for {name} {{
            type Target = __adk::llm::Declared<{name}, 0>;
            fn deref(&self) -> &Self::Target {{
                &self.agent
            }}
        }}
        impl ::core::ops::DerefMut for {name} {{
            fn deref_mut(&mut self) -> &mut Self::Target {{
                &mut self.agent
            }}
        }}
        impl ::core::fmt::Debug for {name} {{
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {{
                ::core::fmt::Debug::fmt(&self.agent, __f)
            }}
        }}"
    )
}

#[cfg(test)]
mod tests;
