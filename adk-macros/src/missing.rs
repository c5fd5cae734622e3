//! What a macro makes where the facade is no dependency: one message, and as little as possible for rustc to add to it.
//!
//! Whoever depends on a crate that re-exports our macros reaches them, but not what their code calls.

use crate::{attr, code};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::sync::atomic::{AtomicBool, Ordering};
use syn::Visibility;

/// Whether it was told. It is one mistake, whatever number of functions there is.
static TOLD: AtomicBool = AtomicBool::new(false);

/// A function without what makes it an agent or a tool, or an `impl`.
pub(crate) fn function(of: &str, item: TokenStream) -> TokenStream {
    let (told, item) = (once(of, &item), attr::function_alone(item));
    quote!(#item #told)
}

/// A type without what makes it data.
pub(crate) fn data(item: TokenStream) -> TokenStream {
    let (told, item) = (once("#[data]", &item), attr::data_alone(item));
    quote!(#item #told)
}

/// What `workflow!` declares.
pub(crate) fn workflow(input: TokenStream) -> TokenStream {
    crate::workflow::workflow_alone(input, |vis, name| error("workflow!", vis, name))
}

/// What `llm::agent!` declares.
pub(crate) fn llm_agent(input: TokenStream) -> TokenStream {
    let mut first: Option<Ident> = None;
    crate::workflow::llm_agent_alone(input, |vis, name| match &first {
        Some(first) => alias(vis, name, &first.to_token_stream()),
        None => {
            first = Some(name.clone());
            error("llm::agent!", vis, name)
        }
    })
}

/// It is told for each: rustc adds nothing to it.
fn error(of: &str, vis: &Visibility, name: &Ident) -> TokenStream {
    TOLD.store(true, Ordering::Relaxed);
    let told = told(of, name.span());
    alias(vis, name, &code::mistaken(&told))
}

fn alias(vis: &Visibility, name: &Ident, ty: &TokenStream) -> TokenStream {
    let allow = code::read("#[allow(non_camel_case_types)]");
    quote!(#allow #vis type #name = #ty;)
}

fn once(of: &str, item: &TokenStream) -> Option<TokenStream> {
    let is_first = !TOLD.swap(true, Ordering::Relaxed);
    is_first.then(|| told(of, place(item)))
}

/// Where the name of an item stands.
fn place(item: &TokenStream) -> Span {
    let names = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if ["fn", "struct", "enum", "impl"].iter().any(|one| word == one));
    let mut behind = item.clone().into_iter().skip_while(|token| !names(token)).skip(1);
    behind.next().map_or_else(Span::call_site, |name| name.span())
}

fn told(of: &str, span: Span) -> TokenStream {
    let text = format!(
        "`{of}` needs the crate `adk-workflow` itself, which is not among the dependencies of this target; help: run \
         `cargo add adk-workflow`; for a build script `cargo add --build adk-workflow`, without another name; where another crate \
         re-exports all of it, `adk = {{ package = \"THAT-CRATE\", ... }}` in Cargo.toml does as well"
    );
    syn::Error::new(span, text).into_compile_error()
}
