//! The condition of an arm: `if n > 3`.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token};

/// `n > 3`, a condition without its word.
pub(super) fn compares(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Ident>().is_ok()
        && (ahead.peek(Token![>])
            || ahead.peek(Token![<])
            || ahead.peek(Token![==])
            || ahead.peek(Token![!=])
            || ahead.peek(Token![>=])
            || ahead.peek(Token![<=]))
}

/// `if n > 3`: what stands before the `=>`, since a `>` in it closes nothing.
pub(super) fn guard(input: ParseStream<'_>, is_bare: bool) -> syn::Result<Expr> {
    let word = if is_bare { input.fork().parse::<Ident>()? } else { input.call(Ident::parse_any)? };
    let (ahead, mut tokens, mut comma) = (input.fork(), TokenStream::new(), false);
    while !(ahead.is_empty() || ahead.peek(Token![;]) || ahead.peek(Token![=>])) {
        comma |= ahead.peek(Token![,]);
        tokens.extend([ahead.parse::<TokenTree>()?]);
    }
    let wrong = || {
        syn::Error::new(word.span(), "syntax: expected a condition behind `if`, as in `n if n > 3 => step`")
    };
    let condition = syn::parse2::<Expr>(tokens);
    if ahead.peek(Token![=>]) && (condition.is_ok() || !comma) {
        while !input.peek(Token![=>]) {
            input.parse::<TokenTree>()?;
        }
        return condition.map_err(|_| wrong());
    }
    // Without its `=>` it ends where no expression goes on.
    let ahead = input.fork();
    match ahead.call(Expr::parse_without_eager_brace) {
        Ok(_) => input.call(Expr::parse_without_eager_brace),
        Err(_) => Err(wrong()),
    }
}
