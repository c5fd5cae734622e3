//! Names: how they are made, which are possible, and which one was meant.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{Path, Type};

/// The text of a name, without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The name with `r#` if only the user's edition allows it without: what macros emit is of their own edition.
pub(crate) fn raw(ident: Ident) -> Ident {
    if ident == "gen" { Ident::new_raw("gen", ident.span()) } else { ident }
}

/// The name as it can be used in names that are made of it: rustc passes on `W🦀`, and tells by itself that this is no
/// identifier.
pub(super) fn usable(ident: Ident) -> Ident {
    let ident = raw(ident);
    let text = ident.to_string();
    let name = text.strip_prefix("r#").unwrap_or(&text);
    if text.is_ascii() || syn::parse::Parser::parse_str(Ident::parse_any, name).is_ok() {
        return ident;
    }
    let plain = |c: char| match c {
        '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => c.to_string(),
        other => format!("_{:x}", u32::from(other)),
    };
    Ident::new(&name.chars().map(plain).collect::<String>(), ident.span())
}

/// The name without the user's span, so that editors do not take it for one more definition or use.
pub(crate) fn unspanned(ident: &Ident) -> Ident {
    let mut ident = raw(ident.clone());
    ident.set_span(Span::call_site());
    ident
}

/// `IterativeWriting` and `HTTPFetch` become `iterative_writing` and `http_fetch`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before: Option<char> = None;
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let starts = match before {
            None | Some('_') => false,
            Some(b) if b.is_uppercase() => rest.peek().is_some_and(|next| next.is_lowercase()),
            Some(_) => true,
        };
        if c.is_uppercase() && starts {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        before = Some(c);
    }
    out
}

/// The last segment of a path.
pub(super) fn last(path: &Path) -> Option<&Ident> {
    path.segments.last().map(|segment| &segment.ident)
}

/// A path as text: `crate::agents::critic`.
pub(super) fn path_text(path: &Path) -> String {
    let start = if path.leading_colon.is_some() { "::" } else { "" };
    let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    format!("{start}{}", segments.join("::"))
}

/// A type as it is shown: `Vec<String>`, `&'a str`.
pub(crate) fn type_text(ty: &Type) -> String {
    let spaced = quote::quote!(#ty).to_string();
    let mut out = String::with_capacity(spaced.len());
    let mut rest = spaced.chars().peekable();
    while let Some(c) = rest.next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let keep = c != ' '
            || (out.ends_with(word) && rest.peek().is_some_and(|next| word(*next) || *next == '\''))
            || out.ends_with([',', ';', '+', '=', '>']) && rest.peek().is_some_and(|next| word(*next))
            || rest.peek() == Some(&'+')
            || out.ends_with(')') && rest.peek() == Some(&'-')
            || out.ends_with('-') && rest.peek() == Some(&'>')
            || rest.peek().is_some_and(|next| "[(".contains(*next))
                && out.trim_end_matches(word).ends_with('\'');
        if keep {
            out.push(c);
        }
    }
    out
}

/// Whether a type is spelled `String`.
pub(super) fn is_string(ty: &Type) -> bool {
    match ty {
        Type::Path(path) if path.qself.is_none() => last(&path.path).is_some_and(|name| name == "String"),
        _ => false,
    }
}

/// Whether text is an identifier; `_` alone is none, keywords are.
pub(super) fn is_identifier(text: &str) -> bool {
    text != "_"
        && text.chars().all(|c| c == '_' || c.is_alphanumeric())
        && syn::parse::Parser::parse_str(Ident::parse_any, text).is_ok()
}

/// What to do about a name that is a keyword of Rust.
pub(crate) fn instead_of_keyword(word: &str) -> String {
    match word {
        "self" | "Self" | "super" | "crate" => "choose another name".to_owned(),
        _ => format!("choose another name, or write `r#{word}`"),
    }
}

/// The field of that name; `None` for a keyword.
pub(super) fn field(name: &str, span: Span) -> Option<Ident> {
    let mut ident = raw(syn::parse_str::<Ident>(name).ok()?);
    ident.set_span(span);
    Some(ident)
}

/// The nearest of some words by spelling, when one is near: no more than a third of the word is another.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within(word, known, word.chars().count().div_ceil(3))
}

/// The nearest of some words, when `most` changes make it of the word.
pub(super) fn within<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    let length = word.chars().count();
    known
        .into_iter()
        .filter(|one| one.chars().count().abs_diff(length) <= most)
        .map(|one| (distance(word, one), one))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one)
}

/// How many characters have to be changed, added or removed; two that are swapped count once, and so do all capitals.
fn distance(a: &str, b: &str) -> usize {
    if a != b && a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut best = at(&last, j) + usize::from(x != *y);
            best = best.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = previous == Some(*y) && j > 0 && b.get(j - 1) == Some(&x);
            if swapped && !before_last.is_empty() {
                best = best.min(at(&before_last, j - 1) + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
        previous = Some(x);
    }
    last.last().copied().unwrap_or(0)
}

/// Whether a word is spelled like a type.
pub(super) fn is_type(word: &Ident) -> bool {
    word.to_string().starts_with(char::is_uppercase)
}
