//! Descriptions from doc comments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

/// Returns the description in doc comments, as an expression; empty without doc comments.
pub(super) fn description(attrs: &[Attribute]) -> TokenStream {
    crate::docs::description(attrs).unwrap_or_else(|| quote!(""))
}
