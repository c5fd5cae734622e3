//! Reading what has to stand here, and saying so when it does not.

use super::super::ast::{Key, Typed};
use super::super::names::{instead_of_keyword, usable};
use super::super::report::END;
use super::types;
use crate::deep::{self, TooDeep};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream};
use syn::{AttrStyle, Attribute, Lifetime, Lit, LitStr, Token, token};

/// What a key may begin with.
pub(super) const PREFIXES: [&str; 3] = ["user", "app", "temp"];

/// "expected WHAT, found THIS", at the next token.
pub(super) fn expected(input: ParseStream<'_>, what: &str) -> syn::Error {
    if input.is_empty() {
        return syn::Error::new(input.span(), format!("syntax: expected {what}, {END}"));
    }
    let found = match input.fork().parse::<TokenTree>() {
        // A doc comment is read as an attribute.
        _ if is_doc(input) => "a doc comment".to_owned(),
        Err(_) => "something else".to_owned(),
        Ok(TokenTree::Group(group)) => match group.delimiter() {
            proc_macro2::Delimiter::Parenthesis => "`(`".to_owned(),
            proc_macro2::Delimiter::Bracket => "`[`".to_owned(),
            proc_macro2::Delimiter::Brace => "`{`".to_owned(),
            proc_macro2::Delimiter::None => "something else".to_owned(),
        },
        Ok(token) => {
            let joint = [
                (input.peek(Token![->]), "->"),
                (input.peek(Token![=>]), "=>"),
                (input.peek(Token![==]), "=="),
                (input.peek(Token![::]), "::"),
                (input.peek(Token![..]), ".."),
                (input.peek(Token![&&]), "&&"),
                (input.peek(Token![||]), "||"),
            ];
            let text = joint.iter().find(|(is, _)| *is).map(|(_, text)| (*text).to_owned());
            let text = text.unwrap_or_else(|| token.to_string());
            match text.chars().count() {
                0..=40 => format!("`{text}`"),
                _ => "something else".to_owned(),
            }
        }
    };
    syn::Error::new(input.span(), format!("syntax: expected {what}, found {found}"))
}

/// Whether a doc comment stands here.
pub(super) fn is_doc(input: ParseStream<'_>) -> bool {
    let attrs = input.fork().call(Attribute::parse_outer);
    attrs.is_ok_and(|attrs| attrs.first().is_some_and(|attr| attr.path().is_ident("doc")))
}

/// Reads a token or says what was expected.
pub(super) fn token<T: Parse>(input: ParseStream<'_>, what: &str) -> syn::Result<T> {
    is_readable(input)?;
    let fork = input.fork();
    match fork.parse::<T>() {
        Ok(_) => input.parse(),
        Err(_) => Err(expected(input, what)),
    }
}

/// Whether what begins here as a type, an expression or a pattern is not too deep, where it is a block to who looks at the whole.
pub(super) fn is_readable(input: ParseStream<'_>) -> syn::Result<()> {
    if !(input.peek(token::Brace) || input.peek(Token![<])) {
        return Ok(());
    }
    match deep::find_in_value(value(&input.fork())) {
        Some(TooDeep { span, fact, help }) => {
            Err(syn::Error::new(span, format!("syntax: {fact}; help: {help}")))
        }
        None => Ok(()),
    }
}

/// The tokens of a value: up to the end of the step, the item or the field in which it stands.
fn value(input: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !(input.is_empty() || input.peek(Token![;]) || input.peek(Token![,])) {
        let Ok(token) = input.parse::<TokenTree>() else { break };
        tokens.extend([token]);
    }
    tokens
}

/// A name that the user gives: an identifier, no keyword.
pub(super) fn name(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    if input.peek(Ident) {
        return input.parse().map(usable);
    }
    let invalid = |text: String| Err(syn::Error::new(input.span(), format!("name-invalid: {text}")));
    if input.peek(Token![_]) {
        return invalid("`_` is no name; help: write a word, such as `critic`".into());
    }
    if input.peek(Lifetime) {
        let name = input.fork().parse::<Lifetime>().map(|name| name.ident.to_string()).unwrap_or_default();
        return invalid(format!("a name is written without `'`; help: write `{name}`"));
    }
    if input.peek(LitStr) {
        let name = input.fork().parse::<LitStr>().map(|text| text.value()).unwrap_or_default();
        let what = what.split(", as in").next().unwrap_or(what);
        let example = if super::super::names::is_identifier(&name) { &name } else { "critic" };
        return invalid(format!("{what} is written without quotes; help: write a word, such as `{example}`"));
    }
    if input.peek(Ident::peek_any) {
        let word = input.fork().call(Ident::parse_any)?;
        let help = instead_of_keyword(&word.to_string());
        return invalid(format!("`{word}` is a keyword of Rust; help: {help}"));
    }
    if input.peek(Lit) {
        let text = input.fork().parse::<TokenTree>().map(|token| token.to_string()).unwrap_or_default();
        return invalid(format!("`{text}` is no name; help: begin with a letter or `_`, as in `critic`"));
    }
    Err(expected(input, what))
}

/// Passes over keywords before a name, as in `struct Writing` or `mut draft`; the fault.
pub(super) fn stray(input: ParseStream<'_>) -> Option<syn::Error> {
    let (ahead, mut words) = (input.fork(), Vec::new());
    while !ahead.peek(Ident) {
        words.push(ahead.call(Ident::parse_any).ok()?);
    }
    let (first, name) = (words.first()?.span(), ahead.parse::<Ident>().ok()?);
    for _ in &words {
        input.call(Ident::parse_any).ok()?;
    }
    let words = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let text = format!("syntax: `{words}` does not belong here; help: remove it, and write `{name}` alone");
    Some(syn::Error::new(first, text))
}

/// Only doc comments may stand here; of other attributes the first is returned as a fault.
pub(super) fn docs(input: ParseStream<'_>) -> syn::Result<Vec<Attribute>> {
    let attrs = attributes(input)?;
    let Some(other) = attrs.iter().find(|attr| !attr.path().is_ident("doc")) else {
        return Ok(attrs);
    };
    let is_condition = ["cfg", "cfg_attr"].iter().any(|name| other.path().is_ident(name));
    let text = if is_condition {
        "syntax: a part cannot have a condition, since the macro does not see what rustc leaves out; help: write `#[cfg(...)]` before the macro call, and one call for each case"
    } else {
        ONLY_DOCS
    };
    Err(syn::Error::new_spanned(other.path(), text))
}

const ONLY_DOCS: &str = "syntax: only a doc comment may stand before this; help: write the attribute before the name of the workflow, where it holds for all of it";

/// `//!` and `#![...]`, which stand inside of what they are about in Rust: as what was meant, and the fault.
pub(super) fn inner(input: ParseStream<'_>) -> Option<(Vec<Attribute>, syn::Error)> {
    if !(input.peek(Token![#]) && input.peek2(Token![!])) {
        return None;
    }
    let ahead = input.fork();
    let mut attrs = ahead.call(Attribute::parse_inner).ok()?;
    let text = if attrs.first()?.path().is_ident("doc") {
        "syntax: `//!` describes what is around it; help: write `///`, which describes what follows"
    } else {
        "syntax: `#![...]` is about what is around it; help: write `#[...]`, without the `!`"
    };
    let fault = syn::Error::new(attrs.first()?.pound_token.span, text);
    input.advance_to(&ahead);
    attrs.iter_mut().for_each(|attr| attr.style = AttrStyle::Outer);
    Some((attrs, fault))
}

/// `# a remark`, as other languages have it: passes over its line; the fault.
pub(super) fn remark(input: ParseStream<'_>) -> Option<syn::Error> {
    let is_attribute = input.peek2(token::Bracket) || input.peek2(Token![!]) && input.peek3(token::Bracket);
    if !input.peek(Token![#]) || is_attribute {
        return None;
    }
    let span = input.parse::<Token![#]>().ok()?.span;
    let _ = input.parse::<Option<Token![!]>>();
    while !input.is_empty() && line(input.span()).is_some_and(|line| Some(line) == self::line(span)) {
        let _ = input.parse::<TokenTree>();
    }
    let text = "syntax: `#` begins no remark; help: write `//`, or `///` for a description";
    Some(syn::Error::new(span, text))
}

/// Where a token stands, which only rustc knows.
pub(super) fn line(span: Span) -> Option<usize> {
    proc_macro::is_available().then(|| span.unwrap().line())
}

/// All attributes.
pub(super) fn attributes(input: ParseStream<'_>) -> syn::Result<Vec<Attribute>> {
    if input.fork().call(Attribute::parse_outer).is_ok() {
        return input.call(Attribute::parse_outer);
    }
    if let Some((_, fault)) = inner(input) {
        return Err(fault);
    }
    if let Some(fault) = remark(input) {
        return Err(fault);
    }
    let span = input.parse::<Token![#]>()?.span;
    input.parse::<Option<Token![!]>>()?;
    input.parse::<TokenTree>()?;
    Err(syn::Error::new(span, ONLY_DOCS))
}

/// `plan` or `user:plan`; before a type, `user: Plan` is a key that is called `user`.
pub(super) fn key(input: ParseStream<'_>, what: &str, before_type: bool) -> syn::Result<Key> {
    let first = name(input, what)?;
    let colon = |input: ParseStream<'_>| input.peek(Token![:]) && !input.peek(Token![::]);
    let is_prefix = PREFIXES.iter().any(|prefix| first == prefix);
    if is_prefix && input.peek(Token![.]) && input.peek2(Ident) {
        let ahead = input.fork();
        let _ = ahead.parse::<Token![.]>();
        let name = ahead.parse::<Ident>()?;
        let text =
            format!("syntax: a prefix of a key ends in `:`, and not in `.`; help: write `{first}:{name}`");
        return Err(syn::Error::new(input.span(), text));
    }
    if is_prefix && colon(input) && input.peek2(Ident::peek_any) {
        let fork = input.fork();
        let _ = fork.parse::<Token![:]>();
        let name = fork.call(Ident::parse_any).map(|name| name.to_string()).unwrap_or_default();
        // `user:name` without its type, and not a key `user` of a type `name`.
        let ends = fork.is_empty() || fork.peek(Token![;]) || fork.peek(Token![,]) || fork.peek(Token![=]);
        if !before_type || colon(&fork) || ends && !types::is_named(&name) {
            input.parse::<Token![:]>()?;
            return Ok(Key { prefix: Some(first), name: self::name(input, what)? });
        }
    }
    Ok(Key { prefix: None, name: first })
}

/// Why no key with its type could be read.
pub(super) struct Unread {
    pub(super) fault: syn::Error,
    /// The key, where only its type could not be read.
    pub(super) typed: Option<Box<Typed>>,
}

impl From<syn::Error> for Unread {
    fn from(fault: syn::Error) -> Self {
        Self { fault, typed: None }
    }
}

/// `KEY: TYPE`, with docs; with a fault of the type behind which its key is known all the same.
pub(super) fn typed(input: ParseStream<'_>) -> Result<(Typed, Option<syn::Error>), Unread> {
    let attrs = docs(input)?;
    if let Some(fault) = stray(input) {
        return Err(fault.into());
    }
    if input.peek(LitStr) {
        let text = "name-invalid: a key is written without quotes; help: write it with its type, as in `draft: String`";
        return Err(syn::Error::new(input.span(), text).into());
    }
    let key = key(input, "a key and its type, as in `draft: String`", true)?;
    match types::of(input, &key) {
        Ok((ty, fault)) => Ok((Typed { attrs, key, ty }, fault)),
        Err(fault) => {
            let ty = types::mistaken(&fault);
            // A type that stands alone is no key.
            let is_key = !types::is_named(&key.text());
            Err(Unread { fault, typed: is_key.then(|| Box::new(Typed { attrs, key, ty })) })
        }
    }
}
