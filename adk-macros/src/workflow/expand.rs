//! The plan -> tokens: data and calls into `adk-core`, nothing that computes.

mod alone;
mod awaits;
mod bounds;
mod build;
mod choice;
mod closure;
mod data;
mod declared;
mod docs;
mod editor;
mod fields;
mod fits;
mod flow;
mod functions;
mod instruction;
mod keys;
mod needs;
mod prompt;
mod skips;
mod spec;
mod stub;
mod tree;
mod wired;

pub(super) use alone::{agents, stubs};
pub(super) use stub::{Known, workflow as stub};

use super::ast::Workflow;
use super::names;
use super::plan::{Plan, Step, What};
use crate::code::{code, read};
use crate::{facade, place};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Attribute;

/// What all parts of the expansion need.
struct Expansion<'a> {
    tree: &'a Workflow,
    plan: &'a Plan<'a>,
    /// The struct where it is used; its definition alone is the user's token to editors.
    name: Ident,
    /// Only after an `each` a key is a list of what was written.
    has_each: bool,
    /// Tables that rustc would search as a whole for each entry are in several pieces.
    is_large: bool,
    /// What is left to say of a workflow that was refused.
    refused: Option<Known>,
}

/// The whole expansion of a `workflow!` that no check of the macros refused.
pub(super) fn workflow(tree: &Workflow, plan: &Plan<'_>) -> TokenStream {
    let Some(name) = &tree.name else { return TokenStream::new() };
    let expand = Expansion::new(tree, plan, name);
    let (editor, structs, keys) = (expand.editor(), expand.structs(), expand.key_structs());
    let (allow, names, scope) = (allow(), facade::names_of_workflows(), place::scope_const());
    let deprecated = deprecated(&tree.attrs);
    let declared = expand.declared();
    let awaits = expand.awaits();
    let placed = expand.placed();
    let spec = expand.spec();
    let build = expand.build();
    let agent = expand.agent();
    let choices = expand.choices();
    let wired = expand.wired();
    let needs = expand.needs();
    let input_output = expand.input_output();
    quote! {
        #editor
        #structs
        #keys
        #allow
        #deprecated
        const _: () = {
            #names
            #scope
            #declared
            #awaits
            #placed
            #spec
            #build
            #agent
            #choices
            #wired
            #needs
            #input_output
        };
    }
}

impl<'a> Expansion<'a> {
    fn new(tree: &'a Workflow, plan: &'a Plan<'a>, name: &Ident) -> Self {
        let is_each = |step: &Step<'_>| matches!(step.what, What::Block(block) if block.is_each());
        let has_each = plan.steps.iter().any(is_each);
        let is_large = flow::is_large(tree, plan);
        Self { tree, plan, name: names::unspanned(name), has_each, is_large, refused: None }
    }
}

/// Lints that have nothing to say about an expansion.
fn allow() -> TokenStream {
    read(
        "#[allow(
            dead_code,
            non_camel_case_types,
            private_interfaces,
            unexpected_cfgs,
            unreachable_pub,
            unused_braces,
            unused_parens,
            unused_qualifications,
            long_running_const_eval,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]",
    )
}

/// What is deprecated may use itself. What else is used is the user's to be warned of.
fn deprecated(attrs: &[Attribute]) -> Option<TokenStream> {
    attrs.iter().any(|attr| attr.path().is_ident("deprecated")).then(|| read("#[allow(deprecated)]"))
}

/// `__PREFIX_3`.
fn numbered(prefix: &str, number: usize) -> Ident {
    format_ident!("__{}_{}", prefix, number, span = Span::call_site())
}

fn index(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

/// A key of a known type, with the place that its type has in `impl Typed`.
fn key_spec(typed: &super::ast::Typed, place: u8) -> TokenStream {
    spec_of(typed, place, &quote!(false))
}

/// The same for a key that is read: `serde_json::Value` reads any type.
fn reading_spec(typed: &super::ast::Typed, place: u8) -> TokenStream {
    let ty = &typed.ty;
    spec_of(typed, place, &quote!(__typed::KeyFacts::<#ty>::VALUE))
}

fn spec_of(typed: &super::ast::Typed, place: u8, any: &TokenStream) -> TokenStream {
    let (key, text, ty) = (crate::code::key(&typed.key.text()), names::type_text(&typed.ty), &typed.ty);
    let number = crate::typed::number(&ty.to_token_stream(), &text);
    let (spec, place) = (read("__adk::key"), code!("{place}"));
    let perhaps = typed.perhaps;
    quote!(#spec::<#ty>(#key, #text, #perhaps, #any, #number, #place))
}

/// A call that raises a fault under a token: only its parentheses carry the user's span, since every spanned
/// identifier would be one more target of go-to-definition.
fn raise(span: Span, raise: impl ToTokens, argument: impl ToTokens) -> TokenStream {
    let callee = quote!(#raise);
    let call = quote::quote_spanned!(span=> (#callee)(#argument));
    quote!(const _: () = #call;)
}

/// A limit as a number of its own type, by a function of `wire`.
fn number(limit: &syn::Expr, word: &TokenStream) -> TokenStream {
    around(limit, &quote!(__wire::#word), &TokenStream::new())
}

/// A value that is a `String` where its type is open, as that of `"x".into()`, and else what it is.
fn given(value: &syn::Expr) -> TokenStream {
    around(value, &quote!(__wire::user_value), &quote!(.__itself))
}

/// A call with a value, and one of a method of what it gives.
///
/// rustc says of the calls what it says of the value: once, where all have one place.
fn around(value: &syn::Expr, ask: &TokenStream, method: &TokenStream) -> TokenStream {
    let mut spans = value.to_token_stream().into_iter().map(|token| token.span());
    let from = spans.next().unwrap_or_else(Span::call_site);
    let to = spans.last().unwrap_or(from);
    let (callee, argument) = (quote::quote_spanned!(from=> (#ask)), quote::quote_spanned!(to=> (#value)));
    let method = (!method.is_empty()).then(|| {
        let end = quote::quote_spanned!(to=> ());
        quote!(#method #end)
    });
    quote!(#callee #argument #method)
}
