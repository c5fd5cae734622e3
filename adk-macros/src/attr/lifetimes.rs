//! The lifetimes in the fields of `#[data]`.

use super::data::fields;
use super::forever;
use super::report::Report;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{DeriveInput, Field, GenericParam, Type};

/// Tells the lifetimes that are not declared, each where it stands: rustc would say it of each derive as well. Goes on with
/// `'static`, and without the field in what is read; whether there are any.
pub(super) fn declare(input: &mut DeriveInput, private: &TokenStream, report: &mut Report) -> bool {
    let name = input.ident.to_string();
    let mut known: Vec<String> = vec!["static".into(), "_".into()];
    known.extend(input.generics.lifetimes().map(|one| one.lifetime.ident.to_string()));
    let others = input.generics.params.iter().filter_map(|one| match one {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(one) => Some(one.ident.to_string()),
        GenericParam::Const(one) => Some(one.ident.to_string()),
    });
    let others: Vec<_> = others.collect();
    let lifetimes: Vec<_> = known.iter().skip(2).map(|one| format!("'{one}")).collect();
    let mut any = false;
    for field in fields(input) {
        let mut told = |lifetime: &Ident| {
            let own = [format!("'{lifetime}")];
            let all: Vec<_> = lifetimes.iter().chain(&own).chain(&others).map(String::as_str).collect();
            report.at(
                lifetime.span(),
                format!("the lifetime `'{lifetime}` is not declared"),
                format!("own the value, as in `String`, or declare it, as in `{name}<{}>`", all.join(", ")),
            );
        };
        let fixed = declared(field.ty.to_token_stream(), &known, &mut told);
        if let Some(ty) = fixed.and_then(|tokens| syn::parse2(tokens).ok()) {
            field.ty = ty;
            any = true;
            forever::skip(field, private);
        }
    }
    if any {
        forever::opaque(&mut input.attrs);
        input.generics.type_params_mut().for_each(|one| one.bounds.push(syn::parse_quote!('static)));
    }
    any
}

/// Says to serde which fields borrow inside of another type, as in `Vec<&'a str>`: by itself it sees `&'a str` alone, and
/// what it writes for the others does not compile. Whether there are any.
pub(super) fn borrow(input: &mut DeriveInput) -> bool {
    let inner = |ty: &Type| match ty {
        Type::Reference(reference) => lends(reference.elem.to_token_stream()),
        ty => lends(ty.to_token_stream()),
    };
    let lending = fields(input).into_iter().filter(|field| inner(&field.ty));
    lending.map(borrowed).fold(false, |any, one| any | one)
}

/// Says so of a field; whether that was not said.
fn borrowed(field: &mut Field) -> bool {
    let said = |attr: &syn::Attribute| {
        attr.path().is_ident("serde")
            && mentions(attr.meta.to_token_stream(), &["borrow", "with", "deserialize_with"])
    };
    let is_new = !field.attrs.iter().any(said);
    if is_new {
        field.attrs.push(syn::parse_quote!(#[serde(borrow)]));
    }
    is_new
}

/// Whether one of these words stands in it.
pub(crate) fn mentions(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => words.iter().any(|one| word == one),
        TokenTree::Group(group) => mentions(group.stream(), words),
        _ => false,
    })
}

/// Whether there is a `&'a` in it. What is borrowed for ever is told, or no matter to what is read.
fn lends(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let is_tick =
                    |next: &TokenTree| matches!(next, TokenTree::Punct(tick) if tick.as_char() == '\'');
                let named = tokens.next_if(is_tick).and_then(|_| tokens.next());
                named.is_some_and(|name| !matches!(name, TokenTree::Ident(name) if name == "static"))
            }
            TokenTree::Group(group) => lends(group.stream()),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// A type with `'static` for each lifetime that is not known; `None` where all are.
fn declared(ty: TokenStream, known: &[String], told: &mut impl FnMut(&Ident)) -> Option<TokenStream> {
    let (mut out, mut any, mut is_lifetime) = (TokenStream::new(), false, false);
    for token in ty {
        let was_tick = std::mem::replace(
            &mut is_lifetime,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\''),
        );
        out.extend([match token {
            TokenTree::Ident(name) if was_tick && !known.contains(&name.to_string()) => {
                any = true;
                told(&name);
                TokenTree::Ident(Ident::new("static", name.span()))
            }
            TokenTree::Group(group) => match declared(group.stream(), known, told) {
                Some(inside) => {
                    any = true;
                    let mut fresh = Group::new(group.delimiter(), inside);
                    fresh.set_span(group.span());
                    TokenTree::Group(fresh)
                }
                None => TokenTree::Group(group),
            },
            token => token,
        }]);
    }
    any.then_some(out)
}
