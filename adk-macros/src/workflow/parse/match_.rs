//! `match KEY < PATTERN if GUARD => step, ... >`. The syntax of patterns and guards is that of
//! Rust.

use super::super::ast::{Arm, Match, MentionKind, Node};
use super::expect::{self, expected_error};
use super::{Result, Sink, at_end, drain, parens, skip};
use crate::diag::Diagnostic;
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Expr, Ident, Pat, Token, token};

const EXAMPLE: &str = "as in `Severity::High => page`";
/// The error about a `match` on an expression.
pub(super) const NO_KEY: (&str, &str) = (
    "`match` looks at a key, and at no expression",
    "let an agent write the key, as in `match severity < ... >`, and compare in the arms, as in \
     `n if n > 10 => step`",
);

/// Parses the key of a `match`.
pub(super) fn subject(input: ParseStream<'_>) -> Result<Match> {
    let at = input.span();
    let no_key = || Diagnostic::syntax(at, NO_KEY.0).help(NO_KEY.1);
    if input.peek(syn::Lit) {
        return Err(no_key());
    }
    let key = expect::key(
        input,
        "the key to look at, as in `match severity < Severity::High => page, _ => () >`",
        false,
    )?;
    let is_expression = input.peek(Token![.])
        || input.peek(Token![::])
        || input.peek(token::Paren)
        || input.peek(Token![==]);
    if is_expression {
        return Err(no_key());
    }
    Ok(Match {
        key,
        arms: Vec::new(),
    })
}

/// Parses the arms up to the end of their block. An arm that is a block needs no separator.
pub(super) fn arms(input: ParseStream<'_>, sink: &mut Sink, arms: &mut Vec<Arm>) {
    let mut after_semicolon = false;
    while !at_end(input) {
        let read = Arm::head(input, sink).and_then(|arm| {
            arms.push(arm);
            let node = step(input, sink)?;
            let is_block = matches!(node, Some(Node::Block(_)));
            if let Some(arm) = arms.last_mut() {
                arm.node = node;
            }
            after_semicolon = input.peek(Token![;]);
            end(input, is_block, sink)
        });
        if let Err(error) = read {
            let help = "write several steps as a block, as in `_ => < a; b >`";
            sink.push(if after_semicolon {
                error.help(help)
            } else {
                error
            });
            after_semicolon = false;
            skip(input, ',');
        }
    }
    drain(input);
}

fn end(input: ParseStream<'_>, is_block: bool, sink: &mut Sink) -> Result<()> {
    if input.parse::<Option<Token![,]>>()?.is_some()
        || input.parse::<Option<Token![;]>>()?.is_some()
    {
        return Ok(());
    }
    if !is_block && !at_end(input) {
        sink.push(expected_error(input, "`,` between two arms"));
    }
    Ok(())
}

impl Arm {
    /// Parses `PATTERN if GUARD =>`.
    fn head(input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        if input.peek(Token![#]) {
            expect::docs(input, sink)?;
            sink.push(
                Diagnostic::syntax(input.span(), "a doc comment describes no arm")
                    .help("for a comment write `//`"),
            );
        }
        let pattern = pattern(input, sink)?;
        let guard = input.peek(Token![if]).then(|| guard(input)).transpose()?;
        if input.parse::<Option<Token![=>]>>()?.is_none() {
            return Err(expected_error(
                input,
                &format!("`=>` and a step after the pattern, {EXAMPLE}"),
            ));
        }
        Ok(Self {
            pattern,
            guard,
            node: None,
        })
    }
}

fn pattern(input: ParseStream<'_>, sink: &mut Sink) -> Result<Pat> {
    // A single lowercase name is a binding. A single uppercase name is a type or a constant.
    let is_path = input.peek2(Token![::])
        || expect::word(input).is_some_and(|name| name.to_string().starts_with(char::is_uppercase));
    if is_path && input.peek(Ident) {
        expect::path(&input.fork(), sink, MentionKind::Pattern)?;
    }
    let nothing = expected_error(input, &format!("a pattern of Rust, {EXAMPLE}"));
    let start = input.cursor();
    Pat::parse_multi_with_leading_vert(input).map_err(|error| {
        if input.cursor() == start {
            return nothing;
        }
        Diagnostic::syntax(
            error.span(),
            format!("this pattern of Rust cannot be read: {error}"),
        )
        .help(format!("write an arm {EXAMPLE}"))
    })
}

/// Parses `if n > 3`, up to the `=>`.
fn guard(input: ParseStream<'_>) -> Result<Expr> {
    let word = input.parse::<Token![if]>()?.span;
    let mut tokens = TokenStream::new();
    while !(input.is_empty() || input.peek(Token![=>])) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    syn::parse2(tokens).map_err(|_| {
        Diagnostic::syntax(
            word,
            "expected a condition after `if`, as in `n if n > 3 => step`",
        )
    })
}

/// Parses the step of an arm: `None` for `()`.
fn step(input: ParseStream<'_>, sink: &mut Sink) -> Result<Option<Node>> {
    if at_end(input) || input.peek(Token![,]) || input.peek(Token![;]) {
        return Err(expected_error(
            input,
            "a step, or `()` for an arm that does nothing",
        ));
    }
    if !input.peek(token::Paren) {
        return Node::parse(input, sink).map(Some);
    }
    let span = input.span();
    let inside = parens(input)?;
    if inside.is_empty() {
        return Ok(None);
    }
    drain(&inside);
    Err(Diagnostic::syntax(span, "steps are in `< >` or `{ }`")
        .help("write `< a; b >` for several, and `()` for an arm that does nothing"))
}
