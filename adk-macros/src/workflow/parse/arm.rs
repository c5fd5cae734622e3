//! `match KEY < PATTERN if GUARD => step, ... >`. Patterns and guards are Rust's own.

use super::super::ast::{Arm, Match, MentionKind, Node};
use super::block::at_brackets;
use super::compare::compares_key;
use super::expect::{self, expected};
use super::guard::{compares, guard};
use super::run::does_nothing;
use super::step::Closing;
use super::word::{is_step_keyword, is_word};
use super::{Parser, skip};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Lit, Pat, Token, token};

const EXAMPLE: &str = "as in `Severity::High => page`";

/// What is said of a `match` at something else.
pub(super) const NO_KEY: &str = "syntax: `match` looks at a key, and at no expression; help: let an agent write the key, as in `match severity < ... >`";

impl Parser {
    /// The key of a `match`; `None` for an expression, which is passed over with its block.
    pub(super) fn subject(&mut self, input: ParseStream<'_>) -> syn::Result<Option<Match>> {
        let example = "as in `match severity < Severity::High => page, _ => () >`";
        let key = expect::key(input, &format!("the key to look at, {example}"), false).inspect_err(|_| {
            // Behind an `if` it would be passed over as a guard.
            let _ = input.parse::<Option<Token![if]>>();
        })?;
        let is_expression = input.peek(Token![.]) || input.peek(Token![::]) || input.peek(token::Paren);
        if is_expression || compares_key(input) {
            let name = key.text();
            let text = match is_expression {
                true if input.peek(token::Paren) && skip::within(input, skip::arrow_follows) => format!(
                    "syntax: the arms of a `match` stand in `< >`; help: write `match {name} < PATTERN => step, _ => () >`"
                ),
                true => NO_KEY.to_owned(),
                false => format!(
                    "syntax: `match` looks at a key, and at no expression; help: compare in the arms, as in `match {name} < n if n > 10 => step, _ => () >`"
                ),
            };
            self.report.at(key.name.span(), text);
            self.lost = true;
            skip::to_arms(input);
            let _ = input.parse::<Option<Token![;]>>();
            return Ok(None);
        }
        if at_brackets(input) {
            return Ok(Some(Match { key, arms: Vec::new(), whole: true }));
        }
        let arms = || expected(input, &format!("the arms, {example}"));
        let arms_follow = input.peek(Ident) || skip::arm_follows(input) && skip::closes_first(input);
        if arms_follow && self.closes_more(input) {
            // Only the `<` is missing.
            self.report.parse(arms());
            return Ok(Some(Match { key, arms: Vec::new(), whole: true }));
        }
        Err(arms())
    }

    /// What stands in the brackets of a `match`.
    pub(super) fn arms(&mut self, input: ParseStream<'_>, closing: Closing, choice: &mut Match) {
        // `;` is accepted behind an arm, so two steps without brackets look like two arms.
        let (mut behind_semicolon, mut is_told) = (false, false);
        while !input.is_empty() {
            let compared = self.compared_pattern(input);
            choice.whole &= !compared;
            if is_told && skip::at_close(input) && self.closes_one_more(input) {
                // That of the steps of an arm whose `<` is missing.
                let _ = (input.parse::<Token![>]>(), input.parse::<Option<Token![,]>>());
                continue;
            }
            if skip::at_close(input) {
                if closing == Closing::Angle {
                    break;
                }
                self.stray_close(input);
                if !skip::arrow_follows(input) {
                    skip::arm(input);
                }
                continue;
            }
            if !choice.arms.is_empty() && self.stands_behind(input, closing, behind_semicolon) {
                // Steps that stand behind the block: its `>` is missing.
                choice.whole = false;
                break;
            }
            let span = input.span();
            let read = self.arm(input, behind_semicolon).and_then(|arm| {
                let needs_end = !matches!(arm.node, Some(Node::Block(_) | Node::Unread(_)));
                choice.arms.push(arm);
                behind_semicolon = input.peek(Token![;]);
                self.end_of_arm(input, needs_end, closing)
            });
            if let Err(error) = read {
                // Where a `<` is never closed, that is the mistake. Further steps of one arm are one.
                if !(input.is_empty() && closing == Closing::Angle || behind_semicolon && is_told) {
                    self.report.parse(error);
                }
                is_told |= behind_semicolon;
                self.lost |= behind_semicolon;
                match choice.arms.last_mut().filter(|_| behind_semicolon) {
                    // A second step of the arm.
                    Some(arm) => arm.add_unread(span),
                    None => choice.unread(span),
                }
                choice.whole = false;
                // A `<` that could not be read may be no bracket.
                let is_open = input.peek(Token![<]);
                self.unclosed |= skip::arm(input) || is_open && !self.closes(input);
            }
        }
    }

    /// Whether a step stands here that is no part of the block, whose `>` is missing then.
    fn stands_behind(&self, input: ParseStream<'_>, closing: Closing, behind_semicolon: bool) -> bool {
        // `counter >`, the last step of the block around.
        let is_last = || {
            let ahead = input.fork();
            ahead.parse::<Ident>().is_ok() && skip::at_close(&ahead)
        };
        let is_step = behind_semicolon && input.peek(Ident) || begins_step(input) || is_last();
        closing == Closing::Angle && is_step && !skip::arrow_inside(input) && !self.closes(input)
    }

    fn end_of_arm(&mut self, input: ParseStream<'_>, needed: bool, closing: Closing) -> syn::Result<()> {
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        } else if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
        } else if needed
            && !input.is_empty()
            && !skip::at_close(input)
            && !self.stands_behind(input, closing, false)
        {
            let error = expected(input, "`,` between two arms");
            if !skip::arrow_follows(input) {
                return Err(error);
            }
            // Only the comma is missing.
            self.report.parse(error);
        }
        Ok(())
    }

    fn arm(&mut self, input: ParseStream<'_>, behind_semicolon: bool) -> syn::Result<Arm> {
        // Then the arrow is one inside of a further step.
        let is_step = behind_semicolon && begins_step(input);
        match self.head_of_arm(input, behind_semicolon) {
            Ok((pattern, guard)) => Ok(Arm { pattern, guard, node: self.arm_step(input)? }),
            Err(error) => {
                if !is_step {
                    skip::head_of_arm(input);
                }
                Err(error)
            }
        }
    }

    /// `PATTERN if GUARD =>`.
    fn head_of_arm(
        &mut self,
        input: ParseStream<'_>,
        behind_semicolon: bool,
    ) -> syn::Result<(Pat, Option<Expr>)> {
        let attrs = self.node_docs(input);
        self.idle(&attrs);
        self.foreign_word(input);
        let of_one_step = |error: syn::Error| {
            if behind_semicolon {
                syn::Error::new(
                    error.span(),
                    format!(
                        "{error}; help: an arm is one step: several stand in a block, as in `_ => < a; b >`"
                    ),
                )
            } else {
                error
            }
        };
        let pattern =
            if begins_step(input) { self.pattern(input).map_err(of_one_step)? } else { self.pattern(input)? };
        let is_bare = compares(input) && skip::arrow_follows(input);
        if is_bare {
            let text = "syntax: a condition on an arm begins with `if`; help: write `if` before it";
            self.report.at(input.span(), text);
        }
        let is_other = is_word(input, &["where", "when", "and"]) && skip::arrow_follows(input);
        if is_other {
            let word = input.fork().call(Ident::parse_any)?;
            let text = format!(
                "syntax: a condition on an arm begins with `if`; help: write `if` instead of `{word}`"
            );
            self.report.at(word.span(), text);
        }
        let guard =
            if is_bare || is_other || input.peek(Token![if]) { Some(guard(input, is_bare)?) } else { None };
        if !input.peek(Token![=>]) {
            let error = expected(input, &format!("`=>` and a step behind the pattern, {EXAMPLE}"));
            return Err(of_one_step(error));
        }
        input.parse::<Token![=>]>()?;
        Ok((pattern, guard))
    }

    /// `case` before a pattern, as other languages have it.
    fn foreign_word(&mut self, input: ParseStream<'_>) {
        if is_word(input, &["case"]) && (input.peek2(Ident) || input.peek2(Lit)) {
            let text = "syntax: no `case` stands before a pattern; help: remove it";
            self.report.at(input.span(), text);
            let _ = input.parse::<Ident>();
        }
    }

    fn pattern(&mut self, input: ParseStream<'_>) -> syn::Result<Pat> {
        expect::is_readable(input)?;
        let path = self.pattern_path(input);
        let ahead = input.fork();
        let Err(error) = Pat::parse_multi_with_leading_vert(&ahead) else {
            return Pat::parse_multi_with_leading_vert(input);
        };
        if input.peek(Token![else]) {
            return Err(expected(input, "a pattern: that of the arm for all other values is `_`"));
        }
        path?;
        Err(if ahead.cursor() == input.cursor() {
            expected(input, &format!("a pattern of Rust, {EXAMPLE}"))
        } else {
            syn::Error::new(
                error.span(),
                format!(
                    "syntax: this pattern of Rust cannot be read: {error}; help: an arm is written {EXAMPLE}"
                ),
            )
        })
    }

    /// The path that a pattern begins with, for editors; a fault where it ends in `::`.
    fn pattern_path(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        // A name alone is a binding, unless it looks like a type or a constant.
        let name = input.fork().parse::<Ident>().map(|name| name.to_string()).unwrap_or_default();
        if input.peek2(Token![::]) || name.starts_with(char::is_uppercase) {
            self.path(&input.fork(), MentionKind::Pattern).map(drop)
        } else {
            Ok(())
        }
    }

    /// What is done: `None` for `()`.
    fn arm_step(&mut self, input: ParseStream<'_>) -> syn::Result<Option<Node>> {
        if input.is_empty() || input.peek(Token![,]) || input.peek(Token![;]) || skip::at_close(input) {
            return Err(expected(input, "a step, or `()` for an arm that does nothing"));
        }
        if input.peek(token::Paren) {
            let span = input.span();
            let inside;
            syn::parenthesized!(inside in input);
            if !inside.is_empty() {
                skip::drain(&inside);
                let text = "syntax: steps stand in `< >` or `{ }`; help: write `< a; b >` for several, and `()` for an arm that does nothing";
                return Err(syn::Error::new(span, text));
            }
            return Ok(None);
        }
        let span = input.span();
        if skip::empty_brackets(input) {
            let text = "block-empty: a block needs at least one step; help: an arm that does nothing is written `_ => ()`";
            self.report.at(span, text);
            return Ok(Some(Node::Unread(span)));
        }
        if let Some(fault) = does_nothing(input) {
            self.report.parse(fault);
            return Ok(None);
        }
        let around = std::mem::replace(&mut self.in_arm, true);
        let node = self.node(input);
        self.in_arm = around;
        node.map(Some)
    }

    /// Whether the next arm begins here: the `>` of the block that is this one is missing.
    pub(super) fn ends_arm(&self, input: ParseStream<'_>, closing: Closing) -> bool {
        let ahead = input.fork();
        self.in_arm
            && closing == Closing::Angle
            && ahead.parse::<Token![,]>().is_ok()
            && (skip::arm_follows(&ahead) || skip::at_close(&ahead) && !self.closes(input))
    }
}

/// Whether here is what no pattern can be.
fn begins_step(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let _ = ahead.parse::<Ident>();
    is_step_keyword(input)
        || is_word(input, &["each"]) && (ahead.peek(Ident) || ahead.peek(token::Paren))
        || is_word(input, &["parallel", "sequence"]) && (at_brackets(&ahead) || ahead.peek(token::Paren))
        || input.peek(Ident) && (ahead.peek(Token![;]) || ahead.peek(Token![as]))
        || expect::is_doc(input)
}
