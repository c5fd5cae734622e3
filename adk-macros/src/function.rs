//! `#[agent]` and `#[tool]`: a function as an agent or as a tool.
//!
//! The expansion begins with the function as it was written. A braced struct of its name follows, then the impl: facts as consts,
//! and calls. All that decides by types is in the library. A function that is refused has an impl as well, whose `META`
//! holds the errors, so that rustc reports nothing that follows from them.

mod agent;
mod args;
mod by_hand;
mod check;
mod keys;
mod parse;
mod plain;
#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests;
mod tool;

use crate::code::{code, read};
use crate::conditions;
use crate::deep;
use crate::diag::Diagnostics;
use crate::types;
use adk_spec::Check;
use parse::{Function, Param, Source};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Attribute;

/// Where `#[agent]` may be.
const AGENTS: &str =
    "put the attribute on a `fn`, or on `impl Agent for TYPE`; a type that is data has `#[data]`";

pub(crate) fn agent(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Diagnostics::of(Check::AgentAttribute);
    if is_too_deep(&args, &item, &mut report) {
        return report.beside(item);
    }
    if let Some(by_hand) = parse::by_hand(&item) {
        let args = args::by_hand(args, &mut report);
        check::by_hand(&by_hand, &args, &mut report);
        return if report.is_empty() {
            by_hand::expand(&by_hand, &args)
        } else {
            by_hand::stub(&by_hand, report)
        };
    }
    let Some(function) = parse::function(item.clone(), false, AGENTS, &mut report) else {
        return report.beside(item);
    };
    let args = args::agent(args, &mut report);
    check::agent(&function, &args, &mut report);
    if function.is_method {
        return report.beside(written(&function, false));
    }
    if report.is_empty() { agent::expand(&function, &args, &report) } else { agent::stub(&function, report) }
}

pub(crate) fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Diagnostics::of(Check::ToolAttribute);
    if is_too_deep(&args, &item, &mut report) {
        return report.beside(item);
    }
    let Some(function) = parse::function(item.clone(), true, "put the attribute on a `fn`", &mut report)
    else {
        return report.beside(item);
    };
    let args = args::tool(args, &mut report);
    check::tool(&function, &args, &mut report);
    if function.is_method {
        return report.beside(written(&function, false));
    }
    if report.is_empty() { tool::expand(&function, &args, &report) } else { tool::stub(&function, report) }
}

/// Whether something in there is nested too deep to be read, which is reported.
fn is_too_deep(args: &TokenStream, item: &TokenStream, report: &mut Diagnostics) -> bool {
    let checked = deep::check(args.clone()).and_then(|()| deep::check_head(item.clone()));
    checked.map_err(|error| report.push(error)).is_err()
}

fn arguments(function: &Function) -> impl Iterator<Item = TokenStream> {
    function.params.iter().map(|Param { local, source, .. }| match source {
        Source::Resource => quote!(#local),
        Source::Out => quote!(::core::clone::Clone::clone(&#local)),
        Source::Changed => quote!(&mut #local),
        Source::Plain | Source::Key => quote!(#local.__give()),
    })
}

/// Takes the resources, in the work itself.
fn take_resources(function: &Function) -> TokenStream {
    let taken = function.params(Source::Resource).map(|Param { local, ty, .. }| {
        let ty = types::fixed(ty.to_token_stream());
        quote!(let #local = __adk_from.take::<#ty>()?;)
    });
    taken.collect()
}

/// Makes what keys are written by, and adds what they were set to.
fn outs(function: &Function) -> (TokenStream, TokenStream) {
    let outs = function.params(Source::Out).map(|param| {
        let (local, key, ty) = (&param.local, name_of(param), types::fixed(param.ty.to_token_stream()));
        // rustc points at the type that has no form in JSON.
        let place = quote_spanned!(types::caret(&param.ty)=> _);
        let (made, left) = match param.source {
            Source::Changed => {
                (quote!(let mut #local: #ty = #local.__give();), quote!(::core::option::Option::Some(#local)))
            }
            _ => (quote!(let #local = __adk::Out::<#ty>::new();), quote!(#local.take())),
        };
        let value = quote!(<#place as __adk::function::StateWrite>::json(#left, #key)?);
        (made, quote!(.set(#key, #value)))
    });
    outs.unzip()
}

/// The keys that parameters write, as data: each only where it is set.
fn out_specs(function: &Function) -> impl Iterator<Item = TokenStream> {
    function.params(Source::Out).map(|param| {
        let (ty, no) = (types::fixed(param.ty.to_token_stream()), quote!(false));
        let spec = key_spec(&ty, &name_of(param), &types::spelled(&param.ty), &no, &no, &quote!(0));
        quote!(#spec.optional(true).accepting(__adk::TypeFacts::<#ty>::ACCEPTS))
    })
}

/// A key whose type is known, as `__private::key` takes it.
fn key_spec(
    ty: &TokenStream,
    key: &str,
    spelled: &str,
    optional: &TokenStream,
    any: &TokenStream,
    place: &TokenStream,
) -> TokenStream {
    let (typed, key) = (read("__adk::key"), crate::code::key(key));
    let number = crate::typed::number(ty, spelled);
    quote!(#typed::<#ty>(#key, #spelled, #optional, #any, #number, #place))
}

/// Reads a key into a local. `of` is the trait that says whether the type can be read.
fn load(param: &Param, of: &str) -> TokenStream {
    let (Param { local, ty, .. }, key) = (param, name_of(param));
    // rustc points at the type before the `as` when no key can hold it.
    let (place, ty) = (quote_spanned!(types::caret(ty)=> _), types::fixed(ty.to_token_stream()));
    let (start, load) = (code!("let {local} ="), code!("as __adk::function::{of}>::load"));
    let (arg, rest) =
        (read("__adk::function::FunctionParam"), code!("NEW.__loader(), &mut __adk_cx.state(), {key:?}"));
    quote!(#start <#place #load(#arg::<#ty>::#rest)?;)
}

/// What the function takes from the program: for its description, and as what it needs.
fn needs(function: &Function, name: &Ident) -> Option<(TokenStream, TokenStream)> {
    let types = || function.params(Source::Resource).map(|param| &param.ty);
    types().next()?;
    let all = types().map(|ty| {
        let (spelled, ty) = (types::spelled(ty), types::fixed(ty.to_token_stream()));
        quote!(__adk::spec::ResourceSpec::of::<#ty>(#spelled))
    });
    let bounds = types().map(|ty| types::fixed(ty.to_token_stream()));
    let described = quote!(.resources(__ADK_RESOURCES));
    let needs = quote! {
        const __ADK_RESOURCES: &[__adk::spec::ResourceSpec<'static>] = &[#(#all),*];
        impl __adk::resources::DeclaresNeeds for #name {}
        impl<__R: ?::core::marker::Sized #(+ __adk::resources::Gives<#bounds>)*> __adk::resources::Needs<__R> for #name {}
    };
    Some((described, needs))
}

/// The function, the struct, and the block with what is implemented for it.
fn item(function: &Function, inside: &TokenStream) -> TokenStream {
    let (written, twin, block) = (written(function, false), twin(function), block(&function.attrs, inside));
    quote!(#written #twin #block)
}

/// The function as it was written. `is_public`: no type in its signature can be private.
fn written(function: &Function, is_public: bool) -> TokenStream {
    let Function { attrs, vis, sig, body, item, .. } = function;
    let interfaces = (!is_public).then(|| read("#[allow(private_interfaces)]"));
    // These ask for another signature or for sections in a text that models read.
    let allow = read(
        "#[cfg_attr(clippy, allow(
            clippy::missing_errors_doc,
            clippy::missing_panics_doc,
            clippy::must_use_candidate,
            clippy::needless_pass_by_value,
            clippy::ref_option,
            clippy::too_many_arguments,
            clippy::trivially_copy_pass_by_ref,
            clippy::unnecessary_wraps,
            clippy::unused_async
        ))]",
    );
    match item {
        Some(item) => quote!(#interfaces #allow #item),
        None => quote!(#(#attrs)* #interfaces #allow #vis #sig #body),
    }
}

/// The braced struct of the same name: it is in the namespace of types only, so it can have the function's name.
fn twin(function: &Function) -> TokenStream {
    let (vis, name) = (&function.vis, &function.sig.ident);
    let before = read(&beside(function));
    let derived = read(
        "#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]",
    );
    quote!(#before #derived #vis struct #name {})
}

/// The attributes of the type of the same name. Editors show the docs of the type where the name is a step of a workflow; rustdoc
/// shows and tests those of the function.
fn beside(function: &Function) -> String {
    let docs = function.attrs.iter().filter(|attr| crate::docs::is_doc(attr));
    let docs = docs.map(|attr| match crate::docs::literal_of(attr) {
        Some(text) => format!("#[cfg_attr(not(doc), doc = {text:?})]"),
        None => format!("#[cfg_attr(not(doc), {})]", attr.meta.to_token_stream()),
    });
    // Hidden from rustdoc alone: editors do not complete what is hidden.
    format!("{}{}#[cfg_attr(doc, doc(hidden))] {ALLOW}", docs.collect::<String>(), conditions_text(function))
}

/// What a type beside the function is allowed. Attributes for clippy cost nothing without it.
const ALLOW: &str = "#[allow(dead_code, missing_copy_implementations, missing_debug_implementations, missing_docs, non_camel_case_types)]
    #[cfg_attr(clippy, allow(clippy::empty_structs_with_brackets, clippy::pedantic))]";

/// The conditions under which the function is there.
fn conditions_text(function: &Function) -> String {
    conditions(&function.attrs).map(|attr| attr.to_token_stream().to_string()).collect()
}

/// The block around the impl: what is in it cannot be named from outside, and hides no name of the user's.
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

/// What the function returns, and what is inside of that. Aliases count as what they are.
fn output_types(function: &Function) -> TokenStream {
    let output = types::fixed(function.returns());
    let inside = if keys::is_plain(function) {
        "type __AdkPlain = __AdkOutput; type __AdkValue = __AdkOutput;"
    } else {
        "type __AdkPlain = <__AdkOutput as __adk::OfResult<{ __adk::TypeFacts::<__AdkOutput>::RESULT }>>::Value;
        type __AdkValue = <__AdkPlain as __adk::OfFlow<{ __adk::TypeFacts::<__AdkPlain>::FLOW }>>::Value;"
    };
    let inside = read(inside);
    quote!(type __AdkOutput = #output; #inside)
}

/// A check on types, as a statement of a const: rustc underlines from the one token to the other.
fn refuse((from, to): (Span, Span), wrong: &TokenStream, message: &str) -> TokenStream {
    // rustc points from the first token of a call to its last. These are parentheses, so that no editor takes our path for the
    // user's token.
    let refuse = read("__adk::refuse");
    let callee = quote_spanned!(from=> (#refuse));
    let arguments = quote_spanned!(to=> (#wrong, #message));
    quote!(#callee #arguments;)
}

/// The checks as a const, and its mention in `META`: where one fails, rustc reports nothing of what depends on it.
fn checked(checks: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let (head, mention) = (read("const __ADK_CHECKED: () ="), read("let () = __ADK_CHECKED;"));
    (!checks.is_empty()).then(|| (quote!(#head { #checks };), mention))
}

fn whole(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let from = spans.next().unwrap_or_else(Span::call_site);
    (from, spans.last().unwrap_or(from))
}

fn name_of(param: &Param) -> String {
    param.name.as_ref().map_or_else(|| "_".to_owned(), |name| name.text.clone())
}
