//! What a function reads and writes, as types: what `key-type` compares across modules and crates.

use super::args::AgentArgs;
use super::parse::{Function, Source};
use crate::code::{code, read};
use crate::typed::{READS, implement, places, plain};
use crate::types;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

pub(super) struct Keys {
    /// Aliases that the types are made of.
    aliases: TokenStream,
    reads: Vec<Key>,
    written: Option<TokenStream>,
}

/// The type of a key that is read.
pub(super) struct Key {
    pub(super) ty: TokenStream,
    /// The same as `Typed::Reads` says it, which tells whether the key may be absent.
    pub(super) read: TokenStream,
    /// Whether a value of any type serves; `None` is no.
    pub(super) any: Option<TokenStream>,
    pub(super) optional: TokenStream,
}

impl Keys {
    pub(super) fn of(function: &Function, args: &AgentArgs) -> Self {
        let mut aliases = TokenStream::new();
        let params = function.params(Source::Plain).enumerate();
        let reads = params.map(|(at, param)| Key::of(&param.ty, at, &mut aliases)).collect();
        let written = args.writes.as_ref().map(|_| {
            if let Some(ty) = returned(function).and_then(plain) {
                return ty;
            }
            // A `&'static str` that is returned is text like any other.
            aliases.extend(read(
                "type __AdkGiven = <__AdkValue as __typed::OfOption<{ __adk::TypeFacts::<__AdkValue>::OPTIONAL }>>::Value;
                type __AdkWritten = <__AdkGiven as __typed::OfRef<{ __typed::KeyFacts::<__AdkGiven>::REF }>>::Value;",
            ));
            quote!(__AdkWritten)
        });
        Self { aliases, reads, written }
    }

    /// What is known of the type of a key that is read.
    pub(super) fn of_read(&self, at: usize) -> Option<&Key> {
        self.reads.get(at)
    }

    /// Whether the spelling of the type of that parameter says all.
    pub(super) fn is_plain(&self, at: usize) -> bool {
        self.reads.get(at).is_some_and(|key| key.any.is_none())
    }

    pub(super) fn of_written(&self) -> TokenStream {
        self.written.clone().unwrap_or_else(|| quote!(()))
    }

    /// The places that the parameters have in `impl Typed`.
    pub(super) fn places(function: &Function) -> Vec<u8> {
        places(function.params(Source::Plain).map(|param| &param.ty), READS)
    }

    /// The aliases and `impl Typed`.
    pub(super) fn expand(&self, function: &Function, name: &Ident) -> TokenStream {
        let Self { aliases, reads, written } = self;
        let head = quote!(impl __typed::Typed for #name);
        let reads: Vec<_> = function
            .params(Source::Plain)
            .zip(reads)
            .map(|(param, key)| (&param.ty, key.read.clone()))
            .collect();
        let unit = syn::parse_quote!(());
        let writes = written.iter().map(|ty| (returned(function).unwrap_or(&unit), ty.clone()));
        let typed = implement(&head, &reads, &writes.collect::<Vec<_>>());
        quote!(#aliases #typed)
    }
}

impl Key {
    /// What a type is called may be an alias, so types are asked; those that nobody gives an alias are
    /// known without.
    pub(super) fn of(ty: &Type, at: usize, aliases: &mut TokenStream) -> Self {
        if let Some(ty) = plain(ty) {
            return Self { read: quote!(__typed::Is<#ty>), ty, any: None, optional: quote!(false) };
        }
        // What is written, how it is read, what it borrows, what owns that, and the type of the key.
        let alias = |step: usize| format!("__AdkKey_{at}_{step}");
        let (parameter, owned, key) = (alias(1), alias(2), alias(3));
        let (written, ty) = (read(&alias(0)), types::fixed(ty.to_token_stream()));
        aliases.extend(quote!(type #written = #ty;));
        let (written, borrowed) = (alias(0), alias(4));
        aliases.extend(code!(
            "type {parameter} =
                <{written} as __typed::OfOption<{{ __adk::TypeFacts::<{written}>::OPTIONAL }}>>::Parameter;
            type {borrowed} = <{parameter} as __typed::Parameter>::Value;
            type {owned} = <{borrowed} as __typed::OfRef<{{ __typed::KeyFacts::<{borrowed}>::REF }}>>::Value;
            type {key} = <{owned} as __typed::OfValue<{{ __typed::KeyFacts::<{owned}>::VALUE }}>>::Value;"
        ));
        Self {
            read: code!("<{parameter} as __typed::Parameter>::Read<{key}>"),
            ty: read(&key),
            any: Some(code!("__typed::KeyFacts::<{owned}>::VALUE")),
            optional: code!("__adk::TypeFacts::<{written}>::OPTIONAL"),
        }
    }
}

fn returned(function: &Function) -> Option<&Type> {
    match &function.sig.output {
        syn::ReturnType::Type(_, ty) => Some(ty),
        syn::ReturnType::Default => None,
    }
}

/// Whether the spelling of a type says all, so that there is no `Result`, no `Flow` and no `Option` in it.
pub(super) fn is_plain(function: &Function) -> bool {
    returned(function).is_some_and(crate::typed::is_plain)
}
