//! What a workflow writes: `draft: Draft`, or `(draft: Draft, score: f64)`.

use super::super::ast::{Typed, Workflow};
use super::super::names::type_text;
use super::word::is_word;
use super::{Parser, expect, types};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Ident, Token, Type, token};

impl Parser {
    /// What stands behind the `->`.
    pub(super) fn outputs(&mut self, input: ParseStream<'_>, tree: &mut Workflow) -> syn::Result<()> {
        let span = input.span();
        if input.peek(token::Bracket) || input.peek(token::Brace) && input.peek2(token::Brace) {
            let Ok(TokenTree::Group(group)) = input.parse::<TokenTree>() else { return Ok(()) };
            self.bare(span, group.stream(), Vec::new(), tree);
            return Ok(());
        }
        let first = tree.outputs.len();
        if input.peek(token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            self.list(&list, |parser, list| parser.one_output(list, tree));
        } else {
            self.one_output(input, tree)?;
        }
        let span = input.span();
        if let Some(rest) = more(input) {
            let before = tree.outputs.split_off(first);
            self.bare(span, rest, before, tree);
        }
        Ok(())
    }

    fn one_output(&mut self, input: ParseStream<'_>, tree: &mut Workflow) -> syn::Result<()> {
        match self.typed(input) {
            Ok(typed) => self.put_output(typed, tree),
            Err(fault) => {
                match self.untyped.take() {
                    Some(typed) => tree.untyped.outputs.push((tree.outputs.len(), typed)),
                    None => drop(tree.untyped.output.get_or_insert_with(|| types::mistaken(&fault))),
                }
                return Err(fault);
            }
        }
        Ok(())
    }

    /// One that is there already is a field of the struct all the same, and nothing is asked of its type.
    fn put_output(&mut self, typed: Typed, tree: &mut Workflow) {
        let key = typed.key.text();
        if !tree.outputs.iter().any(|one| one.key.text() == key) {
            return tree.outputs.push(typed);
        }
        let text = format!(
            "key-duplicate: `{key}` is declared twice as an output; help: remove one of them, or choose another name"
        );
        self.report.at(typed.key.name.span(), text);
        tree.untyped.outputs.push((tree.outputs.len(), typed));
    }

    /// Several outputs that do not stand in `( )`: they are read all the same.
    fn bare(&mut self, span: Span, rest: TokenStream, before: Vec<Typed>, tree: &mut Workflow) {
        let mut all: Vec<(Typed, bool)> = before.into_iter().map(|typed| (typed, true)).collect();
        let mut is_whole = true;
        let read = |input: ParseStream<'_>| {
            while !input.is_empty() {
                separator(input);
                match expect::typed(input) {
                    Ok((typed, _)) => all.push((typed, true)),
                    Err(expect::Unread { typed: Some(typed), .. }) => all.push((*typed, false)),
                    Err(_) => {
                        is_whole = input.is_empty();
                        super::skip::drain(input);
                    }
                }
            }
            Ok(())
        };
        is_whole &= read.parse2(rest).is_ok();
        let shown = all.iter().map(|(Typed { key, ty, .. }, is_read)| match is_read {
            true => format!("{}: {}", key.text(), type_text(ty)),
            false => format!("{}: TYPE", key.text()),
        });
        let shown = if is_whole && !all.is_empty() {
            shown.collect::<Vec<_>>().join(", ")
        } else {
            "draft: String, score: f64".into()
        };
        let text = format!("syntax: several outputs stand in `( )`; help: write `-> ({shown})`");
        let fault = syn::Error::new(span, text);
        let ty: Type = types::mistaken(&fault);
        self.report.parse(fault);
        for (typed, is_read) in all {
            if is_read {
                self.put_output(typed, tree)
            } else {
                tree.untyped.outputs.push((tree.outputs.len(), Typed { ty: ty.clone(), ..typed }))
            }
        }
        // What is returned may have been used as the first one.
        tree.untyped.output = Some(ty);
    }
}

/// What stands between an output and the body, when it may be another output; passes over it.
fn more(input: ParseStream<'_>) -> Option<TokenStream> {
    let (ahead, mut rest) = (input.fork(), TokenStream::new());
    let is_separated = separator(&ahead);
    let names = ahead.peek(Ident) && (is_separated || ahead.peek2(Token![:]));
    if !names && !ahead.peek(token::Paren) {
        return None;
    }
    while !ahead.peek(token::Brace) {
        rest.extend([ahead.parse::<TokenTree>().ok()?]);
    }
    input.advance_to(&ahead);
    Some(rest)
}

/// Passes over what people write between two outputs.
fn separator(input: ParseStream<'_>) -> bool {
    if input.peek(Token![->]) {
        return input.parse::<Token![->]>().is_ok();
    }
    let is_mark =
        [input.peek(Token![,]), input.peek(Token![;]), input.peek(Token![+]), input.peek(Token![&])];
    let is_and = input.peek2(Ident) && is_word(input, &["and"]);
    (is_mark.contains(&true) || is_and) && input.parse::<TokenTree>().is_ok()
}
