//! Descriptions for models, read from doc comments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// Returns the description in doc comments, or `None` if it is empty. The description is an
/// expression, since a doc comment may be `include_str!`.
pub(crate) fn description(attrs: &[Attribute]) -> Option<TokenStream> {
    match text(attrs) {
        Some(text) => (!text.is_empty()).then(|| quote!(#text)),
        None => {
            let docs = attrs.iter().filter_map(doc);
            Some(quote!(::core::concat!(#(#docs, "\n"),*)))
        }
    }
}

/// Returns the description if all doc comments are literals.
pub(crate) fn text(attrs: &[Attribute]) -> Option<String> {
    let texts: Option<Vec<String>> = attrs.iter().filter_map(doc).map(literal).collect();
    Some(plain_text(&texts?))
}

/// Removes the stars of block comments, for derives that read doc comments unchanged.
pub(crate) fn strip_block_stars(attrs: &mut [Attribute]) {
    for attr in attrs {
        let Some(text) = literal_text(attr).filter(|text| text.contains('\n')) else {
            continue;
        };
        let (text, span) = (plain_text(&[text]), attr.span());
        if let Meta::NameValue(meta) = &mut attr.meta {
            meta.value = Expr::Lit(ExprLit {
                attrs: Vec::new(),
                lit: Lit::Str(LitStr::new(&text, span)),
            });
        }
    }
}

pub(crate) fn is_doc(attr: &Attribute) -> bool {
    doc(attr).is_some()
}

fn doc(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

/// Returns the text of a doc comment that is a literal.
pub(crate) fn literal_text(attr: &Attribute) -> Option<String> {
    doc(attr).and_then(literal)
}

fn literal(doc: &Expr) -> Option<String> {
    match doc {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Returns the text as rustdoc reads it: without the stars of block comments and without the
/// indentation that all lines share.
fn plain_text(docs: &[String]) -> String {
    let docs: Vec<String> = docs.iter().map(|doc| strip_stars(doc)).collect();
    let lines = || docs.iter().flat_map(|doc| doc.split('\n'));
    let indents = lines().filter(|line| !line.trim().is_empty()).map(indent);
    let least = indents.min().unwrap_or_default();
    let lines: Vec<&str> = lines()
        .map(|line| line.get(least..).unwrap_or_default())
        .collect();
    lines.join("\n").trim_matches('\n').trim_end().to_owned()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Returns the text of one comment without the stars of a block comment, if all lines have a star
/// in the same column. The first line may have text instead.
fn strip_stars(doc: &str) -> String {
    let star = |line: &str| line.trim_start().starts_with('*').then(|| indent(line));
    let mut lines: Vec<&str> = doc.split('\n').collect();
    let skipped = usize::from(lines.first().and_then(|first| star(first)).is_none());
    let starred = lines
        .iter()
        .skip(skipped)
        .filter(|line| !line.trim().is_empty());
    let columns: Vec<Option<usize>> = starred.map(|line| star(line)).collect();
    if let [Some(first), others @ ..] = &columns[..]
        && lines.len() > 1
        && others.iter().all(|other| *other == Some(*first))
    {
        lines
            .iter_mut()
            .skip(skipped)
            .for_each(|line| *line = line.get(first + 1..).unwrap_or_default());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
