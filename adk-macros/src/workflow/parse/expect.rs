//! Reading what has to stand here, and saying so when it does not.

use super::super::ast::{Key, Typed};
use proc_macro2::TokenTree;
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitStr, Token, Type, token};

/// "expected WHAT, found THIS", at the next token.
pub(super) fn expected(input: ParseStream<'_>, what: &str) -> syn::Error {
    let found = match input.fork().parse::<TokenTree>() {
        Err(_) => "the end".to_owned(),
        Ok(TokenTree::Group(group)) => match group.delimiter() {
            proc_macro2::Delimiter::Parenthesis => "`(`".to_owned(),
            proc_macro2::Delimiter::Bracket => "`[`".to_owned(),
            proc_macro2::Delimiter::Brace => "`{`".to_owned(),
            proc_macro2::Delimiter::None => "something else".to_owned(),
        },
        Ok(token) => {
            let arrow = ["->", "=>", "=="].into_iter().zip([
                input.peek(Token![->]),
                input.peek(Token![=>]),
                input.peek(Token![==]),
            ]);
            let text = arrow.filter(|(_, is)| *is).map(|(text, _)| text.to_owned()).next();
            let text = text.unwrap_or_else(|| token.to_string());
            match text.chars().count() {
                0..=40 => format!("`{text}`"),
                _ => "something else".to_owned(),
            }
        }
    };
    syn::Error::new(input.span(), format!("syntax: expected {what}, found {found}"))
}

/// Reads a token or says what was expected.
pub(super) fn token<T: Parse>(input: ParseStream<'_>, what: &str) -> syn::Result<T> {
    let fork = input.fork();
    match fork.parse::<T>() {
        Ok(_) => input.parse(),
        Err(_) => Err(expected(input, what)),
    }
}

/// A name that the user gives: an identifier, no keyword.
pub(super) fn name(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    if input.peek(Ident) {
        return input.parse();
    }
    let invalid = |text: String| Err(syn::Error::new(input.span(), format!("name-invalid: {text}")));
    if input.peek(Token![_]) {
        return invalid("`_` is no name; help: write a word, such as `critic`".into());
    }
    if input.peek(LitStr) {
        let name = input.fork().parse::<LitStr>().map(|text| text.value()).unwrap_or_default();
        let what = what.split(", as in").next().unwrap_or(what);
        let example = if super::super::names::is_identifier(&name) { &name } else { "critic" };
        return invalid(format!("{what} is written without quotes; help: write a word, such as `{example}`"));
    }
    if input.peek(Ident::peek_any) {
        let word = input.fork().call(Ident::parse_any)?;
        return invalid(match word.to_string().as_str() {
            "self" | "Self" | "super" | "crate" => {
                format!("`{word}` is a keyword of Rust; help: choose another name")
            }
            _ => format!("`{word}` is a keyword of Rust; help: choose another name, or write `r#{word}`"),
        });
    }
    Err(expected(input, what))
}

/// Passes over a keyword before a name, as in `struct Writing` or `mut draft`; the fault.
pub(super) fn stray(input: ParseStream<'_>) -> Option<syn::Error> {
    if input.peek(Ident) || !input.peek(Ident::peek_any) || !input.peek2(Ident) {
        return None;
    }
    let word = input.call(Ident::parse_any).ok()?;
    let name = input.fork().parse::<Ident>().ok()?;
    let text = format!("syntax: `{word}` does not belong here; help: remove it, and write `{name}` alone");
    Some(syn::Error::new(word.span(), text))
}

/// Only doc comments may stand here; the rest of the attributes are returned as a fault.
pub(super) fn docs(input: ParseStream<'_>) -> syn::Result<Vec<Attribute>> {
    let attrs = input.call(Attribute::parse_outer)?;
    match attrs.iter().find(|attr| !attr.path().is_ident("doc")) {
        None => Ok(attrs),
        Some(attr) => Err(syn::Error::new_spanned(
            attr.path(),
            "syntax: only a doc comment may stand before this; help: attributes belong before the macro call",
        )),
    }
}

/// `plan` or `user:plan`; before a type, `user: Plan` is a key that is called `user`.
pub(super) fn key(input: ParseStream<'_>, what: &str, before_type: bool) -> syn::Result<Key> {
    let first = name(input, what)?;
    let colon = |input: ParseStream<'_>| input.peek(Token![:]) && !input.peek(Token![::]);
    let is_prefix = matches!(first.to_string().as_str(), "user" | "app" | "temp");
    if is_prefix && colon(input) && input.peek2(Ident) {
        let fork = input.fork();
        let _ = (fork.parse::<Token![:]>(), fork.parse::<Ident>());
        if !before_type || colon(&fork) {
            input.parse::<Token![:]>()?;
            return Ok(Key { prefix: Some(first), name: input.parse()? });
        }
    }
    Ok(Key { prefix: None, name: first })
}

/// `KEY: TYPE`, with docs.
pub(super) fn typed(input: ParseStream<'_>) -> syn::Result<Typed> {
    let attrs = docs(input)?;
    let key = key(input, "a key and its type, as in `draft: String`", true)?;
    if !input.peek(Token![:]) {
        let text = key.text();
        if text.starts_with(char::is_uppercase) {
            return Err(syn::Error::new(
                key.name.span(),
                format!(
                    "syntax: `{text}` looks like a type, and a key stands before its type; help: write `KEY: {text}`, as in `draft: {text}`"
                ),
            ));
        }
        let what = format!("`:` and the type of `{text}`, as in `{text}: String`");
        return Err(expected(input, &what));
    }
    input.parse::<Token![:]>()?;
    let ty = token::<Type>(input, "a type").map_err(|error| unclosed(input).unwrap_or(error))?;
    Ok(Typed { attrs, key, ty })
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
