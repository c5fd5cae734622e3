//! The agents of `llm::agent!`: a type for each.

use super::super::ast::{Decl, DeclKind, Fields, Typed};
use super::super::names;
use super::super::report::Report;
use super::declared::Declaration;
use crate::bare::{self, Place};
use crate::code::code;
use crate::facade;
use crate::twice::{self, Stand};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use std::collections::HashSet;

/// The whole expansion of `llm::agent!`.
///
/// The short names stand around the impls of all agents. At each of them, rustc would read the text of the whole call for
/// every name that one of them has no use for: gigabytes for 3,000 agents.
pub(in super::super) fn agents(agents: &[Decl], report: Report) -> TokenStream {
    let mut seen = HashSet::new();
    let (mut structs, mut impls) = (TokenStream::new(), TokenStream::new());
    for decl in agents {
        if let (true, DeclKind::Llm { output, fields }) = (seen.insert(names::plain(&decl.name)), &decl.kind)
        {
            let (defined, block) = agent(decl, output.as_deref(), fields);
            match twice::stand(&decl.name, &decl.attrs) {
                Stand::Alone => {
                    structs.extend(defined);
                    impls.extend(block);
                }
                Stand::Second(bare) => {
                    structs.extend(bare);
                    impls.extend(twice::apart(&quote!(#defined #block)));
                }
                Stand::Imported(other) => {
                    structs.extend(other.alias(&decl.vis));
                    structs.extend(other.rename(defined));
                    impls.extend(other.rename(block));
                }
            }
        }
    }
    let errors = report.into_tokens();
    if impls.is_empty() {
        return errors;
    }
    let (allow, short) = (super::allow(), facade::names_of_workflows());
    quote! {
        #structs
        #allow
        const _: () = {
            #short
            #impls
        };
        #errors
    }
}

/// An agent of `llm::agent!`: a struct of its name, and what is implemented for it.
fn agent(decl: &Decl, output: Option<&Typed>, fields: &Fields) -> (TokenStream, TokenStream) {
    let (attrs, vis, defined) = (&decl.attrs, &decl.vis, &decl.name);
    let (name, text) = (&names::unspanned(defined), names::plain(defined));
    let id = crate::origin::definition(&text);
    let asked = bare::ask(output.map(|typed| &typed.ty), Place::Answer);
    let own = Declaration { number: 0, decl, output, fields };
    // What a prompt that could not be read reads is not known.
    let declares = own.lower(name, &id, (&[], fields.unprompted), &|_| None);
    let types = super::fits::written(name, output);
    let (allow, adk) = (super::allow(), facade::private());
    let deprecated = super::deprecated(attrs);
    let fallback = (!attrs.iter().any(crate::docs::is_doc)).then(|| {
        let doc = format!("The LLM agent `{text}`.");
        quote!(#[doc = #doc])
    });
    let impls = impls(name);
    let fields = quote!(agent: #adk::llm::Declared<#name, 0>,);
    let structure = quote_spanned!(crate::code::place(defined)=> struct #defined { #fields });
    let defined = quote! {
        #(#attrs)*
        #fallback
        #allow
        #vis #structure
    };
    let block = quote! {
        #deprecated
        const _: () = {
            #asked
            #declares
            #types
            #impls
        };
    };
    (defined, block)
}

/// What an agent of `llm::agent!` is beside its declaration.
fn impls(name: &proc_macro2::Ident) -> TokenStream {
    code!(
        "impl __adk::MadeByMacro for {name} {{
            const META: &'static __adk::AgentMeta<'static> = <{name} as __adk::llm::Declares<0>>::META;
            fn made(&self) -> __adk::Making<'_> {{
                __adk::Making::Agent(__adk::llm::Declared::as_dyn(&self.agent))
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
mod tests {
    use crate::workflow::llm_agent;
    use quote::{format_ident, quote};

    /// Names of an import that are not used cost rustc the text of the whole call, each of them.
    #[test]
    fn the_short_names_are_imported_once_for_all_agents() {
        let agents = (0..20).map(|n| format_ident!("agent_{n}"));
        let all = llm_agent(quote!(#(agent #agents { instruction: "Hello." })*)).to_string();
        assert_eq!(all.matches("struct agent_").count(), 20);
        assert_eq!(all.matches("self as __wire").count(), 1);
    }
}
