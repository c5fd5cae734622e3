//! [`inline_fragments`] replaces fragments of `macro_rules!` by the tokens of their caller.
//!
//! rustc passes a fragment such as `$e:expr` in a group without delimiters, and ignores that group
//! in the output of a macro: `$e * 10` with `1 + 1` would be 11. [`inline_fragments`] replaces each
//! group by its tokens, in parentheses if a neighbour would otherwise bind to a part of the
//! fragment. No other module sees a group without delimiters.

use crate::depth;
use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser as _;
use syn::{Expr, Pat, Type};

/// Maximum depth of groups inside groups. All parsers reject groups that are nested deeper.
const DEEPEST: usize = 256;

/// Replaces all groups without delimiters in the input of a macro.
pub(crate) fn inline_fragments(tokens: TokenStream) -> TokenStream {
    replace_fragments(&tokens, DEEPEST).unwrap_or(tokens)
}

/// Returns the tokens with their fragments replaced, or `None` if they contain no fragment.
fn replace_fragments(tokens: &TokenStream, depth: usize) -> Option<TokenStream> {
    let depth = depth.checked_sub(1)?;
    let mut is_changed = false;
    let inside = |token| match &token {
        TokenTree::Group(group) => {
            is_changed |= group.delimiter() == Delimiter::None;
            let Some(inside) = replace_fragments(&group.stream(), depth) else {
                return token;
            };
            is_changed = true;
            TokenTree::Group(regroup(group, group.delimiter(), inside))
        }
        _ => token,
    };
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().map(inside).collect();
    is_changed.then(|| open_groups(tokens))
}

/// Replaces the fragments among tokens whose groups contain no fragments.
fn open_groups(tokens: Vec<TokenTree>) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                separate(&mut out);
                let place = Neighbours {
                    before: TokenBefore::last(&out),
                    after: TokenAfter::next(tokens.peek()),
                };
                out.extend(place.tokens(&group));
                separate(&mut out);
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

/// Prevents the lexer from joining the last sign with the next one.
fn separate(out: &mut [TokenTree]) {
    if let Some(TokenTree::Punct(last)) = out.last_mut() {
        let mut alone = Punct::new(last.as_char(), Spacing::Alone);
        alone.set_span(last.span());
        *last = alone;
    }
}

fn regroup(group: &Group, delimiter: Delimiter, inside: TokenStream) -> Group {
    let mut new = Group::new(delimiter, inside);
    new.set_span(group.span());
    new
}

/// The neighbours of a fragment.
#[derive(Clone, Copy)]
struct Neighbours {
    before: TokenBefore,
    after: TokenAfter,
}

/// The token before a fragment.
#[derive(Clone, Copy, PartialEq)]
enum TokenBefore {
    /// Nothing, or a sign after which any expression, pattern or type begins.
    Separator,
    Other,
}

/// The token after a fragment.
#[derive(Clone, Copy, PartialEq)]
enum TokenAfter {
    /// Nothing, or a sign before which any expression, pattern or type ends.
    Separator,
    /// `.`, `?` or a group, which bind closer than a sign before a value.
    Postfix,
    /// `::`.
    Path,
    /// Any other sign.
    Operator,
    /// A word, a literal or a block.
    Other,
}

impl TokenBefore {
    fn last(tokens: &[TokenTree]) -> Self {
        let is_sign = |token: Option<&TokenTree>, signs: &[char]| match token {
            Some(TokenTree::Punct(sign)) => signs.contains(&sign.as_char()),
            _ => false,
        };
        let (last, rest) = match tokens.split_last() {
            Some((last, rest)) => (last, rest),
            None => return Self::Separator,
        };
        // `==`, `<=`, `..=` and `::` are other signs.
        let is_joint =
            matches!(rest.last(), Some(TokenTree::Punct(sign)) if sign.spacing() == Spacing::Joint);
        if is_sign(Some(last), &[',', ';']) || is_sign(Some(last), &['=', ':']) && !is_joint {
            Self::Separator
        } else {
            Self::Other
        }
    }
}

impl TokenAfter {
    fn next(token: Option<&TokenTree>) -> Self {
        match token {
            None => Self::Separator,
            Some(TokenTree::Punct(sign)) => match sign.as_char() {
                ',' | ';' => Self::Separator,
                '.' | '?' => Self::Postfix,
                ':' if sign.spacing() == Spacing::Joint => Self::Path,
                _ => Self::Operator,
            },
            Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::Brace => Self::Postfix,
            Some(_) => Self::Other,
        }
    }
}

impl Neighbours {
    fn tokens(self, group: &Group) -> TokenStream {
        let inside = group.stream();
        let binds = Binding::from_fragment(&inside);
        let is_apart = match (binds, self.before, self.after) {
            // A type with generic arguments is the beginning of a path.
            (Binding::Type, _, TokenAfter::Path) => return quote!(<#inside>),
            (Binding::Closely | Binding::Type, ..) => false,
            (Binding::Prefix, _, after) => matches!(after, TokenAfter::Postfix | TokenAfter::Path),
            (Binding::Block, _, after) => {
                matches!(after, TokenAfter::Postfix | TokenAfter::Operator)
            }
            (Binding::Loosely, TokenBefore::Separator, TokenAfter::Separator) => false,
            (Binding::Loosely | Binding::AsStatement, ..) => true,
        };
        if is_apart {
            TokenTree::from(regroup(group, Delimiter::Parenthesis, inside)).into()
        } else {
            inside
        }
    }
}

/// How closely the parts of a fragment are bound.
#[derive(Clone, Copy, PartialEq)]
enum Binding {
    /// A path, a literal or a call, whose parts no neighbour can separate, or a fragment that is
    /// not an expression, such as an item.
    Closely,
    /// A type other than a path of plain names.
    Type,
    /// `-x`, `&x` and similar expressions.
    Prefix,
    /// `{ ... }`, `if`, `match` and similar expressions, which end a statement.
    Block,
    /// `a + b` and similar expressions.
    Loosely,
    /// An expression that begins with a block, which would end a statement after the block.
    AsStatement,
}

impl Binding {
    fn from_fragment(fragment: &TokenStream) -> Self {
        if depth::check(fragment.clone()).is_err() {
            return Self::Loosely;
        }
        match syn::parse2::<Expr>(fragment.clone()) {
            Ok(expr) => Self::from_expr(&expr, fragment),
            Err(_) => Self::from_other(fragment),
        }
    }

    fn from_expr(expr: &Expr, fragment: &TokenStream) -> Self {
        match expr {
            Expr::Array(_) | Expr::Repeat(_) | Expr::Tuple(_) => Self::Type,
            Expr::Path(_) | Expr::Lit(_) | Expr::Infer(_) | Expr::Paren(_) | Expr::Macro(_) => {
                Self::Closely
            }
            Expr::Reference(_) | Expr::Unary(_) => Self::Prefix,
            Expr::Async(_)
            | Expr::Block(_)
            | Expr::Const(_)
            | Expr::ForLoop(_)
            | Expr::If(_)
            | Expr::Loop(_)
            | Expr::Match(_)
            | Expr::TryBlock(_)
            | Expr::Unsafe(_)
            | Expr::While(_) => Self::Block,
            _ if begins_with_block(fragment) => Self::AsStatement,
            Expr::Await(_)
            | Expr::Call(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::MethodCall(_)
            | Expr::Try(_) => Self::Closely,
            _ => Self::Loosely,
        }
    }

    fn from_other(fragment: &TokenStream) -> Self {
        if let Ok(Pat::Or(_)) = Pat::parse_multi.parse2(fragment.clone()) {
            return Self::Loosely;
        }
        match syn::parse2(fragment.clone()) {
            Ok(Type::TraitObject(object)) if object.bounds.len() > 1 => Self::Loosely,
            Ok(Type::ImplTrait(trait_)) if trait_.bounds.len() > 1 => Self::Loosely,
            Ok(_) => Self::Type,
            Err(_) => Self::Closely,
        }
    }
}

/// Returns whether the first token begins an expression that ends a statement.
fn begins_with_block(fragment: &TokenStream) -> bool {
    const WORDS: [&str; 7] = ["const", "for", "if", "loop", "match", "unsafe", "while"];
    match fragment.clone().into_iter().next() {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(TokenTree::Ident(word)) => WORDS.iter().any(|begins| word == begins),
        Some(TokenTree::Punct(sign)) => sign.as_char() == '\'',
        _ => false,
    }
}

#[cfg(test)]
mod tests;
