//! [`KeyTypes`]: the keys that a function reads and writes as types, which `key-type` compares
//! across modules and crates.

use super::args::AgentArgs;
use super::parse::{Function, Source};
use crate::code::{code, read};
use crate::typed::{READS, implement, places, plain_type};
use crate::types;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

pub(super) struct KeyTypes {
    /// Aliases that the types below mention.
    aliases: TokenStream,
    reads: Vec<KeyType>,
    written: Option<TokenStream>,
}

/// The type of a key that the function reads.
pub(super) struct KeyType {
    pub(super) ty: TokenStream,
    /// The type in `Typed::Reads`, which determines whether the key may be absent.
    pub(super) read: TokenStream,
    /// An expression for whether the read accepts a value of any type; `None` for a read that does
    /// not.
    pub(super) any: Option<TokenStream>,
    pub(super) optional: TokenStream,
}

impl KeyTypes {
    pub(super) fn new(function: &Function, args: &AgentArgs) -> Self {
        let mut aliases = TokenStream::new();
        let params = function.params(Source::Plain).enumerate();
        let reads = params
            .map(|(at, param)| KeyType::new(&param.ty, at, &mut aliases))
            .collect();
        let written = args.writes.as_ref().map(|_| {
            if let Some(ty) = return_type(function).and_then(plain_type) {
                return ty;
            }
            // A returned `&'static str` has the key type of any text.
            aliases.extend(read(
                "type __AdkGiven = <__AdkValue as __typed::OfOption<{
                    __adk::TypeFacts::<__AdkValue>::OPTIONAL
                }>>::Value;
                type __AdkWritten = <__AdkGiven as __typed::OfRef<{
                    __typed::KeyFacts::<__AdkGiven>::REF
                }>>::Value;",
            ));
            quote!(__AdkWritten)
        });
        Self {
            aliases,
            reads,
            written,
        }
    }

    /// Returns the facts about the type of the key that parameter `at` reads.
    pub(super) fn read_type(&self, at: usize) -> Option<&KeyType> {
        self.reads.get(at)
    }

    pub(super) fn written_type(&self) -> TokenStream {
        self.written.clone().unwrap_or_else(|| quote!(()))
    }

    /// Returns the places of the parameters in `impl Typed`.
    pub(super) fn places(function: &Function) -> Vec<u8> {
        places(function.params(Source::Plain).map(|param| &param.ty), READS)
    }

    /// Returns the aliases and `impl Typed`.
    pub(super) fn expand(&self, function: &Function, name: &Ident) -> TokenStream {
        let Self {
            aliases,
            reads,
            written,
        } = self;
        let head = quote!(impl __typed::Typed for #name);
        let reads: Vec<_> = function
            .params(Source::Plain)
            .zip(reads)
            .map(|(param, key)| (&param.ty, key.read.clone()))
            .collect();
        let unit = syn::parse_quote!(());
        let writes = written
            .iter()
            .map(|ty| (return_type(function).unwrap_or(&unit), ty.clone()));
        let typed = implement(&head, &reads, &writes.collect::<Vec<_>>());
        quote!(#aliases #typed)
    }
}

impl KeyType {
    /// Finds the facts about a type. Its name may be an alias, so the expansion asks traits about
    /// it. A plain type needs no traits, because its name is not used as an alias.
    pub(super) fn new(ty: &Type, at: usize, aliases: &mut TokenStream) -> Self {
        if let Some(ty) = plain_type(ty) {
            return Self {
                read: quote!(__typed::Is<#ty>),
                ty,
                any: None,
                optional: quote!(false),
            };
        }
        // Aliases for the type of the parameter, how the key is read, its borrowed type, its owned
        // type, and the type of the key.
        let alias = |step: usize| format!("__AdkKey_{at}_{step}");
        let (parameter, owned, key) = (alias(1), alias(2), alias(3));
        let (written, ty) = (
            read(&alias(0)),
            types::with_static_lifetimes(ty.to_token_stream()),
        );
        aliases.extend(quote!(type #written = #ty;));
        let (written, borrowed) = (alias(0), alias(4));
        aliases.extend(code!(
            "type {parameter} = <{written} as __typed::OfOption<{{
                __adk::TypeFacts::<{written}>::OPTIONAL
            }}>>::Parameter;
            type {borrowed} = <{parameter} as __typed::Parameter>::Value;
            type {owned} =
                <{borrowed} as __typed::OfRef<{{ __typed::KeyFacts::<{borrowed}>::REF }}>>::Value;
            type {key} =
                <{owned} as __typed::OfValue<{{ __typed::KeyFacts::<{owned}>::VALUE }}>>::Value;"
        ));
        Self {
            read: code!("<{parameter} as __typed::Parameter>::Read<{key}>"),
            ty: read(&key),
            any: Some(code!("__typed::KeyFacts::<{owned}>::VALUE")),
            optional: code!("__adk::TypeFacts::<{written}>::OPTIONAL"),
        }
    }
}

fn return_type(function: &Function) -> Option<&Type> {
    match &function.sig.output {
        syn::ReturnType::Type(_, ty) => Some(ty),
        syn::ReturnType::Default => None,
    }
}

/// Returns whether the return type is plain, so that it contains no `Result`, `Flow` or `Option`.
pub(super) fn is_plain(function: &Function) -> bool {
    return_type(function).is_some_and(crate::typed::is_plain)
}
