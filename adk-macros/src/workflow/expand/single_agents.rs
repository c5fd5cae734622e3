//! The agents of `llm::agent!`: one type per agent.

use super::super::ast::{Decl, DeclKind, Fields, KeyDecl};
use super::super::names;
use super::declared::{Declaration, TargetTokens, target_meta};
use super::fields::tool_types;
use super::functions::raise_functions;
use super::{needs, numbered_ident};
use crate::code::code;
use crate::{facade, place};
use proc_macro2::{Ident, TokenStream};
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
    let mut required = tool_types(0, fields, &|_| None);
    let (target_items, targets) = targets(fields, &mut required);
    let declares = own.expand(name, &place::definition(&text), &targets, &|_| None);
    let (types, deprecated) = (
        super::block_keys::agent_types(name, output),
        super::allow_deprecated(&decl.attrs),
    );
    let (impls, needs) = (impls(name), needs::agent_needs(name, required));
    quote! {
        #deprecated
        const _: () = {
            #target_items
            #declares
            #types
            #impls
            #needs
        };
    }
}

/// Returns the types and checks of the targets of transfers, and the targets, which the agent holds
/// itself. Adds the types to `required`.
fn targets(fields: &Fields, required: &mut Vec<Ident>) -> (TokenStream, TargetTokens) {
    let mut items = TokenStream::new();
    let (mut metas, mut made) = (Vec::new(), Vec::new());
    for (i, path) in fields.transfer.iter().enumerate() {
        let alias = numbered_ident("Target", i);
        // Only this mention has a bound, so that a path that is not an agent is reported once.
        items.extend(quote! {
            type #alias = #path;
            const _: () = <(#path) as __wire::IsTarget>::YES;
        });
        let (name, ..) = names::name_of_path(path);
        metas.push(target_meta(&alias, &name));
        made.push(quote!(
            <(#path) as __wire::MakeTarget<{ __wire::ItemFacts::<#alias>::AGENT }>>::make()
        ));
        required.push(alias);
    }
    items.extend(raise_functions("agent", 0, fields.transfer.iter()));
    (items, TargetTokens { metas, made })
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
