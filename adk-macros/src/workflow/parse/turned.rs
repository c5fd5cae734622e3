//! Angle brackets the wrong way round, as in `parallel > a; b <` or `parallel < a; b <`: each block is told once and read as
//! it was meant. It is done to the tokens, since which bracket closes which is known only behind the last one.

use super::DEEPEST;
use proc_macro2::{Delimiter, Group, Punct, Spacing, Span, TokenStream, TokenTree};

/// A bracket that stands the wrong way round, and what is said of it.
pub(super) type Turned = (Span, &'static str);

/// The tokens with all brackets turned that have to be, if there are any.
pub(super) fn straight(input: TokenStream) -> Option<(TokenStream, Vec<Turned>)> {
    let mut faults = Vec::new();
    turned(input, 0, &mut faults).map(|tokens| (tokens, faults))
}

const OPENED: &str = "syntax: the steps of a block stand in `< >`, and not in `> <`; help: write `<` here, and `>` behind the last step";
const CLOSED: &str = "syntax: a block is closed by `>`; help: write `>` in the place of this `<`";

/// What stands open.
enum Open {
    /// A block.
    Block,
    /// One that began with the `>` at this place, if a `<` closes it.
    Turned(usize),
    /// The arguments of a type, or a word that is no block.
    Other,
}

/// `None` where nothing is wrong, or where it is too deep to be read.
fn turned(input: TokenStream, depth: usize, faults: &mut Vec<Turned>) -> Option<TokenStream> {
    if depth > DEEPEST {
        return None;
    }
    let mut all: Vec<_> = input.into_iter().collect();
    let (mut open, mut is_changed, mut at) = (Vec::new(), false, 0);
    while let Some(token) = all.get(at) {
        let span = token.span();
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                if let Some(inside) = turned(group.stream(), depth + 1, faults) {
                    let mut group = Group::new(Delimiter::Brace, inside);
                    group.set_span(span);
                    replace(&mut all, at, group.into());
                    is_changed = true;
                }
            }
            TokenTree::Ident(word) if word == "if" => at += guard(&all, at),
            TokenTree::Punct(_) if is_bracket(&all, at, '<') => match open.last() {
                Some(Open::Turned(first))
                    if !follows_head(&all, at)
                        && (ends(&all, at, true) || closing(&all, at) < open.len()) =>
                {
                    let first = *first;
                    faults.push((turn(&mut all, first, '<'), OPENED));
                    turn(&mut all, at, '>');
                    open.pop();
                    is_changed = true;
                }
                Some(Open::Block) if !follows_head(&all, at) && ends(&all, at, false) => {
                    faults.push((turn(&mut all, at, '>'), CLOSED));
                    open.pop();
                    is_changed = true;
                }
                _ if follows_head(&all, at) || follows_step(&all, at) => open.push(Open::Block),
                _ => open.push(Open::Other),
            },
            TokenTree::Punct(_) if is_bracket(&all, at, '>') => match follows_head(&all, at) {
                true => open.push(Open::Turned(at)),
                false => drop(open.pop()),
            },
            _ => {}
        }
        at += 1;
    }
    is_changed.then(|| all.into_iter().collect())
}

/// Whether this bracket stands here, and no part of an arrow.
fn is_bracket(all: &[TokenTree], at: usize, bracket: char) -> bool {
    let joins =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
    let is_line = |token: &&TokenTree| is(token, '-') || is(token, '=');
    let here = all.get(at).filter(|token| is(token, bracket));
    let before = at.checked_sub(1).and_then(|at| all.get(at)).filter(is_line);
    here.is_some_and(|here| !(joins(here) && all.get(at + 1).filter(is_line).is_some()))
        && !before.is_some_and(joins)
}

/// Whether the word of a block stands before, with all that belongs to it.
fn follows_head(all: &[TokenTree], at: usize) -> bool {
    let before = all.get(..at).unwrap_or_default();
    // `loop(max = 5)`.
    let head = match before.split_last() {
        Some((TokenTree::Group(group), head)) if group.delimiter() == Delimiter::Parenthesis => head,
        _ => before,
    };
    if let Some((TokenTree::Ident(word), before)) = head.split_last()
        && ["sequence", "parallel", "loop"].iter().any(|block| word == block)
    {
        return !matches!(before.last(), Some(TokenTree::Ident(word)) if word == "as");
    }
    // `match user:severity`, `each item in items`.
    let subject = before.iter().rev().take(8).take_while(|token| match token {
        TokenTree::Ident(word) => word != "match" && word != "in",
        TokenTree::Punct(punct) => punct.as_char() == ':',
        _ => false,
    });
    let length = subject.count();
    let word = before.len().checked_sub(length + 1).and_then(|place| before.get(place));
    length > 0 && matches!(word, Some(TokenTree::Ident(word)) if word == "match" || word == "in")
}

/// Whether a step may begin here, so that a `<` is a block without a word.
fn follows_step(all: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| all.get(at));
    before.is_none_or(|token| matches!(token, TokenTree::Punct(punct) if "<>;:".contains(punct.as_char())))
}

/// Whether no step follows a bracket, nor anything else that it may open: further ones like it, and the end of a step.
fn ends(all: &[TokenTree], at: usize, closes: bool) -> bool {
    let next = all.iter().skip(at).find(|token| !is(token, '<'));
    next.is_none_or(|token| is(token, ';') || is(token, ',') || closes && is(token, '>'))
}

/// How many `>` follow whose `<` stands before.
fn closing(all: &[TokenTree], at: usize) -> usize {
    let (mut depth, mut count, mut next) = (0_usize, 0, at + 1);
    while let Some(token) = all.get(next) {
        match token {
            TokenTree::Ident(word) if word == "if" => next += guard(all, next),
            _ if is_bracket(all, next, '<') => depth += 1,
            _ if is_bracket(all, next, '>') && depth == 0 => count += 1,
            _ if is_bracket(all, next, '>') => depth -= 1,
            _ => {}
        }
        next += 1;
    }
    count
}

fn is(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// How long a guard is, `if n > 3`, whose brackets compare.
fn guard(all: &[TokenTree], at: usize) -> usize {
    let rest = all.get(at..).unwrap_or_default();
    let length =
        rest.iter().take_while(|token| !(is(token, ';') || is(token, ',') || is(token, '='))).count();
    let arrow = rest.get(length).is_some_and(|token| is(token, '='));
    if arrow { length } else { 0 }
}

/// Writes another bracket, where the wrong one stood.
fn turn(all: &mut [TokenTree], at: usize, bracket: char) -> Span {
    let span = all.get(at).map_or_else(Span::call_site, TokenTree::span);
    let mut punct = Punct::new(bracket, Spacing::Alone);
    punct.set_span(span);
    replace(all, at, punct.into());
    span
}

fn replace(all: &mut [TokenTree], at: usize, token: TokenTree) {
    if let Some(place) = all.get_mut(at) {
        *place = token;
    }
}
