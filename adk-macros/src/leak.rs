//! Where rustc says that a type is less visible than what it is part of (E0446).

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

/// Types that are visible everywhere.
const PUBLIC: [&str; 21] = [
    "String", "str", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
    "i32", "i64", "i128", "isize", "Vec", "Option", "Result",
];

/// `type NAME = TYPE;` in an impl, at the first of the names in the user's types that may not be visible enough.
///
/// Where that name is among all of the types that an agent has, it is the first of them that counts: rustc leaves out what
/// it has said of the same place, so that a type that is read and written is told once.
pub(crate) fn associated<'a>(
    name: &str,
    ty: &TokenStream,
    made_of: impl IntoIterator<Item = &'a Type>,
    all: impl IntoIterator<Item = &'a Type>,
) -> TokenStream {
    let private = made_of.into_iter().find_map(|ty| find(ty.to_token_stream(), &|name| !is_public(name)));
    let first = |name: &Ident| all.into_iter().find_map(|ty| find(ty.to_token_stream(), &|one| one == name));
    let span = private.map_or_else(Span::call_site, |name| first(&name).unwrap_or(name).span());
    // The name has no span of the user's: to editors it would be what the type is defined by.
    let name = Ident::new(name, Span::call_site());
    let (word, end) = (quote_spanned!(span=> type), quote_spanned!(span=> ;));
    quote!(#word #name = #ty #end)
}

fn is_public(name: &Ident) -> bool {
    PUBLIC.iter().any(|public| name == public)
}

/// The first name of a type for which that holds: neither that of a lifetime nor that of a module.
fn find(ty: TokenStream, holds: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    let mut tokens = ty.into_iter().peekable();
    let is = |token: Option<&TokenTree>, wanted: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(tick) if tick.as_char() == '\'' => drop(tokens.next()),
            TokenTree::Ident(name) if !is(tokens.peek(), ':') && holds(&name) => return Some(name),
            TokenTree::Group(group) => {
                if let Some(found) = find(group.stream(), holds) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}
