//! What the patterns of a `match` say of its type, as far as tokens show.

use super::super::ast::{Arm, Match};
use super::super::names;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Ident, Lit, Pat, Path};

/// Whether a pattern takes a value of any type: `_`, or a name.
pub(super) fn takes_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => name.subpat.is_none() && !name.ident.to_string().starts_with(char::is_uppercase),
        Pat::Paren(inner) => takes_all(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(takes_all),
        _ => false,
    }
}

/// Whether the patterns say all of their type: rustc finds it out without the type of the key.
pub(super) fn is_compared(choice: &Match) -> bool {
    let mut patterns = choice.arms.iter().map(|arm| &arm.pattern);
    // Of a number rustc asks for the very type where a guard calls something of it, and finds it by the key alone.
    let asks = |arm: &Arm| match (&arm.pattern, &arm.guard) {
        (Pat::Ident(name), Some(guard)) => has_dot(guard.to_token_stream(), &name.ident),
        _ => false,
    };
    let is_open = choice.arms.iter().any(asks)
        && patterns.clone().all(|pattern| is_of_any(pattern) || is_number(pattern));
    !is_open
        && patterns.clone().all(|pattern| is_of_any(pattern) || is_of_its_own(pattern))
        && patterns.any(is_of_its_own)
}

/// Whether a `.` stands behind that name somewhere.
fn has_dot(tokens: TokenStream, name: &Ident) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_it = match token {
            TokenTree::Ident(word) => {
                let next = tokens.peek();
                word == *name && matches!(next, Some(TokenTree::Punct(sign)) if sign.as_char() == '.')
            }
            TokenTree::Group(group) => has_dot(group.stream(), name),
            _ => false,
        };
        if is_it {
            return true;
        }
    }
    false
}

fn is_number(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(of) => matches!(of.lit, Lit::Int(_) | Lit::Float(_)),
        Pat::Range(_) => true,
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, pattern)| is_number(pattern)),
        Pat::Paren(inner) => is_number(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(is_number),
        _ => false,
    }
}

/// Whether a pattern is of one type, whatever stands around it. A name alone may be one that it gives, where a `use` is missing.
fn is_of_its_own(pattern: &Pat) -> bool {
    let of_path = |path: &Path| path.segments.len() > 1;
    match pattern {
        Pat::Lit(_) | Pat::Range(_) => true,
        Pat::Path(path) => path.qself.is_none() && of_path(&path.path),
        Pat::Struct(of) => of.qself.is_none() && of_path(&of.path),
        Pat::TupleStruct(of) if of.path.is_ident("Some") => of.elems.iter().all(is_of_its_own),
        Pat::TupleStruct(of) => of.qself.is_none() && of_path(&of.path),
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, pattern)| is_of_its_own(pattern)),
        Pat::Paren(inner) => is_of_its_own(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(is_of_its_own),
        _ => false,
    }
}

/// Whether a pattern fits many types, one of which others say.
fn is_of_any(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) if name.ident == "None" => true,
        Pat::TupleStruct(of) if of.path.is_ident("Some") => of.elems.iter().all(is_of_any),
        Pat::Or(all) => all.cases.iter().all(|case| is_of_any(case) || is_of_its_own(case)),
        _ => takes_all(pattern),
    }
}

/// Whether a pattern tells the whole type of what it is compared with, as far as tokens show.
pub(super) fn says_type(pattern: &Pat) -> bool {
    let is_open = |name: &Ident| ["Some", "None", "Ok", "Err"].iter().any(|open| name == open);
    match pattern {
        Pat::Lit(_) | Pat::Range(_) | Pat::Struct(_) => true,
        Pat::Path(path) => names::last(&path.path).is_some_and(|name| !is_open(name)),
        Pat::Ident(name) => match &name.subpat {
            Some((_, pattern)) => says_type(pattern),
            None => names::is_type(&name.ident) && !is_open(&name.ident),
        },
        Pat::TupleStruct(of) => names::last(&of.path).is_some_and(|name| match name.to_string().as_str() {
            "Some" => of.elems.iter().all(says_type),
            "Ok" | "Err" => false,
            _ => true,
        }),
        Pat::Tuple(of) => of.elems.iter().all(says_type),
        Pat::Paren(inner) => says_type(&inner.pat),
        Pat::Reference(inner) => says_type(&inner.pat),
        Pat::Or(all) => all.cases.iter().any(says_type),
        _ => false,
    }
}
