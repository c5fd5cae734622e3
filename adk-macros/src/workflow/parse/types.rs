//! The type of a key.

use super::super::ast::Key;
use super::super::names::{nearest, type_text};
use super::expect::{self, PREFIXES, expected};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::ParseStream;
use syn::{Ident, Lit, Token, Type, TypeSlice, parse_quote, token};

/// Types that begin with a small letter.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// What is said of a type in the place of a key.
pub(super) const NAMELESS: &str = "looks like a type, and a key stands before its type";

/// Whether a type is one of Rust's own, and no agent.
pub(super) fn is_plain(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return !matches!(ty, Type::Macro(_) | Type::Verbatim(_)) };
    let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    takes_nothing(&name) || ["Vec", "Option"].contains(&name.as_str())
}

/// Whether that is one of Rust's own that takes no arguments.
pub(super) fn takes_nothing(name: &str) -> bool {
    PRIMITIVES.contains(&name) || ["String", "Value"].contains(&name)
}

/// Whether a word is the name of a type.
pub(super) fn is_named(word: &str) -> bool {
    word.starts_with(char::is_uppercase) || PRIMITIVES.contains(&word)
}

/// A type that is that fault.
pub(super) fn mistaken(fault: &syn::Error) -> Type {
    {
        let _ = fault;
        parse_quote!(())
    }
}

/// `: TYPE`, behind a key; with a fault where another type was meant for certain, by which reading goes on.
pub(super) fn of(input: ParseStream<'_>, key: &Key) -> syn::Result<(Type, Option<syn::Error>)> {
    let text = key.text();
    if input.peek(Token![as]) && input.peek2(Ident) {
        let ahead = input.fork();
        let (_, ty) = (ahead.parse::<Token![as]>()?, ahead.parse::<Type>()?);
        if is_plain(&ty) || ahead.peek(token::Brace) || ahead.peek(Token![,]) {
            let shown = type_text(&ty);
            let text = format!("syntax: the type of a key stands behind `:`; help: write `{text}: {shown}`");
            let fault = syn::Error::new(input.span(), text);
            input.parse::<Token![as]>()?;
            return Ok((input.parse()?, Some(fault)));
        }
    }
    if !input.peek(Token![:]) || input.peek(Token![::]) {
        if is_named(&text) {
            return Err(syn::Error::new(
                key.name.span(),
                format!("syntax: `{text}` {NAMELESS}; help: write `KEY: {text}`, as in `draft: {text}`"),
            ));
        }
        if input.peek(Token![::]) && PREFIXES.contains(&&*text) && input.peek3(Ident) {
            let fault = expected(input, "one `:` behind the prefix of a key");
            let text = format!("{fault}; help: write `{text}:KEY`");
            return Err(syn::Error::new(fault.span(), text));
        }
        let (example, is_certain) = of_value(input).unwrap_or_else(|| (parse_quote!(String), false));
        let shown = type_text(&example);
        let fault = expected(input, &format!("`:` and the type of `{text}`, as in `{text}: {shown}`"));
        return if is_certain { Ok((example, Some(fault))) } else { Err(fault) };
    }
    input.parse::<Token![:]>()?;
    let ty = expect::token::<Type>(input, "a type").map_err(|error| unclosed(input).unwrap_or(error))?;
    if let Some((ty, fault)) = rounded(input, &ty) {
        return Ok((ty, Some(fault)));
    }
    if input.peek(Token![:]) && input.peek2(Lit) {
        let shown = type_text(&ty);
        let text = format!("syntax: a first value stands behind `=`; help: write `{text}: {shown} = ...`");
        let fault = syn::Error::new(input.span(), text);
        let _ = (input.parse::<Token![:]>(), input.parse::<Lit>());
        return Ok((ty, Some(fault)));
    }
    // Before the fields of an agent a `:` is too much.
    let goes_on = input.peek(Token![:]) && !input.peek2(Token![=]) && !input.peek2(token::Brace);
    if let (Some(name), true) = (prefixed(&ty, key), goes_on) {
        let near = nearest(&text, PREFIXES);
        if near.is_none() && is_named(&name.to_string()) {
            let text = format!(
                "syntax: `{text}` has its type already, `{name}`; help: remove the second one, or write `as` before it where it is that of the agent"
            );
            return Err(syn::Error::new(input.span(), text));
        }
        let near = near.unwrap_or("user");
        let help = format!("did you mean `{near}:{name}`?");
        let text = format!("syntax: `{text}` is no prefix of a key; help: {help}");
        return Err(syn::Error::new(key.name.span(), text));
    }
    let mut ty = ty;
    let fault = owned(&mut ty)?;
    Ok((ty, fault))
}

/// The type of an agent that the caller supplies.
pub(super) fn of_agent(input: ParseStream<'_>) -> syn::Result<Type> {
    expect::token(input, "the type of the agent").map_err(|error| unclosed(input).unwrap_or(error))
}

/// `Vec(Headline)`: the type that is meant.
fn rounded(input: ParseStream<'_>, ty: &Type) -> Option<(Type, syn::Error)> {
    let is_path = matches!(ty, Type::Path(_)) && input.peek(token::Paren);
    let (span, ahead) = (input.span(), input.fork());
    let TokenTree::Group(group) = ahead.parse::<TokenTree>().ok().filter(|_| is_path)? else { return None };
    let inside = group.stream();
    // `await decision: bool (timeout = "72h")`.
    if inside
        .clone()
        .into_iter()
        .any(|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == '='))
    {
        return None;
    }
    let meant: Type = syn::parse2(quote::quote!(#ty<#inside>)).ok()?;
    let shown = type_text(&meant);
    let text = format!("syntax: generic arguments stand in `< >`; help: write `{shown}`");
    let _ = input.parse::<TokenTree>();
    Some((meant, syn::Error::new(span, text)))
}

/// A type of the value that stands behind a key without its type, and whether it can be no other.
fn of_value(input: ParseStream<'_>) -> Option<(Type, bool)> {
    let ahead = input.fork();
    ahead.parse::<Token![=]>().ok()?;
    let value = ahead.parse::<Lit>().ok()?;
    if !(ahead.is_empty() || ahead.peek(Token![;]) || ahead.peek(Token![,])) {
        return None;
    }
    Some(match value {
        Lit::Str(_) => (parse_quote!(String), true),
        Lit::Bool(_) => (parse_quote!(bool), true),
        Lit::Int(_) => (parse_quote!(u32), false),
        Lit::Float(_) => (parse_quote!(f64), false),
        _ => return None,
    })
}

/// `usr:name: String` reads as a key `usr` of the type `name`, before which another type stands.
fn prefixed<'a>(ty: &'a Type, key: &Key) -> Option<&'a Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() && key.prefix.is_none() => path.path.get_ident(),
        _ => None,
    }
}

/// A key is stored: rustc would say four times and more that a borrowed type, or one without a size, cannot be. Goes on with
/// the type that is to be written, where tokens tell it.
fn owned(ty: &mut Type) -> syn::Result<Option<syn::Error>> {
    match crate::types::storable(ty) {
        Ok(()) => Ok(None),
        Err(hint) => Err(syn::Error::new(hint.span, format!("syntax: {}; help: {}", hint.fact, hint.help))),
    }
}

/// What is borrowed or left out inside of a type: rustc would say it of each place where the type stands.
fn borrowed(ty: &Type) -> Option<syn::Error> {
    let tokens: Vec<_> = flat(ty.to_token_stream()).collect();
    let is_word = |token: &TokenTree, words: &[&str]| matches!(token, TokenTree::Ident(name) if words.iter().any(|word| name == word));
    // A function has lifetimes of its own.
    if tokens.iter().any(|token| is_word(token, &["fn", "Fn", "FnMut", "FnOnce", "for", "dyn", "impl"])) {
        return None;
    }
    let shown = type_text(ty);
    let mut before = None;
    for token in &tokens {
        let text = match token {
            TokenTree::Ident(name) if before == Some('\'') && name != "static" => {
                format!(
                    "a key owns its value, and `'{name}` is a lifetime of something borrowed; help: write `'static`, or a type that owns its value"
                )
            }
            TokenTree::Ident(name) if before != Some('\'') && name == "_" => {
                format!("`{shown}` does not say its type; help: write it instead of `_`")
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                format!(
                    "a key owns its value, and something in `{shown}` is borrowed; help: write a type that owns its value, such as `String` for `&str`"
                )
            }
            _ => {
                before = if let TokenTree::Punct(punct) = token { Some(punct.as_char()) } else { None };
                continue;
            }
        };
        return Some(syn::Error::new(token.span(), format!("syntax: {text}")));
    }
    None
}

/// The tokens, also those inside of brackets.
fn flat(tokens: TokenStream) -> Box<dyn Iterator<Item = TokenTree>> {
    Box::new(tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => flat(group.stream()),
        token => Box::new(std::iter::once(token)),
    }))
}

/// `Vec<T>` for `[T]`.
fn of_elements(slice: &TypeSlice) -> Type {
    let elem = &slice.elem;
    parse_quote!(Vec<#elem>)
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
