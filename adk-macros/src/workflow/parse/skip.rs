//! Passing over tokens that could not be read.

use proc_macro2::{Delimiter, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::{Token, token};

/// `>`, also the first half of `>>`.
pub(super) fn at_close(input: ParseStream<'_>) -> bool {
    input.peek(Token![>])
}

/// Where a step ends: before `;`, before the `,` of an arm, or before `>`.
pub(super) fn at_end(input: ParseStream<'_>) -> bool {
    at_close(input) || at(input, &[';', ','])
}

/// Whether here is a `=>` behind which no step begins.
pub(super) fn is_torn(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Token![=>]>().is_ok() && (ahead.is_empty() || at_close(&ahead) || at(&ahead, &[';', ',']))
}

/// Passes over everything: a buffer that is dropped with tokens left makes the outermost parse fail.
pub(super) fn drain(input: ParseStream<'_>) {
    while input.parse::<TokenTree>().is_ok() {}
}

/// Passes over one token, but over one half of a joint `>>` only.
pub(super) fn one(input: ParseStream<'_>) {
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
pub(super) fn arrow(input: ParseStream<'_>) -> bool {
    input.peek(Token![->]) && input.parse::<Token![->]>().is_ok()
        || input.peek(Token![=>]) && input.parse::<Token![=>]>().is_ok()
}

/// Passes over a guard, `if n > 3`: its `>` is no bracket.
fn guard(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![if]>().is_err() || !arrow_follows(&ahead) {
        return false;
    }
    while !input.peek(Token![=>]) && input.parse::<TokenTree>().is_ok() {}
    true
}

/// Whether a `=>` comes before the next `;` or `,`: an arm begins here.
pub(super) fn arrow_follows(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while !(ahead.is_empty() || ahead.peek(Token![;]) || ahead.peek(Token![,])) {
        if ahead.peek(Token![=>]) {
            return true;
        }
        let _ = ahead.parse::<TokenTree>();
    }
    false
}

/// Passes over what stands before the step of an arm, with its `=>`.
pub(super) fn head_of_arm(input: ParseStream<'_>) {
    if arrow_follows(input) {
        while input.parse::<Option<Token![=>]>>().is_ok_and(|arrow| arrow.is_none()) {
            let _ = input.parse::<TokenTree>();
        }
    }
}

/// What has been passed over, to one who counts brackets.
enum Passed {
    Opening,
    Closing,
    Other,
}

/// Passes over one token, or over what holds a `>` that is no bracket.
fn counted(input: ParseStream<'_>) -> Passed {
    if arrow(input) || guard(input) {
        return Passed::Other;
    }
    let (opens, closes) = (input.peek(Token![<]), at_close(input));
    one(input);
    match (opens, closes) {
        (true, _) => Passed::Opening,
        (_, true) => Passed::Closing,
        _ => Passed::Other,
    }
}

/// How many `>` follow whose `<` stands before.
pub(super) fn unopened(input: ParseStream<'_>) -> usize {
    let (ahead, mut depth, mut count) = (input.fork(), 0_usize, 0);
    while !ahead.is_empty() {
        match counted(&ahead) {
            Passed::Opening => depth += 1,
            Passed::Closing if depth == 0 => count += 1,
            Passed::Closing => depth -= 1,
            Passed::Other => {}
        }
    }
    count
}

/// What comes first in the block that we are in: that (true), or its `>` (false).
fn first_of(input: ParseStream<'_>, is_that: impl Fn(ParseStream<'_>) -> bool) -> Option<bool> {
    let (ahead, mut depth) = (input.fork(), 0_usize);
    while !ahead.is_empty() {
        if depth == 0 && is_that(&ahead) {
            return Some(true);
        }
        match counted(&ahead) {
            Passed::Opening => depth += 1,
            Passed::Closing if depth == 0 => return Some(false),
            Passed::Closing => depth -= 1,
            Passed::Other => {}
        }
    }
    None
}

/// Whether the block that we are in, or one whose `<` is missing, is closed before a step ends.
pub(super) fn closes_first(input: ParseStream<'_>) -> bool {
    first_of(input, |ahead| ahead.peek(Token![;])) == Some(false)
}

/// Whether another arm follows in the block that we are in.
pub(super) fn arrow_inside(input: ParseStream<'_>) -> bool {
    first_of(input, |ahead| ahead.peek(Token![=>])) == Some(true)
}

/// Whether brackets begin here, and that holds of what stands in them.
pub(super) fn within(input: ParseStream<'_>, holds: impl FnOnce(ParseStream<'_>) -> bool) -> bool {
    let Ok(TokenTree::Group(group)) = input.fork().parse::<TokenTree>() else { return false };
    let read = |input: ParseStream<'_>| {
        let it_holds = holds(input);
        drain(input);
        Ok(it_holds)
    };
    read.parse2(group.stream()).unwrap_or(false)
}

/// Passes over what stands before the arms of a `match`, and over these; without any, to where the step ends.
pub(super) fn to_arms(input: ParseStream<'_>) {
    while !(input.is_empty() || input.peek(Token![;])) {
        if input.peek(token::Brace) || within(input, arrow_follows) {
            return one(input);
        }
        let ahead = input.fork();
        one(&ahead);
        if input.peek(Token![<]) && arm_follows(&ahead) {
            block(input);
            return;
        }
        one(input);
    }
}

/// Whether a `=>` comes before the next bracket, `;` or `,`. In a guard a bracket compares.
pub(super) fn arm_follows(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let mut stops: &[char] = &[';', ',', '<', '>'];
    while !(ahead.is_empty() || at(&ahead, stops)) {
        if ahead.peek(Token![=>]) {
            return true;
        }
        if ahead.peek(Token![if]) {
            stops = &[';', ','];
        }
        let _ = ahead.parse::<TokenTree>();
    }
    false
}

/// Whether the next token is one of these.
fn at(input: ParseStream<'_>, stops: &[char]) -> bool {
    let next = input.fork().parse::<TokenTree>();
    next.is_ok_and(|token| matches!(token, TokenTree::Punct(punct) if stops.contains(&punct.as_char())))
}

/// Passes over everything before one of `stops`, or before the `>` that closes the block we are in.
///
/// Stops behind a block that ends on the way: blocks need no separator, so the next step may begin there. Whether a `<` on the
/// way, which may be no bracket at all, took everything up to the end.
pub(super) fn to(input: ParseStream<'_>, stops: &[char]) -> bool {
    let mut depth = 0_usize;
    while !input.is_empty() {
        if arrow(input) || guard(input) {
            continue;
        }
        if at_close(input) {
            match depth {
                0 => return false,
                1 => {
                    one(input);
                    return false;
                }
                _ => depth -= 1,
            }
        } else if input.peek(Token![<]) {
            depth += 1;
        } else if depth == 0 && at(input, stops) {
            return false;
        } else if depth == 0 && stops.contains(&';') && input.peek(token::Brace) {
            one(input);
            return false;
        }
        one(input);
    }
    depth > 0
}

/// Passes over the rest of a step, with its `;`; the same.
pub(super) fn step(input: ParseStream<'_>) -> bool {
    let took_all = to(input, &[';']);
    let _ = input.parse::<Option<Token![;]>>();
    took_all
}

/// Passes over the rest of an arm, with its `,`; the same.
pub(super) fn arm(input: ParseStream<'_>) -> bool {
    let took_all = to(input, &[',', ';']);
    if input.peek(Token![;]) {
        let _ = input.parse::<Token![;]>();
    } else {
        let _ = input.parse::<Option<Token![,]>>();
    }
    took_all
}

/// Passes over `{ }` or `< >`.
pub(super) fn empty_brackets(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_empty = match ahead.parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace && group.stream().is_empty(),
        Ok(TokenTree::Punct(punct)) if punct.as_char() == '<' => at_close(&ahead),
        _ => false,
    };
    if is_empty && input.parse::<Token![<]>().is_ok() {
        let _ = input.parse::<Token![>]>();
    } else if is_empty {
        let _ = input.parse::<TokenTree>();
    }
    is_empty
}

/// Passes over the rest of an item: to its `;`, or over its braces and the `;` that some write behind them.
pub(super) fn item(input: ParseStream<'_>) {
    while !input.is_empty() {
        let braces = input.peek(token::Brace);
        if input.peek(Token![;]) || braces {
            let _ = input.parse::<TokenTree>();
            if braces {
                let _ = input.parse::<Option<Token![;]>>();
            }
            return;
        }
        one(input);
    }
}

/// Passes over a block, from its `<` or `{` to where it is closed, if it is; no recursion.
pub(super) fn block(input: ParseStream<'_>) -> bool {
    if input.peek(token::Brace) {
        return input.parse::<TokenTree>().is_ok();
    }
    let mut depth = 0_usize;
    while !input.is_empty() {
        match counted(input) {
            Passed::Opening => depth += 1,
            Passed::Closing => depth = depth.saturating_sub(1),
            Passed::Other => continue,
        }
        if depth == 0 {
            return true;
        }
    }
    false
}
