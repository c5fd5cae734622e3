//! An `impl Agent for TYPE`: its head as a tree, its items as tokens, so that a half-typed body still expands.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Generics, ItemImpl, Path, Token, Type};

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
    /// Its type, if that can be read.
    pub(crate) ty: Option<Type>,
    pub(crate) value: TokenStream,
    /// What stands behind it.
    pub(crate) after: TokenStream,
}

/// What may stand between the value of a const and the `fn` of the next item.
const MARKS: [&str; 4] = ["async", "const", "pub", "unsafe"];

/// Reads an `impl`; `None` when it is something else.
pub(crate) fn by_hand(item: &TokenStream) -> Option<ByHand> {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let TokenTree::Group(body) = tokens.pop()? else { return None };
    let head: TokenStream = tokens.into_iter().collect();
    if body.delimiter() != Delimiter::Brace {
        return None;
    }
    let read = |head: TokenStream| Some((syn::parse2(quote!(#head {})).ok()?, head));
    let (ItemImpl { attrs, generics, trait_, self_ty, .. }, head) =
        read(head.clone()).or_else(|| read(with_for.parse2(head).ok()?))?;
    let of = trait_.map(|(path, _)| path);
    Some(ByHand { head, body, attrs, generics, of, ty: *self_ty })
}

/// The head with the `for` that it lacks, as rustc has said: it reads the `impl` as if there were one.
fn with_for(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let attrs = input.call(Attribute::parse_outer)?;
    let (word, generics): (Token![impl], Generics) = (input.parse()?, input.parse()?);
    let (of, rest): (Path, TokenStream) = (input.parse()?, input.parse()?);
    Ok(quote!(#(#attrs)* #word #generics #of for #rest))
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
        let (colon, equals) = (from(start, ':')? + 1, from(start, '=')?);
        let (value, semicolon) = (equals + 1, from(equals, ';'));
        // Where the `;` is missing, which rustc has said, the value goes to the next item.
        let function = tokens.iter().skip(value).position(|token| is(token, "fn")).map(|n| value + n);
        let function = function.map(|at| {
            let words = tokens.iter().take(at).skip(value).rev();
            at - words.take_while(|token| MARKS.iter().any(|mark| is(token, mark))).count()
        });
        let ends = [semicolon, from(value, '#'), function, Some(tokens.len())];
        let end = ends.into_iter().flatten().min().filter(|end| value < *end)?;
        let part = |from: usize, to: usize| -> TokenStream {
            tokens.iter().skip(from).take(to.saturating_sub(from)).cloned().collect()
        };
        let behind = part(end + usize::from(semicolon == Some(end)), tokens.len());
        Some(Constant {
            before: part(0, value),
            ty: syn::parse2(part(colon, equals)).ok(),
            value: part(value, end),
            after: quote!(; #behind),
        })
    }
}
