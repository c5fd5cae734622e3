//! `each item in items`.

use super::super::ast::Key;
use super::expect::{self, expected};
use super::{Parser, skip};
use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitStr, Token, token};

impl Parser {
    /// What follows the word and its arguments.
    pub(super) fn element(&mut self, input: ParseStream<'_>) -> syn::Result<(Ident, Key)> {
        let example = "as in `each item in items < ... >`";
        let what = format!("a name for the element, {example}");
        if input.peek(Token![in]) {
            return Err(expected(input, &what));
        }
        let item = expect::name(input, &what)?;
        expect::token::<Token![in]>(input, &format!("`in` and the key of the list, {example}"))?;
        let no_key = |span| {
            let text = "syntax: `each` takes a key that holds a list, and no expression; help: let an agent write the key, as in `each item in items < ... >`";
            Err(syn::Error::new(span, text))
        };
        if input.peek(Lit) && !input.peek(LitStr)
            || input.peek(token::Bracket)
            || input.peek(token::Paren)
            || input.peek(Token![&])
        {
            return no_key(input.span());
        }
        let list = expect::key(input, &format!("the key of the list, {example}"), false)?;
        let is_argument = |list: ParseStream<'_>| list.peek(Ident) && list.peek2(Token![=]);
        let is_call = input.peek(token::Paren) && !skip::within(input, is_argument);
        if input.peek(Token![.])
            || input.peek(Token![::])
            || input.peek(Token![..])
            || input.peek(token::Bracket)
            || is_call
        {
            return no_key(list.name.span());
        }
        if input.peek(token::Paren) {
            let text = "syntax: the arguments of `each` stand behind the word; help: write `each(max_concurrency = 4) item in items < ... >`";
            self.report.at(input.span(), text);
            input.parse::<TokenTree>()?;
        }
        Ok((item, list))
    }
}
