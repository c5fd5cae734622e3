//! `#[guards(...)]`.

use super::{Expansion, raise};
use crate::workflow::ast::Key;
use proc_macro2::TokenStream;
use quote::quote;

impl Expansion<'_> {
    /// Returns the const with the guards, and `.guards(...)` of the spec.
    pub(super) fn guards(&self) -> Option<(TokenStream, TokenStream)> {
        let (guards, name) = (self.tree.guards.as_ref()?, &self.name);
        let texts = |keys: &[Key]| {
            let keys = keys.iter().map(Key::text);
            quote!(&[#(#keys),*])
        };
        let (untrusted, private) = (texts(&guards.untrusted), texts(&guards.private));
        let (fresh, strict) = (guards.fresh, guards.strict);
        // Any step, also of another crate, may access a key with a prefix.
        let prefixed = guards
            .keys()
            .filter(|key| key.prefix.is_some() && self.refused.is_none());
        let raises = prefixed.map(|key| {
            let text = key.text();
            let argument = quote!(&#name::SPEC, #text, __FACTS.is_faulty());
            raise(key.name.span(), quote!(__adk::check::raise_guard), argument)
        });
        let items = quote! {
            const __GUARDS: __adk::spec::Guards<'static> = __adk::spec::Guards::NONE
                .untrusted(#untrusted)
                .private(#private)
                .fresh(#fresh)
                .strict(#strict);
            #(#raises)*
        };
        Some((
            items,
            quote!(.guards(::core::option::Option::Some(&__GUARDS))),
        ))
    }
}
