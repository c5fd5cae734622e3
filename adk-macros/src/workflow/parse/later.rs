//! Constructs of the language that are not built yet: one message each, at their word.

use super::skip;
use syn::parse::ParseStream;
use syn::{Ident, Token, token};

/// The word of such a construct.
pub(super) fn later(input: ParseStream<'_>) -> Option<&'static str> {
    let is_each = || {
        let fork = input.fork();
        let word = fork.parse::<Ident>().is_ok_and(|word| word == "each");
        if fork.peek(token::Paren) {
            let _ = fork.parse::<proc_macro2::TokenTree>();
        }
        word && fork.peek(Ident)
    };
    if input.peek(Token![match]) {
        Some("match")
    } else if input.peek(Token![await]) {
        Some("await")
    } else if is_each() {
        Some("each")
    } else {
        None
    }
}

/// Passes over it: `await` to its `;`, the others over their block.
pub(super) fn pass_later(input: ParseStream<'_>, word: &str) {
    if word != "await" {
        while !(input.is_empty()
            || input.peek(Token![;])
            || input.peek(Token![<])
            || input.peek(token::Brace)
            || skip::at_close(input))
        {
            let _ = input.parse::<proc_macro2::TokenTree>();
        }
        if input.peek(Token![<]) || input.peek(token::Brace) {
            skip::block(input);
        }
    } else {
        skip::to(input, ';');
    }
    let _ = input.parse::<Option<Token![;]>>();
}
