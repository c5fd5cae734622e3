//! Names: conversions, texts and rules.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{Path, Type};

/// Returns the text of a name, without `r#`.
pub(crate) fn unraw(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Adds `r#` to a name that is a keyword in the edition of the macros, but not in the user's
/// edition.
pub(crate) fn raw(ident: Ident) -> Ident {
    if ident == "gen" {
        Ident::new_raw("gen", ident.span())
    } else {
        ident
    }
}

/// Returns a form of the name that derived names can contain. rustc passes `W🦀` to a macro, and
/// reports the invalid identifier.
pub(super) fn derivable_ident(ident: Ident) -> Ident {
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

/// Returns the name without the user's span, so that editors do not take it for another definition
/// or use.
pub(crate) fn without_span(ident: &Ident) -> Ident {
    let mut ident = raw(ident.clone());
    ident.set_span(Span::call_site());
    ident
}

/// Converts `IterativeWriting` and `HTTPFetch` to `iterative_writing` and `http_fetch`.
pub(super) fn snake_case(name: &str) -> String {
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

pub(super) fn last_segment(path: &Path) -> Option<&Ident> {
    path.segments.last().map(|segment| &segment.ident)
}

/// Returns the name of the agent that a path leads to, its span, and the field of that name. The
/// field is `None` for a keyword. A field with the span of the path would be one more target for
/// editors.
pub(super) fn name_of_path(path: &Path) -> (String, Span, Option<Ident>) {
    let Some(last) = last_segment(path) else {
        return (String::new(), Span::call_site(), None);
    };
    let name = snake_case(&unraw(last));
    let mut named = field(&name, Span::call_site());
    if name == unraw(last) && named.is_none() {
        named = Some(last.clone());
    }
    (name, last.span(), named)
}

/// Returns a path as text: `crate::agents::critic`.
pub(super) fn path_text(path: &Path) -> String {
    let start = if path.leading_colon.is_some() {
        "::"
    } else {
        ""
    };
    let segments: Vec<_> = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    format!("{start}{}", segments.join("::"))
}

/// Returns a type as text: `Vec<String>`, `&'a str`.
pub(crate) fn type_text(ty: &Type) -> String {
    let spaced = quote::quote!(#ty).to_string();
    let mut out = String::with_capacity(spaced.len());
    let mut rest = spaced.chars().peekable();
    while let Some(c) = rest.next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let keep = c != ' '
            || (out.ends_with(word)
                && rest.peek().is_some_and(|next| word(*next) || *next == '\''))
            || out.ends_with([',', ';', '+', '=', '>'])
                && rest.peek().is_some_and(|next| word(*next))
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

pub(super) fn is_string(ty: &Type) -> bool {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            last_segment(&path.path).is_some_and(|name| name == "String")
        }
        _ => false,
    }
}

/// Returns whether the text is an identifier. Keywords are, `_` is not.
pub(super) fn is_identifier(text: &str) -> bool {
    text != "_"
        && text.chars().all(|c| c == '_' || c.is_alphanumeric())
        && syn::parse::Parser::parse_str(Ident::parse_any, text).is_ok()
}

/// Returns the raw identifier for a keyword, or `None` for a keyword that has none.
pub(super) fn to_raw(keyword: &Ident) -> Option<Ident> {
    let can = !["_", "self", "Self", "super", "crate"]
        .iter()
        .any(|word| keyword == word);
    can.then(|| Ident::new_raw(&keyword.to_string(), keyword.span()))
}

/// Returns the remedy for a name that is a Rust keyword.
pub(crate) fn keyword_remedy(word: &str) -> String {
    match word {
        "self" | "Self" | "super" | "crate" => "choose another name".to_owned(),
        _ => format!("choose another name, or write `r#{word}`"),
    }
}

/// Returns the field of that name, or `None` for a keyword.
pub(super) fn field(name: &str, span: Span) -> Option<Ident> {
    let mut ident = raw(syn::parse_str::<Ident>(name).ok()?);
    ident.set_span(span);
    Some(ident)
}

/// Returns whether a word is spelled like a type.
pub(super) fn is_type(word: &Ident) -> bool {
    word.to_string().starts_with(char::is_uppercase)
}
