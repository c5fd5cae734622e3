//! Types that say none: `_`, and `impl Trait`.
//!
//! rustc says so of each place where such a type stands, and an expansion has several. So the macros say it, and go on with a
//! type that fits all.

use super::check::word;
use super::report::Report;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// Tells that of a result or a key, and goes on with any type; whether it does.
pub(super) fn own(ty: &mut Type, report: &mut Report) -> bool {
    own_as(ty, |span, fact, help| report.at(span, fact, help))
}

/// The same of a parameter.
pub(super) fn own_parameter(ty: &mut Type, report: &mut Report) -> bool {
    own_as(ty, |span, fact, help| report.argument(span, fact, help))
}

fn own_as(ty: &mut Type, tell: impl FnOnce(Span, &str, &str)) -> bool {
    let Some((span, fact)) = find(ty) else { return false };
    tell(span, fact, "write the type itself");
    let private = crate::facade::private();
    *ty = syn::parse_quote!(#private::serde_json::Value);
    true
}

/// Where the type says none, and how.
pub(super) fn find(ty: &Type) -> Option<(Span, &'static str)> {
    let of_trait = word(ty, "impl").map(|span| (span, "`impl Trait` says no type"));
    of_trait.or_else(|| placeholder(ty).map(|span| (span, "`_` says no type")))
}

/// Where a `_` stands that is no lifetime.
fn placeholder(ty: &Type) -> Option<Span> {
    fn find(tokens: TokenStream) -> Option<Span> {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            let found = match token {
                TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                    tokens.next();
                    None
                }
                TokenTree::Ident(word) if word == "_" => Some(word.span()),
                TokenTree::Group(group) => find(group.stream()),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
    if crate::typed::is_plain(ty) { None } else { find(ty.to_token_stream()) }
}
