//! Passing over tokens that could not be read.

use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Token, token};

/// `>`, also the first half of `>>`.
pub(super) fn at_close(input: ParseStream<'_>) -> bool {
    input.peek(Token![>])
}

/// Passes over everything: a buffer that is dropped with tokens left makes the outermost parse fail.
pub(super) fn drain(input: ParseStream<'_>) {
    while input.parse::<TokenTree>().is_ok() {}
}

/// Passes over one token, but over one half of a joint `>>` only.
fn one(input: ParseStream<'_>) {
    let passed = if input.peek(Token![<]) {
        input.parse::<Token![<]>().is_ok()
    } else if at_close(input) {
        input.parse::<Token![>]>().is_ok()
    } else {
        false
    };
    if !passed {
        let _ = input.parse::<TokenTree>();
    }
}

/// Passes over `->` and `=>`, which are no brackets.
fn arrow(input: ParseStream<'_>) -> bool {
    input.peek(Token![->]) && input.parse::<Token![->]>().is_ok()
        || input.peek(Token![=>]) && input.parse::<Token![=>]>().is_ok()
}

/// Whether the next token is that character.
fn at(input: ParseStream<'_>, stop: char) -> bool {
    let next = input.fork().parse::<TokenTree>();
    next.is_ok_and(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == stop))
}

/// Passes over everything before `stop`, or before the `>` that closes the block we are in.
///
/// Stops behind a block that ends on the way: blocks need no `;`, so the next step may begin there.
pub(super) fn to(input: ParseStream<'_>, stop: char) {
    let mut depth = 0_usize;
    while !input.is_empty() {
        if arrow(input) {
            continue;
        }
        if at_close(input) {
            match depth {
                0 => return,
                1 => return one(input),
                _ => depth -= 1,
            }
        } else if input.peek(Token![<]) {
            depth += 1;
        } else if depth == 0 && at(input, stop) {
            return;
        }
        one(input);
    }
}

/// Passes over the rest of a step, with its `;`.
pub(super) fn step(input: ParseStream<'_>) {
    to(input, ';');
    let _ = input.parse::<Option<Token![;]>>();
}

/// Passes over the rest of an item: to its `;`, or over its braces.
pub(super) fn item(input: ParseStream<'_>) {
    while !input.is_empty() {
        let braces = input.peek(token::Brace);
        if input.peek(Token![;]) || braces {
            let _ = input.parse::<TokenTree>();
            return;
        }
        one(input);
    }
}

/// Passes over a block, from its `<` or `{` to where it is closed; no recursion.
pub(super) fn block(input: ParseStream<'_>) {
    if input.peek(token::Brace) {
        let _ = input.parse::<TokenTree>();
        return;
    }
    let mut depth = 0_usize;
    while !input.is_empty() {
        if arrow(input) {
            continue;
        }
        let (opens, closes) = (input.peek(Token![<]), at_close(input));
        one(input);
        if opens {
            depth += 1;
        } else if closes {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return;
        }
    }
}
