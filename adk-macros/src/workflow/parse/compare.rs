//! `total < 10`, where only a key, a pattern or a step can stand. A `<` or `>` of it is no bracket.

use super::super::names::path_text;
use super::block::at_brackets;
use super::run::ends_step;
use super::{Parser, skip};
use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitFloat, LitInt, Path, Token, token};

/// The operator of a comparison that begins here: a bracket has no number behind it that could be compared.
pub(super) fn operator(input: ParseStream<'_>) -> Option<&'static str> {
    let number = input.peek2(LitInt) || input.peek2(LitFloat);
    let joint = input.peek3(LitInt) || input.peek3(LitFloat);
    let known = [
        (input.peek(Token![==]), "=="),
        (input.peek(Token![!=]), "!="),
        (input.peek(Token![<=]) && joint, "<="),
        (input.peek(Token![>=]) && joint, ">="),
        (input.peek(Token![<]) && number, "<"),
        (skip::at_close(input) && number, ">"),
    ];
    known.into_iter().find(|(is, _)| *is).map(|(_, operator)| operator)
}

/// Whether the key of a `match` is compared here: `< 10` begins an arm as well.
pub(super) fn compares_key(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    match operator(input) {
        Some("<" | "<=") => {
            pass(&ahead);
            ahead.parse::<Lit>().is_ok()
                && (at_brackets(&ahead) || ahead.peek(Token![&&]) || ahead.peek(Token![||]))
        }
        operator => operator.is_some() || calculates(input),
    }
}

/// Whether an expression goes on here without comparing.
fn calculates(input: ParseStream<'_>) -> bool {
    input.peek(Token![&&])
        || input.peek(Token![||])
        || input.peek(Token![%])
        || input.peek(Token![*])
        || input.peek(Token![+])
        || input.peek(Token![-]) && input.peek2(Lit)
}

/// Whether a pattern begins here with a comparison.
pub(super) fn compares_pattern(input: ParseStream<'_>) -> bool {
    operator(input).is_some() && skip::arrow_follows(input)
}

/// Passes over the operator.
fn pass(input: ParseStream<'_>) {
    let is_joint = operator(input).is_some_and(|operator| operator.len() > 1);
    skip::one(input);
    if is_joint {
        let _ = input.parse::<TokenTree>();
    }
}

impl Parser {
    /// Whether what a step should be is compared behind its first word, or asked as in `good ? writer : critic`.
    pub(super) fn compares_step(&mut self, input: ParseStream<'_>) -> bool {
        let asks = input.peek(Token![?]) && (input.peek2(Ident) || input.peek2(token::Paren));
        asks || operator(input).is_some() && !self.closes_before_value(input)
    }

    /// Whether a `>` closes a block, and what stands behind it is the pattern of the next arm, or a value in the place of a step.
    fn closes_before_value(&mut self, input: ParseStream<'_>) -> bool {
        if !skip::at_close(input) {
            return false;
        }
        let ahead = input.fork();
        skip::one(&ahead);
        let next = ahead.fork();
        skip::arrow_follows(&ahead)
            || next.parse::<Lit>().is_ok() && ends_step(&next) && !self.closes_too_many(input)
    }

    /// A comparison in the place of a pattern, which is read as one without its operator; whether there was one.
    pub(super) fn compared_pattern(&mut self, input: ParseStream<'_>) -> bool {
        // Otherwise it is the `>` of a `match` that is an arm, and the pattern of the next one.
        if !compares_pattern(input) || skip::at_close(input) && !self.closes_too_many(input) {
            return false;
        }
        let (span, operator) = (input.span(), operator(input).unwrap_or_default());
        pass(input);
        let value = input
            .fork()
            .parse::<Lit>()
            .map_or_else(|_| "VALUE".to_owned(), |value| quote::quote!(#value).to_string());
        let range = match operator {
            "==" => format!("`{value}`"),
            "<" | "<=" => format!("`..{}{value}`", &operator[1..]),
            ">=" => format!("`{value}..`"),
            _ => format!("`n if n {operator} {value}`"),
        };
        let text = format!("syntax: a pattern of Rust does not begin with `{operator}`; help: write {range}");
        self.report.at(span, text);
        true
    }

    /// A step that is compared with something; passes over all of it.
    pub(super) fn compared_step(&mut self, input: ParseStream<'_>, path: &Path) {
        let name = path_text(path);
        let key = path.get_ident().map_or("KEY", |_| &name);
        let text = format!(
            "syntax: a step is no expression; help: a choice by the value of a key is written `match {key} < PATTERN => step, _ => () >`"
        );
        self.report.at(input.span(), text);
        self.lost = true;
        pass(input);
        while !(input.is_empty() || input.peek(Token![;]))
            && (!skip::at_close(input) || self.closes_more(input))
        {
            skip::one(input);
        }
    }
}
