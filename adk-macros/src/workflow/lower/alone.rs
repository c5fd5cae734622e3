//! The agents of `llm::agent!`: a type for each.

use super::super::ast::{Decl, DeclKind};
use super::super::names;
use super::declared::Declaration;
use crate::code::code;
use crate::facade;
use proc_macro2::TokenStream;
use quote::quote;

/// An agent of `llm::agent!`: a struct of its name.
pub(super) fn agent(decl: &Decl) -> TokenStream {
    let DeclKind::Llm { output, fields } = &decl.kind else {
        return TokenStream::new();
    };
    let (attrs, vis, defined) = (&decl.attrs, &decl.vis, &decl.name);
    let (name, text) = (&names::unspanned(defined), names::plain(defined));
    let id = quote!(::core::concat!(::core::module_path!(), "::", #text));
    let own = Declaration { number: 0, decl, output: output.as_deref(), fields };
    let declares = own.lower(name, &id, &[], &|_| None);
    let types = super::fits::written(name, output.as_deref());
    let (allow, adk, short) = (super::allow(), facade::private(), facade::names_of_workflows());
    let deprecated = super::deprecated(attrs);
    let fallback = (!attrs.iter().any(crate::docs::is_doc)).then(|| {
        let doc = format!("The LLM agent `{text}`.");
        quote!(#[doc = #doc])
    });
    let impls = impls(name);
    quote! {
        #(#attrs)*
        #fallback
        #allow
        #vis struct #defined {
            agent: #adk::llm::Declared<#name, 0>,
        }
        #allow
        #deprecated
        const _: () = {
            #short
            #declares
            #types
            #impls
        };
    }
}

/// What an agent of `llm::agent!` is beside its declaration.
fn impls(name: &proc_macro2::Ident) -> TokenStream {
    code!(
        "impl __adk::MadeByMacro for {name} {{
            const META: &'static __adk::AgentMeta<'static> = <{name} as __adk::llm::Declares<0>>::META;
            fn made(&self) -> __adk::Making<'_> {{
                __adk::Making::Agent(self.agent.as_dyn())
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
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {{
                ::core::fmt::Debug::fmt(&self.agent, f)
            }}
        }}"
    )
}
