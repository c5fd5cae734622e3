//! Descriptions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

/// The description in doc comments, an expression; empty without any.
pub(super) fn description(attrs: &[Attribute]) -> TokenStream {
    crate::docs::description(attrs).unwrap_or_else(|| quote!(""))
}
