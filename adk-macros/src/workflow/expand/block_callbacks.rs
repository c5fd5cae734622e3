//! Blocks that a `before_agent` callback may skip.

use super::super::ast::Callback;
use crate::types::mentions;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Stmt};

/// Returns an expression for whether a callback may answer instead of its block. For a function its
/// type decides, for a closure its tokens.
pub(super) fn may_skip(all: &[Callback]) -> Option<TokenStream> {
    let before = all
        .iter()
        .filter(|callback| callback.hook == "before_agent");
    let each = before.filter_map(|Callback { value, .. }| match value {
        // The call has the span of the path, where rustc reports that it is not a callback.
        Expr::Path(path) => {
            Some(quote_spanned!(path.span()=> __adk::callback::block::may_stand(&#path)))
        }
        Expr::Closure(closure) if returns_nothing(closure) => None,
        _ => Some(quote!(true)),
    });
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| quote!(#(#each)||*))
}

/// Adds a callback to a block. `may_skip` checks its type, and reports a value that is not a
/// callback.
pub(super) fn block_callback(Callback { hook, value }: &Callback) -> Option<TokenStream> {
    let asked = hook == "before_agent" && matches!(value, Expr::Path(_));
    asked.then(|| {
        quote! {{
            #[allow(unused_imports)]
            use __adk::callback::block::NoCallback as _;
            __adk::callback::block::BeforeBlock::new(#value).add_to(&mut *__of.callbacks);
        }}
    })
}

/// Returns whether the body of a closure ends with a statement, and has no `return`.
fn returns_nothing(closure: &ExprClosure) -> bool {
    let Expr::Block(body) = &*closure.body else {
        return false;
    };
    let ends = body.block.stmts.last().is_none_or(|last| match last {
        Stmt::Expr(_, semicolon) => semicolon.is_some(),
        // A macro call without a `;` is a value.
        Stmt::Macro(call) => call.semi_token.is_some(),
        Stmt::Local(_) | Stmt::Item(_) => true,
    });
    ends && !mentions(body.to_token_stream(), &["return"])
}
