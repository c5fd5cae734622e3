//! Expands a plan to tokens: data, and calls into `adk-core`. The expansion computes nothing
//! itself.

mod awaits;
mod block_callbacks;
mod block_keys;
mod bounds;
mod build;
mod choice;
mod closure;
mod data;
mod declared;
mod docs;
mod editor;
mod fields;
mod flow;
mod functions;
mod guards;
mod instruction;
mod keys;
mod needs;
mod prompt;
mod single_agents;
mod spec;
mod step_table;
mod stub;
mod tree;

pub(super) use single_agents::{agents, stubs};
pub(super) use stub::{KnownParts, workflow as stub};

use super::ast::Workflow;
use super::names;
use super::plan::{Plan, Step, StepKind};
use crate::code::{code, read};
use crate::typed::KeyFacts;
use crate::{facade, place};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Attribute;

/// The inputs of all parts of the expansion.
struct Expansion<'a> {
    tree: &'a Workflow,
    plan: &'a Plan<'a>,
    /// The name of the struct in its uses. For editors, only the definition is the user's token.
    name: Ident,
    /// Whether the workflow has an `each`, which turns the keys written in it into lists.
    has_each: bool,
    /// Whether tables are split, because rustc would search the whole table for each entry.
    is_large: bool,
    /// The facts about a rejected workflow.
    refused: Option<KnownParts>,
}

/// Expands a `workflow!` that passed all checks of the macros.
pub(super) fn workflow(tree: &Workflow, plan: &Plan<'_>) -> TokenStream {
    let Some(name) = &tree.name else {
        return TokenStream::new();
    };
    let expand = Expansion::new(tree, plan, name);
    let (editor, structs, keys) = (expand.editor(), expand.structs(), expand.key_structs());
    let (allow, names, scope) = (allow(), facade::workflow_imports(), place::scope_const());
    let deprecated = allow_deprecated(&tree.attrs);
    let declared = expand.declared();
    let awaits = expand.awaits();
    let placed = expand.agent_aliases();
    let spec = expand.spec();
    let build = expand.build();
    let agent = expand.agent();
    let choices = expand.choices();
    let step_table = expand.step_table();
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
            #step_table
            #needs
            #input_output
        };
    }
}

impl<'a> Expansion<'a> {
    fn new(tree: &'a Workflow, plan: &'a Plan<'a>, name: &Ident) -> Self {
        let is_each =
            |step: &Step<'_>| matches!(step.kind, StepKind::Block(block) if block.is_each());
        let has_each = plan.steps.iter().any(is_each);
        let is_large = flow::is_large(tree, plan);
        Self {
            tree,
            plan,
            name: names::without_span(name),
            has_each,
            is_large,
            refused: None,
        }
    }
}

/// Returns the lints that do not apply to an expansion.
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

/// A deprecated workflow may use itself. Warnings about other deprecated items belong to the user.
fn allow_deprecated(attrs: &[Attribute]) -> Option<TokenStream> {
    attrs
        .iter()
        .any(|attr| attr.path().is_ident("deprecated"))
        .then(|| read("#[allow(deprecated)]"))
}

/// Returns the identifier `__PREFIX_3`.
fn numbered_ident(prefix: &str, number: usize) -> Ident {
    format_ident!("__{}_{}", prefix, number, span = Span::call_site())
}

fn index(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

/// Returns a key of a known type, with the place of its type in `impl Typed`.
fn key_spec(typed: &super::ast::KeyDecl, place: u8) -> TokenStream {
    typed_key_spec(typed, place, &quote!(false))
}

/// Returns a key that the workflow reads: `serde_json::Value` reads any type.
fn reading_spec(typed: &super::ast::KeyDecl, place: u8) -> TokenStream {
    let ty = &typed.ty;
    typed_key_spec(typed, place, &quote!(__typed::KeyFacts::<#ty>::VALUE))
}

fn typed_key_spec(typed: &super::ast::KeyDecl, place: u8, any: &TokenStream) -> TokenStream {
    let (ty, perhaps) = (typed.ty.to_token_stream(), typed.perhaps);
    let facts = KeyFacts {
        optional: quote!(#perhaps),
        any: any.clone(),
        ..KeyFacts::of(&ty)
    };
    facts.expand(
        &typed.key.text(),
        &names::type_text(&typed.ty),
        &code!("{place}"),
    )
}

/// Returns a call that raises a const error under a token. Only the parentheses have the user's
/// span, because each identifier with it would be one more target of go-to-definition.
fn raise(span: Span, raise: impl ToTokens, argument: impl ToTokens) -> TokenStream {
    let callee = quote!(#raise);
    let call = quote::quote_spanned!(span=> (#callee)(#argument));
    quote!(const _: () = #call;)
}

/// Returns a limit as a number of its own type, converted by a function of `wire`.
fn number(limit: &syn::Expr, word: &TokenStream) -> TokenStream {
    call_with(limit, &quote!(__wire::#word), &TokenStream::new())
}

/// Returns a value that becomes a `String` if its type is not determined, as in `"x".into()`. Other
/// values keep their type.
fn string_or_itself(value: &syn::Expr) -> TokenStream {
    call_with(value, &quote!(__wire::user_value), &quote!(.__itself))
}

/// Returns a call with a value, and a method call on its result.
///
/// Errors of rustc about the calls have the span of the value, so that rustc reports them once.
fn call_with(value: &syn::Expr, ask: &TokenStream, method: &TokenStream) -> TokenStream {
    let mut spans = value
        .to_token_stream()
        .into_iter()
        .map(|token| token.span());
    let from = spans.next().unwrap_or_else(Span::call_site);
    let to = spans.last().unwrap_or(from);
    let (callee, argument) = (
        quote::quote_spanned!(from=> (#ask)),
        quote::quote_spanned!(to=> (#value)),
    );
    let method = (!method.is_empty()).then(|| {
        let end = quote::quote_spanned!(to=> ());
        quote!(#method #end)
    });
    quote!(#callee #argument #method)
}
