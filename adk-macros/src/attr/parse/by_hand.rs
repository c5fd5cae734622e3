//! An `impl Agent for TYPE`: its head as a tree, its items as tokens, so that a half-typed body still expands.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Generics, ItemImpl, Path, Type};

/// An `impl` of a trait.
pub(crate) struct ByHand {
    /// All that stands before the items.
    pub(crate) head: TokenStream,
    /// The items, unread.
    pub(crate) body: Group,
    /// Its attributes.
    pub(crate) attrs: Vec<Attribute>,
    /// What stands behind `impl`, and its `where`.
    pub(crate) generics: Generics,
    /// The trait; nothing for an `impl TYPE`.
    pub(crate) of: Option<Path>,
    /// The type.
    pub(crate) ty: Type,
}

/// A const among the items of an `impl`.
pub(crate) struct Constant {
    /// What stands before its value.
    pub(crate) before: TokenStream,
    pub(crate) value: TokenStream,
    /// What stands behind it.
    pub(crate) after: TokenStream,
}

/// Reads an `impl`; `None` when it is something else.
pub(crate) fn by_hand(item: &TokenStream) -> Option<ByHand> {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let TokenTree::Group(body) = tokens.pop()? else { return None };
    let head: TokenStream = tokens.into_iter().collect();
    let ItemImpl { attrs, generics, trait_, self_ty, .. } = match body.delimiter() {
        Delimiter::Brace => syn::parse2(quote!(#head {})).ok()?,
        _ => return None,
    };
    let of = trait_.map(|(path, _)| path);
    Some(ByHand { head, body, attrs, generics, of, ty: *self_ty })
}

impl ByHand {
    /// The const of that name, if its value can be found.
    pub(crate) fn constant(&self, name: &str) -> Option<Constant> {
        let tokens: Vec<TokenTree> = self.body.stream().into_iter().collect();
        let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident == word);
        let punct = |token: &TokenTree, c| matches!(token, TokenTree::Punct(punct) if punct.as_char() == c);
        let start = tokens.windows(2).position(|two| match two {
            [word, found] => is(word, "const") && is(found, name),
            _ => false,
        })?;
        let from = |at: usize, c| tokens.iter().skip(at).position(|token| punct(token, c)).map(|n| at + n);
        let end = from(start, ';')?;
        let value = from(start, '=').filter(|equals| equals + 1 < end)? + 1;
        let part = |from: usize, to: usize| tokens.iter().skip(from).take(to - from).cloned().collect();
        Some(Constant { before: part(0, value), value: part(value, end), after: part(end, tokens.len()) })
    }
}
