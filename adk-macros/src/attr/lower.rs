//! The tree into tokens: the function first, then the hidden struct of its name, then the facts as consts and one
//! call. All that decides by types lives in the library.

mod agent;
mod by_hand;
mod other;
mod tool;
mod typed;
mod types;

pub(crate) use agent::agent;
pub(crate) use by_hand::{by_hand, no_agent};
pub(crate) use tool::tool;
pub(crate) use types::{caret, fixed};

use super::closed;
use super::parse::{self, Function, Param};
use crate::code::read;
use crate::workflow::unspanned;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, FnArg, Signature, Type};

/// What asks of a type that is called as contexts are.
const AGENT: &str = "function::ContextRead";
const TOOL: &str = "args::ContextLike";

/// What stands around every impl.
struct Names {
    /// The name where it is used: to editors the user's token is the function and its twin, and nothing else.
    name: Ident,
    /// The arguments as locals; a name of the user's own cannot hide behind them.
    locals: Vec<Ident>,
}

impl Names {
    fn new(function: &Function) -> Self {
        let locals = (0..function.params.len()).map(|at| format_ident!("__adk_{at}")).collect();
        Self { name: unspanned(&function.sig.ident), locals }
    }
}

/// The function as it was written. A parameter that is called as contexts are has the type that is asked for: of what stands in a
/// body that takes a context as if it were its own, rustc would say something else.
fn written(function: &Function, context: &str) -> TokenStream {
    let Function { attrs, vis, sig, body, .. } = function;
    let sig = if function.params.iter().any(|param| is_context_by_value(&param.ty)) {
        closed::signature(&with_contexts(sig.clone(), context))
    } else {
        closed::signature(sig)
    };
    // These ask for another signature or for sections in a text that models read.
    let allow = read(
        "#[allow(
            clippy::missing_errors_doc,
            clippy::missing_panics_doc,
            clippy::must_use_candidate,
            clippy::needless_pass_by_value,
            clippy::ref_option,
            clippy::too_many_arguments,
            clippy::trivially_copy_pass_by_ref,
            clippy::unnecessary_wraps,
            clippy::unused_async
        )]",
    );
    quote!(#(#attrs)* #allow #vis #sig #body)
}

fn with_contexts(mut sig: Signature, context: &str) -> Signature {
    for input in &mut sig.inputs {
        if let FnArg::Typed(input) = input
            && is_context_by_value(&input.ty)
        {
            *input.ty = Type::Verbatim(no_context(&input.ty, context));
        }
    }
    sig
}

/// Whether a type is called as contexts are, and is not borrowed.
fn is_context_by_value(ty: &Type) -> bool {
    matches!(ty, Type::Path(_)) && std::ptr::eq(types::value(ty), ty) && types::is_called_context(ty)
}

/// Such a type, where it is none.
fn no_context(ty: &Type, context: &str) -> TokenStream {
    let (private, of) = (crate::facade::private(), read(context));
    // rustc points at the type before the `as`.
    let place = quote_spanned!(types::caret(ty)=> #ty);
    quote! {
        <#private::parts::Fits<{ let () = <#place as #private::#of>::YES; true }> as #private::parts::Pick<#ty>>::Field
    }
}

/// The function and the struct, of which nothing is known.
pub(crate) fn alone(function: &Function) -> TokenStream {
    let (written, twin) = (written(function, AGENT), twin(function));
    if function.associated { written } else { quote!(#written #twin) }
}

/// A function that could not be read: as an agent and as a tool, of which nothing is known.
pub(crate) fn unread(item: TokenStream) -> TokenStream {
    let mut words =
        item.clone().into_iter().skip_while(|word| !matches!(word, TokenTree::Ident(word) if word == "fn"));
    let name = words.nth(1);
    let written = parse::unread(item.clone());
    let is_item =
        parse::begins(&item, &["fn"]) && crate::facade::is_compiled() && !super::inside::is_associated();
    let Some(TokenTree::Ident(name)) = name.filter(|_| is_item) else {
        return written;
    };
    let (agent, tool) = (agent::inert(&name, &TokenStream::new()), tool::inert(&name, &TokenStream::new()));
    let block = block(&[], &quote!(#agent #tool));
    quote! {
        #written
        #[doc(hidden)]
        #[allow(dead_code, missing_docs, non_camel_case_types, unreachable_pub)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        pub struct #name {}
        #block
    }
}

/// The braced struct of the same name: it lives among the types only, so that it can stand beside the function.
fn twin(function: &Function) -> TokenStream {
    let (vis, name) = (&function.vis, &function.sig.ident);
    // Editors show the struct's docs where the name stands in a workflow; rustdoc shows and tests the function's.
    let docs = function.attrs.iter().filter(|attr| crate::docs::is_doc(attr)).map(|attr| &attr.meta);
    let conditions = conditions(&function.attrs);
    // Hidden from rustdoc alone: editors do not complete what is hidden.
    let ours = read(
        "#[cfg_attr(doc, doc(hidden))]
        #[allow(dead_code, missing_docs, non_camel_case_types, clippy::empty_structs_with_brackets, clippy::pedantic)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]",
    );
    let structure = quote_spanned!(crate::code::place(name)=> struct #name {});
    quote!(#(#[cfg_attr(not(doc), #docs)])* #(#conditions)* #ours #vis #structure)
}

/// The conditions under which the item is there.
fn conditions(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}

/// The block around the impl: what is in it cannot be named from outside, and has no names of the user's to hide.
fn block(attrs: &[Attribute], inside: &TokenStream) -> TokenStream {
    let (conditions, names) = (conditions(attrs), crate::facade::names());
    let head = read(
        "#[allow(
            deprecated,
            long_running_const_eval,
            refining_impl_trait,
            unexpected_cfgs,
            unused_imports,
            unused_qualifications,
            clippy::all,
            clippy::nursery,
            clippy::pedantic
        )]
        const _: () =",
    );
    quote!(#(#conditions)* #head { #names #inside };)
}

/// What the function returns, and what is inside of that. Aliases count as what they stand for.
fn output_types(function: &Function) -> TokenStream {
    let output = types::fixed(function.returns());
    let inside = if typed::is_plain(function) {
        "type __AdkPlain = __AdkOutput; type __AdkValue = __AdkOutput;"
    } else {
        "type __AdkPlain = <__AdkOutput as __adk::OfResult<{ __adk::Probe::<__AdkOutput>::RESULT }>>::Value;
        type __AdkValue = <__AdkPlain as __adk::OfFlow<{ __adk::Probe::<__AdkPlain>::FLOW }>>::Value;"
    };
    let inside = read(inside);
    quote!(type __AdkOutput = #output; #inside)
}

/// A check on types: what the caret stands under goes from one token to another.
fn refuse((from, to): (Span, Span), wrong: &TokenStream, message: &str) -> TokenStream {
    // The compiler points from the first token of a call to its last. These are parentheses, so that no editor takes
    // our path for the user's token.
    let refuse = read("__adk::refuse");
    let callee = quote_spanned!(from=> (#refuse));
    let arguments = quote_spanned!(to=> (#wrong, #message));
    quote!(const _: () = #callee #arguments;)
}

/// From the first token to the last.
fn whole(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let from = spans.next().unwrap_or_else(Span::call_site);
    (from, spans.last().unwrap_or(from))
}

/// The name of a parameter, as a key or as an argument.
fn name_of(param: &Param) -> String {
    match &param.name {
        Some(name) => {
            let text = name.to_string();
            text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
        }
        None => "_".to_owned(),
    }
}
