//! The type of a key.

use super::super::ast::Key;
use super::super::names::{nearest, type_text};
use super::expect::{self, PREFIXES, expected};
use crate::attr::word;
use crate::sized::{self, Unsized};
use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Ident, Token, Type, token};

/// Types that begin with a small letter.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// Whether a type is one of Rust's own, and no agent.
pub(super) fn is_plain(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return !matches!(ty, Type::Macro(_) | Type::Verbatim(_)) };
    let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    PRIMITIVES.contains(&name.as_str()) || ["String", "Vec", "Option", "Value"].contains(&name.as_str())
}

/// `: TYPE`, behind a key.
pub(super) fn of(input: ParseStream<'_>, key: &Key) -> syn::Result<Type> {
    let text = key.text();
    if !input.peek(Token![:]) || input.peek(Token![::]) {
        if text.starts_with(char::is_uppercase) || PRIMITIVES.contains(&text.as_str()) {
            return Err(syn::Error::new(
                key.name.span(),
                format!(
                    "syntax: `{text}` looks like a type, and a key stands before its type; help: write `KEY: {text}`, as in `draft: {text}`"
                ),
            ));
        }
        return Err(expected(input, &format!("`:` and the type of `{text}`, as in `{text}: String`")));
    }
    input.parse::<Token![:]>()?;
    let ty = expect::token::<Type>(input, "a type").map_err(|error| unclosed(input).unwrap_or(error))?;
    if let (Some(name), true) = (prefixed(&ty, key), input.peek(Token![:])) {
        let near = nearest(&text, PREFIXES).unwrap_or("user");
        let help = format!("did you mean `{near}:{name}`?");
        let text = format!("syntax: `{text}` is no prefix of a key; help: {help}");
        return Err(syn::Error::new(key.name.span(), text));
    }
    owned(&ty)?;
    Ok(ty)
}

/// `usr:name: String` reads as a key `usr` of the type `name`, before which another type stands.
fn prefixed<'a>(ty: &'a Type, key: &Key) -> Option<&'a Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() && key.prefix.is_none() => path.path.get_ident(),
        _ => None,
    }
}

/// A key is stored: rustc would say four times and more that a borrowed type, or one without a size, cannot be.
fn owned(ty: &Type) -> syn::Result<()> {
    let shown = type_text(ty);
    let (why, help) = match ty {
        Type::Reference(borrowed) => {
            let help = match &*borrowed.elem {
                Type::Path(path) if path.path.is_ident("str") => "`String`".to_owned(),
                Type::Slice(slice) => format!("`Vec<{}>`", type_text(&slice.elem)),
                owned => format!("`{}`", type_text(owned)),
            };
            (format!("`{shown}` is borrowed"), help)
        }
        Type::Path(path) if path.path.is_ident("str") => {
            (format!("`{shown}` has no size"), "`String`".into())
        }
        Type::Slice(slice) => {
            (format!("`{shown}` has no size"), format!("`Vec<{}>`", type_text(&slice.elem)))
        }
        _ if word(ty, "Self").is_some() => ("`Self` says no type".to_owned(), "the type itself".into()),
        Type::ImplTrait(_) | Type::Infer(_) => (format!("`{shown}` says no type"), "the type itself".into()),
        _ => {
            let Some(Unsized { span, shown, help }) = sized::own(&mut ty.clone()).into_iter().next() else {
                return Ok(());
            };
            let text = format!("syntax: a key owns its value, and `{shown}` has no size; help: {help}");
            return Err(syn::Error::new(span, text));
        }
    };
    Err(syn::Error::new(ty.span(), format!("syntax: a key owns its value, and {why}; help: write {help}")))
}

/// The first `<` of a type that has no `>` before the type ends, as in `Vec<String)`.
fn unclosed(input: ParseStream<'_>) -> Option<syn::Error> {
    let (ahead, mut open) = (input.fork(), Vec::new());
    while !(ahead.is_empty() || ahead.peek(Token![;]) || ahead.peek(Token![=]) || ahead.peek(token::Brace)) {
        if ahead.peek(Token![->]) {
            ahead.parse::<Token![->]>().ok()?;
        } else if ahead.peek(Token![<]) {
            open.push(ahead.parse::<Token![<]>().ok()?.spans[0]);
        } else if ahead.peek(Token![>]) {
            ahead.parse::<Token![>]>().ok()?;
            open.pop()?;
        } else {
            ahead.parse::<TokenTree>().ok()?;
        }
    }
    let text = "syntax: this `<` is never closed; help: write `>` behind what it holds, as in `Vec<String>`";
    open.first().map(|span| syn::Error::new(*span, text))
}
