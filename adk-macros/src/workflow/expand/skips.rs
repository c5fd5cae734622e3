//! Blocks that a `before_agent` may skip.

use super::super::ast::Callback;
use crate::types::mentions;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Stmt};

/// Whether a callback may answer in the place of its block: the type of a function tells, of a closure its tokens do.
pub(super) fn may_skip(all: &[Callback]) -> Option<TokenStream> {
    let before = all.iter().filter(|callback| callback.hook == "before_agent");
    let each = before.filter_map(|Callback { value, .. }| match value {
        // Under the user's word, where rustc shows that it is no callback.
        Expr::Path(path) => Some(quote_spanned!(path.span()=> __adk::callback::block::may_stand(&#path))),
        Expr::Closure(closure) if says_nothing(closure) => None,
        _ => Some(quote!(true)),
    });
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| quote!(#(#each)||*))
}

/// Adds a callback to those of a block. `may_skip` has asked for its type, and reports one that is none.
pub(super) fn added(Callback { hook, value }: &Callback) -> Option<TokenStream> {
    let asked = hook == "before_agent" && matches!(value, Expr::Path(_));
    asked.then(|| {
        quote! {{
            #[allow(unused_imports)]
            use __adk::callback::block::NoCallback as _;
            __adk::callback::block::BeforeBlock::new(#value).add_to(&mut *__of.callbacks);
        }}
    })
}

/// Whether the body of a closure ends with a statement, and returns nothing before.
fn says_nothing(closure: &ExprClosure) -> bool {
    let Expr::Block(body) = &*closure.body else { return false };
    let ends = body.block.stmts.last().is_none_or(|last| match last {
        Stmt::Expr(_, semicolon) => semicolon.is_some(),
        // Without a `;` it is a value.
        Stmt::Macro(call) => call.semi_token.is_some(),
        Stmt::Local(_) | Stmt::Item(_) => true,
    });
    ends && !mentions(body.to_token_stream(), &["return"])
}
