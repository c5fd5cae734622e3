//! `if score > 3 < critic >` and its like: what another language begins with a word that is none of ours is one thing, and
//! passed over as one. A `<` or `>` in its condition compares; only what stands around tells it from the brackets of steps.

use super::word::{is_word, opens_block};
use super::{Parser, skip};
use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Ident, Lit, Token, token};

impl Parser {
    /// Passes over it, with its `else` and its `;`.
    pub(super) fn foreign(&self, input: ParseStream<'_>) {
        // The condition of a `do` stands behind its steps.
        let mut follows: &[&str] = if is_word(input, &["do"]) { &["while", "until"] } else { &["else"] };
        while input.call(Ident::parse_any).is_ok() {
            self.to_block(input);
            if self.at_steps(input) {
                skip::block(input);
            }
            if !is_word(input, follows) {
                break;
            }
            if follows != ["else"] {
                follows = &[];
            } else if input.peek2(Token![if]) {
                let _ = input.call(Ident::parse_any);
            }
        }
        let _ = input.parse::<Option<Token![;]>>();
    }

    /// Passes over what stands before the brackets; where there are none, up to where the step ends.
    fn to_block(&self, input: ParseStream<'_>) {
        let ahead = input.fork();
        if self.condition(&ahead) {
            return input.advance_to(&ahead);
        }
        while !(input.is_empty() || input.peek(Token![;]) || ends_arm(input) || self.at_steps(input)) {
            if skip::arrow(input) {
                continue;
            }
            // It compares where more of them follow than blocks are open.
            if skip::at_close(input) && !self.closes_more(input) || is_word(input, &["else"]) {
                return;
            }
            skip::one(input);
        }
    }

    /// Goes to the brackets behind a condition; whether there are any.
    fn condition(&self, input: ParseStream<'_>) -> bool {
        // Comparisons do not follow each other: behind one a `<` is a bracket.
        let mut compared = false;
        while !(input.is_empty() || input.peek(Token![;]) || input.peek(Token![,]) || input.peek(Token![=>]))
        {
            if input.peek(token::Brace) {
                return true;
            }
            if input.peek(Token![&&]) || input.peek(Token![||]) {
                compared = false;
                skip::one(input);
            } else if input.peek(Token![<=]) || input.peek(Token![>=]) || input.peek(Token![==]) {
                compared = true;
                skip::one(input);
            } else if input.peek(Token![::]) && input.peek3(Token![<]) {
                skip::one(input);
                skip::one(input);
                skip::block(input);
                continue;
            } else if input.peek(Token![<]) || skip::at_close(input) {
                if compared || !compares(input) {
                    return self.at_steps(input);
                }
                compared = true;
            }
            skip::one(input);
        }
        false
    }

    /// Whether a word stands here, and behind it one pair of parentheses and the brackets of steps.
    pub(super) fn at_arguments_and_steps(&self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let _ =
            (ahead.call(Ident::parse_any), ahead.peek(token::Paren) && ahead.parse::<TokenTree>().is_ok());
        input.peek2(token::Paren) && self.at_steps(&ahead)
    }

    /// Whether the brackets of steps begin here: they close before the block around does.
    fn at_steps(&self, input: ParseStream<'_>) -> bool {
        let is_operator = input.peek(Token![<=]) || input.peek(Token![<-]) || input.peek2(Lit);
        let ahead = input.fork();
        input.peek(token::Brace)
            || input.peek(Token![<]) && !is_operator && skip::block(&ahead) && self.closes(&ahead)
    }
}

/// Whether an arm ends here, and is the last one or another follows.
pub(super) fn ends_arm(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Token![,]>().is_ok()
        && (ahead.is_empty() || skip::at_close(&ahead) || skip::arrow_follows(&ahead))
}

/// Whether a value follows this `<` or `>`, and behind it steps in brackets, or more of the condition.
fn compares(input: ParseStream<'_>) -> bool {
    let (ahead, mut is_value) = (input.fork(), false);
    skip::one(&ahead);
    while !(ahead.peek(Token![<])
        || ahead.peek(token::Brace)
        || ahead.peek(Token![&&])
        || ahead.peek(Token![||]))
    {
        if ahead.peek(Token![::]) {
            skip::one(&ahead);
            skip::one(&ahead);
            is_value = false;
            continue;
        }
        is_value = match ahead.parse::<TokenTree>() {
            Ok(TokenTree::Ident(word)) if !is_value && !opens_block(&word) => true,
            Ok(TokenTree::Literal(_)) if !is_value => true,
            Ok(TokenTree::Group(_)) => true,
            Ok(TokenTree::Punct(punct)) if ".+-*/%!".contains(punct.as_char()) => false,
            _ => return false,
        };
    }
    is_value
}
