//! [`KeyTypes`]: the keys that a function reads and writes as types, which `key-type` compares
//! across modules and crates.

use super::args::AgentArgs;
use super::param_name;
use super::parse::{Function, Param, Source};
use crate::code::{code, read};
use crate::typed::{KeyFacts, READS, implement, places, plain_type};
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

/// The type of a key that a function or a tool reads.
pub(super) struct KeyType {
    pub(super) facts: KeyFacts,
    /// The entry in `Typed::Reads`, which determines whether the key may be absent.
    pub(super) entry: TokenStream,
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
            let reads = reads_by_facts("__AdkValue");
            aliases.extend(code!("type __AdkWritten = {reads}::Key;"));
            quote!(__AdkWritten)
        });
        Self {
            aliases,
            reads,
            written,
        }
    }

    /// Returns the keys that the function reads, as data.
    pub(super) fn read_specs(&self, function: &Function) -> Vec<TokenStream> {
        let params = || function.params(Source::Plain);
        let places = places(params().map(|param| &param.ty), READS);
        let all = params().zip(&self.reads).zip(places);
        all.map(|((param, key), place)| key.spec(param, &quote!(#place)))
            .collect()
    }

    pub(super) fn written_type(&self) -> TokenStream {
        self.written.clone().unwrap_or_else(|| quote!(()))
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
            .map(|(param, key)| (&param.ty, key.entry.clone()))
            .collect();
        let unit = syn::parse_quote!(());
        let writes = written
            .iter()
            .map(|ty| (return_type(function).unwrap_or(&unit), ty.clone()));
        let typed = implement(&head, &reads, &writes.collect::<Vec<_>>());
        quote!(#aliases #typed)
    }
}

/// Returns the path of the trait `Reads` for an alias.
fn reads_by_facts(alias: &str) -> String {
    format!(
        "<{alias} as __typed::Reads<{{ __adk::TypeFacts::<{alias}>::OPTIONAL }}, \
         {{ __typed::KeyFacts::<{alias}>::REF }}>>"
    )
}

impl KeyType {
    /// Finds the facts about a type. Its name may be an alias, so the expansion asks traits about
    /// it. A plain type needs no traits, because its name is not used as an alias.
    pub(super) fn new(ty: &Type, at: usize, aliases: &mut TokenStream) -> Self {
        if let Some(ty) = plain_type(ty) {
            return Self {
                entry: quote!(__typed::Is<#ty>),
                facts: KeyFacts::of(&ty),
            };
        }
        let (given, key) = (format!("__AdkRead_{at}"), format!("__AdkKey_{at}"));
        let (alias, ty) = (
            read(&given),
            types::with_static_lifetimes(ty.to_token_stream()),
        );
        let reads = reads_by_facts(&given);
        let key_alias = code!("type {key} = {reads}::Key;");
        aliases.extend(quote!(type #alias = #ty; #key_alias));
        Self {
            entry: code!("{reads}::Entry"),
            facts: KeyFacts {
                optional: code!("__adk::TypeFacts::<{given}>::OPTIONAL"),
                any: code!("__typed::KeyFacts::<{key}>::VALUE"),
                ..KeyFacts::of(&read(&key))
            },
        }
    }

    /// Returns the key of a parameter as data.
    pub(super) fn spec(&self, param: &Param, place: &TokenStream) -> TokenStream {
        let spelled = types::type_spelling(&param.ty);
        self.facts.expand(&param_name(param), &spelled, place)
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
