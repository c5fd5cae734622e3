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
    let signs = signs(&all);
    let closing = closing(&signs);
    let (mut open, mut is_changed) = (Vec::new(), false);
    for (at, sign) in signs.iter().enumerate() {
        if let Some(TokenTree::Group(group)) = all.get(at)
            && let (Delimiter::Brace, span) = (group.delimiter(), group.span())
            && let Some(inside) = turned(group.stream(), depth + 1, faults)
        {
            let mut group = Group::new(Delimiter::Brace, inside);
            group.set_span(span);
            replace(&mut all, at, group.into());
            is_changed = true;
        }
        let follows_head = sign.is_some() && follows_head(&all, at);
        match (sign, open.last()) {
            (Some(Sign::Opens), Some(Open::Turned(first)))
                if !follows_head
                    && (ends(&all, at, true) || closing.get(at).is_none_or(|more| *more < open.len())) =>
            {
                let first = *first;
                faults.push((turn(&mut all, first, '<'), OPENED));
                turn(&mut all, at, '>');
                open.pop();
                is_changed = true;
            }
            (Some(Sign::Opens), Some(Open::Block)) if !follows_head && ends(&all, at, false) => {
                faults.push((turn(&mut all, at, '>'), CLOSED));
                open.pop();
                is_changed = true;
            }
            (Some(Sign::Opens), _) if follows_head || follows_step(&all, at) => open.push(Open::Block),
            (Some(Sign::Opens), _) => open.push(Open::Other),
            (Some(Sign::Closes), _) if follows_head => open.push(Open::Turned(at)),
            (Some(Sign::Closes), _) => drop(open.pop()),
            (None, _) => {}
        }
    }
    is_changed.then(|| all.into_iter().collect())
}

/// What an angle bracket does as it is written.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Opens,
    Closes,
}

/// Which of the tokens are angle brackets: no arrows, and none of a guard, which compares.
fn signs(all: &[TokenTree]) -> Vec<Option<Sign>> {
    let joins =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
    let is_line = |token: &TokenTree| is(token, '-') || is(token, '=');
    let (mut signs, mut guarded) = (Vec::with_capacity(all.len()), None);
    for (at, token) in all.iter().enumerate() {
        let joins_next = joins(token) && all.get(at + 1).is_some_and(is_line);
        let joins_last =
            at.checked_sub(1).and_then(|at| all.get(at)).is_some_and(|last| is_line(last) && joins(last));
        let sign = match token {
            _ if joins_next || joins_last => None,
            token if is(token, '<') => Some(Sign::Opens),
            token if is(token, '>') => Some(Sign::Closes),
            _ => None,
        };
        match token {
            TokenTree::Ident(word) if word == "if" => guarded = Some(at),
            token if is(token, ';') || is(token, ',') => guarded = None,
            // The arrow behind a guard.
            token if is(token, '=') && joins(token) && all.get(at + 1).is_some_and(|next| is(next, '>')) => {
                if let Some(start) = guarded.take() {
                    signs.iter_mut().skip(start).for_each(|sign| *sign = None);
                }
            }
            _ => {}
        }
        signs.push(sign);
    }
    signs
}

/// How many brackets behind each one close what is opened before it.
fn closing(signs: &[Option<Sign>]) -> Vec<usize> {
    let mut counts = Vec::with_capacity(signs.len());
    let mut count = 0_usize;
    for sign in signs.iter().rev() {
        counts.push(count);
        count = match sign {
            Some(Sign::Opens) => count.saturating_sub(1),
            Some(Sign::Closes) => count + 1,
            None => count,
        };
    }
    counts.reverse();
    counts
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
    let mut behind = all.iter().skip(at).take(DEEPEST).skip_while(|token| is(token, '<'));
    let is_long = at + DEEPEST < all.len();
    behind.next().map_or(!is_long, |token| is(token, ';') || is(token, ',') || closes && is(token, '>'))
}

fn is(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
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
