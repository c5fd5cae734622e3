//! Names that stand in an expression of Rust by themselves.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// The first of these names that is no part of a path, field, method, macro or call.
pub(super) fn find(tokens: TokenStream, is_key: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    let mut before = None;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_part = matches!(before, Some('.' | ':'));
        before = None;
        match token {
            TokenTree::Punct(punct) => before = Some(punct.as_char()),
            TokenTree::Group(group) => {
                if let Some(found) = find(group.stream(), is_key) {
                    return Some(found);
                }
            }
            TokenTree::Ident(name) if !is_part && is_key(&name) => match tokens.peek() {
                Some(TokenTree::Punct(next)) if matches!(next.as_char(), ':' | '!') => {}
                Some(TokenTree::Group(_)) => {}
                _ => return Some(name),
            },
            _ => {}
        }
    }
    None
}

/// Whether something may get a name in there, by a closure or a pattern.
pub(super) fn binds(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '|',
        TokenTree::Ident(word) => {
            ["let", "match", "for", "const", "static", "fn"].iter().any(|one| word == one)
        }
        TokenTree::Group(group) => binds(group.stream()),
        TokenTree::Literal(_) => false,
    })
}
