//! What a function reads and writes, as types: what `key-type` compares across modules and crates.

use super::{Names, types};
use crate::attr::parse::{AgentArgs, Function};
use crate::typed::{FEW, implement, places, plain};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;

/// The types of the keys of a function.
pub(super) struct Keys {
    /// Aliases that the types are made of.
    aliases: TokenStream,
    reads: Vec<Key>,
    /// The type that it writes.
    written: Option<TokenStream>,
}

/// The type of a key that is read.
pub(super) struct Key {
    pub(super) ty: TokenStream,
    /// The same as `Typed::Reads` says it, which tells whether the key may be absent.
    pub(super) read: TokenStream,
    /// Whether a value of any type serves; `None` is no.
    pub(super) any: Option<TokenStream>,
    /// Whether its type is an `Option`.
    pub(super) optional: TokenStream,
}

impl Keys {
    pub(super) fn of(function: &Function, args: &AgentArgs) -> Self {
        let mut aliases = TokenStream::new();
        let params = function.params.iter().enumerate();
        let reads = params.map(|(at, param)| Key::of(&param.ty, at, &mut aliases)).collect();
        let written = args.writes.as_ref().map(|_| {
            if let Some(ty) = returned(function).and_then(plain) {
                return ty;
            }
            let optional = quote!(__adk::Probe::<__AdkValue>::OPTIONAL);
            // A `&'static str` that is returned is text like any other.
            aliases.extend(quote! {
                type __AdkGiven = <__AdkValue as __typed::OfOption<{ #optional }>>::Value;
                type __AdkWritten = <__AdkGiven as __typed::OfRef<{ __typed::Of::<__AdkGiven>::REF }>>::Value;
            });
            quote!(__AdkWritten)
        });
        Self { aliases, reads, written }
    }

    /// The type of a key that is read, and whether a value of any type serves.
    pub(super) fn of_read(&self, at: usize) -> (TokenStream, TokenStream) {
        let Some(Key { ty, any, .. }) = self.reads.get(at) else { return (quote!(()), quote!(false)) };
        (ty.clone(), any.clone().unwrap_or_else(|| quote!(false)))
    }

    /// The type of the key that is written.
    pub(super) fn of_written(&self) -> TokenStream {
        self.written.clone().unwrap_or_else(|| quote!(()))
    }

    /// The place that a parameter has in `impl Typed`.
    pub(super) fn place(function: &Function, at: usize) -> u8 {
        let places = places(function.params.iter().map(|param| &param.ty), FEW);
        places.get(at).copied().unwrap_or_default()
    }

    /// The aliases and `impl Typed`.
    pub(super) fn lower(&self, function: &Function, names: &Names) -> TokenStream {
        let (Self { aliases, reads, written }, name) = (self, &names.name);
        let head = quote!(impl __typed::Typed for #name);
        let reads: Vec<_> =
            function.params.iter().zip(reads).map(|(param, key)| (&param.ty, key.read.clone())).collect();
        let unit = syn::parse_quote!(());
        let writes = written.iter().map(|ty| (returned(function).unwrap_or(&unit), ty.clone()));
        let typed = implement(&head, &reads, &writes.collect::<Vec<_>>(), FEW);
        quote!(#aliases #typed)
    }
}

impl Key {
    /// What a type is called may be an alias, so that types are asked; those that nobody hides behind an alias are
    /// known without.
    pub(super) fn of(ty: &Type, at: usize, aliases: &mut TokenStream) -> Self {
        if let Some(ty) = plain(ty) {
            return Self { read: ty.clone(), ty, any: None, optional: quote!(false) };
        }
        let alias = |step: usize| format_ident!("__AdkKey_{}_{}", at, step, span = Span::call_site());
        let (written, parameter, owned, key) = (alias(0), alias(1), alias(2), alias(3));
        let inside = quote!(<#parameter as __typed::Parameter>::Value);
        let borrowed = alias(4);
        let optional = quote!(__adk::Probe::<#written>::OPTIONAL);
        let ty = types::fixed(ty.to_token_stream());
        aliases.extend(quote! {
            type #written = #ty;
            type #parameter =
                <#written as __typed::OfOption<{ #optional }>>::Parameter;
            type #borrowed = #inside;
            type #owned = <#borrowed as __typed::OfRef<{ __typed::Of::<#borrowed>::REF }>>::Value;
            type #key = <#owned as __typed::OfValue<{ __typed::Of::<#owned>::VALUE }>>::Value;
        });
        Self {
            read: quote!(<#parameter as __typed::Parameter>::Read<#key>),
            ty: key.into_token_stream(),
            any: Some(quote!(__typed::Of::<#owned>::VALUE)),
            optional,
        }
    }
}

/// What a function returns, if it says so.
fn returned(function: &Function) -> Option<&Type> {
    match &function.sig.output {
        syn::ReturnType::Type(_, ty) => Some(ty),
        syn::ReturnType::Default => None,
    }
}

/// Whether the spelling of a type says all, so that there is no `Result`, no `Flow` and no `Option` in it.
pub(super) fn is_plain(function: &Function) -> bool {
    returned(function).is_some_and(|ty| plain(ty).is_some())
}
