//! `break` and `break outer`.

use super::super::ast::Break;
use super::Parser;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Lifetime, Token, token};

impl Parser {
    /// `break` and `break outer`. Not a part of [`Self::node`], whose frame is to be small: blocks are read in blocks.
    #[inline(never)]
    pub(super) fn breaks(
        &mut self,
        input: ParseStream<'_>,
        attrs: &[Attribute],
    ) -> Option<syn::Result<Break>> {
        if let Some(target) = self.colon_behind_break(input) {
            self.idle(attrs);
            return Some(Ok(Break { span: target.span(), target: Some(target), is_label: false }));
        }
        let begins = input.peek(Token![break]) && (!input.peek2(Token![:]) || input.peek2(Token![::]));
        begins.then(|| {
            self.idle(attrs);
            let span = input.parse::<Token![break]>()?.span;
            let is_label = input.peek(Lifetime);
            let target = match is_label {
                true => Some(self.label(input)?),
                // Behind a `break` without its comma stands the pattern of the next arm.
                false if input.peek(Ident) => (!is_pattern(input)).then(|| input.parse()).transpose()?,
                false => self.called_target(input),
            };
            // Under the name, where there is one: that is what can be wrong.
            let span = target.as_ref().map_or(span, Ident::span);
            Ok(Break { span, target, is_label })
        })
    }
}

/// Whether a word goes on as a pattern does, and as no name of a loop.
fn is_pattern(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let _ = ahead.parse::<Ident>();
    let opens = ahead.peek(token::Brace) || ahead.peek(token::Paren);
    opens
        || ahead.peek(Token![::])
        || ahead.peek(Token![=>])
        || ahead.peek(Token![|])
        || ahead.peek(Token![if])
}
