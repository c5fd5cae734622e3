//! Where rustc says that a type is less visible than what it is part of (E0446).

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

/// Types that are visible everywhere.
const PUBLIC: [&str; 21] = [
    "String", "str", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
    "i32", "i64", "i128", "isize", "Vec", "Option", "Result",
];

/// `type NAME = TYPE;` in an impl, at the span of the first of the user's types that may not be visible enough.
pub(crate) fn associated<'a>(
    name: &str,
    ty: &TokenStream,
    made_of: impl IntoIterator<Item = &'a Type>,
) -> TokenStream {
    let mut all = made_of.into_iter();
    let span = all.find(|ty| !is_public(ty.to_token_stream())).map_or_else(Span::call_site, Spanned::span);
    // The name has no span of the user's: to editors it would be what the type is defined by.
    let name = proc_macro2::Ident::new(name, Span::call_site());
    let (word, end) = (quote_spanned!(span=> type), quote_spanned!(span=> ;));
    quote!(#word #name = #ty #end)
}

fn is_public(ty: TokenStream) -> bool {
    ty.into_iter().all(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => PUBLIC.iter().any(|name| ident == name),
        proc_macro2::TokenTree::Group(group) => is_public(group.stream()),
        _ => true,
    })
}
