//! `#[agent]` and `#[tool]`: turn a function into an agent or a tool.
//!
//! The expansion begins with the unchanged function. A braced struct of the same name follows, then
//! an impl with facts as consts, and calls. The library makes all decisions that depend on types. A
//! rejected function has an impl too, whose `META` holds the errors, so that rustc reports no
//! errors that follow from them.

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
use crate::depth;
use crate::diag::Diagnostics;
use crate::typed::KeyFacts;
use crate::types;
use adk_spec::Check;
use parse::{Function, Param, Source};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Attribute;

/// Remedy for a misplaced `#[agent]`.
const AGENTS: &str = "put the attribute on a `fn`, or on `impl Agent for TYPE`; write `#[data]` on \
    a type that is data";

pub(crate) fn agent(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Diagnostics::new(Check::AgentAttribute);
    if is_too_deep(&args, &item, &mut report) {
        return report.append_to(item);
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
        return report.append_to(item);
    };
    let args = args::agent(args, &mut report);
    check::agent(&function, &args, &mut report);
    if function.is_method {
        return report.append_to(original_item(&function, false));
    }
    if report.is_empty() {
        agent::expand(&function, &args, &report)
    } else {
        agent::stub(&function, report)
    }
}

pub(crate) fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Diagnostics::new(Check::ToolAttribute);
    if is_too_deep(&args, &item, &mut report) {
        return report.append_to(item);
    }
    let Some(function) = parse::function(
        item.clone(),
        true,
        "put the attribute on a `fn`",
        &mut report,
    ) else {
        return report.append_to(item);
    };
    let args = args::tool(args, &mut report);
    check::tool(&function, &args, &mut report);
    if function.is_method {
        return report.append_to(original_item(&function, false));
    }
    if report.is_empty() {
        tool::expand(&function, &args, &report)
    } else {
        tool::stub(&function, report)
    }
}

/// Reports arguments or an item that are nested too deep to parse, and returns whether it did.
fn is_too_deep(args: &TokenStream, item: &TokenStream, report: &mut Diagnostics) -> bool {
    let checked = depth::check(args.clone()).and_then(|()| depth::check_head(item.clone()));
    checked.map_err(|error| report.push(error)).is_err()
}

fn arguments(function: &Function) -> impl Iterator<Item = TokenStream> {
    function
        .params
        .iter()
        .map(|Param { local, source, .. }| match source {
            Source::Resource => quote!(#local),
            Source::Out => quote!(::core::clone::Clone::clone(&#local)),
            Source::Changed => quote!(&mut #local),
            Source::Plain | Source::Key => quote!(#local.__give()),
        })
}

/// Takes the resources, inside the work of the call.
fn take_resources(function: &Function) -> TokenStream {
    let taken = function
        .params(Source::Resource)
        .map(|Param { local, ty, .. }| {
            let ty = types::with_static_lifetimes(ty.to_token_stream());
            quote!(let #local = __adk_from.take::<#ty>()?;)
        });
    taken.collect()
}

/// Returns the statements that create the outputs, and the calls that add their values.
fn outs(function: &Function) -> (TokenStream, TokenStream) {
    let outs = function.params(Source::Out).map(|param| {
        let (local, key, ty) = (
            &param.local,
            param_name(param),
            types::with_static_lifetimes(param.ty.to_token_stream()),
        );
        // rustc points at the type that JSON cannot represent.
        let place = quote_spanned!(types::caret(&param.ty)=> _);
        let (made, left) = match param.source {
            Source::Changed => (
                quote!(let mut #local: #ty = #local.__give();),
                quote!(::core::option::Option::Some(#local)),
            ),
            _ => (
                quote!(let #local = __adk::Out::<#ty>::new();),
                quote!(#local.take()),
            ),
        };
        let value = quote!(<#place as __adk::function::StateWrite>::json(#left, #key)?);
        (made, quote!(.set(#key, #value)))
    });
    outs.unzip()
}

/// Returns the keys that parameters write, as data. Each may stay unset.
fn out_specs(function: &Function) -> impl Iterator<Item = TokenStream> {
    function.params(Source::Out).map(|param| {
        let ty = types::with_static_lifetimes(param.ty.to_token_stream());
        let (name, spelled) = (param_name(param), types::type_spelling(&param.ty));
        let spec = KeyFacts::of(&ty).expand(&name, &spelled, &quote!(0));
        quote!(#spec.optional(true).accepting(__adk::TypeFacts::<#ty>::ACCEPTS))
    })
}

/// The import of the methods that choose the shape of a parameter.
const SHAPES: &str = "use __adk::param::{ParamMaybe as _, ParamPlain as _};";

/// The kind of a parameter, and the traits that decide what may be one: for a `&mut` type, for a
/// type whose name ends in `Context`, and for any other type.
type Readers = [&'static str; 4];
const KEY: Readers = ["KeyParam", "LentRead", "ContextRead", "StateRead"];
const ARGUMENT: Readers = ["ArgumentParam", "LentArg", "ContextLike", "ToolArg"];

/// Returns the expression for how a parameter is read, which its type determines.
fn handle(param: &Param, [kind, lent, context, other]: Readers) -> TokenStream {
    let ty = &param.ty;
    let reader = match param.source {
        Source::Plain if types::is_called_context(ty) => context,
        Source::Plain if types::is_mut_reference(ty) => lent,
        _ => other,
    };
    // rustc points at the type before the `as` if it cannot be a parameter.
    let (place, ty) = (
        quote_spanned!(types::caret(ty)=> _),
        types::with_static_lifetimes(ty.to_token_stream()),
    );
    let (start, shape, end) = (
        code!("as __adk::param::{reader}>::handle"),
        read("__adk::param::Param"),
        code!("__adk::param::{kind}>::NEW.__shape()"),
    );
    quote!(<#place #start(#shape::<#ty, #end))
}

/// Reads a key into a local.
fn load(param: &Param) -> TokenStream {
    let (local, handle, key) = (&param.local, handle(param, KEY), param_name(param));
    let rest = code!(".__load(&mut __adk_cx.state(), {key:?})?;");
    quote!(let #local = #handle #rest)
}

/// Returns the resources of the function for its description, and as a requirement on the program.
fn needs(function: &Function, name: &Ident) -> Option<(TokenStream, TokenStream)> {
    let types = || function.params(Source::Resource).map(|param| &param.ty);
    types().next()?;
    let all = types().map(|ty| {
        let (spelled, ty) = (
            types::type_spelling(ty),
            types::with_static_lifetimes(ty.to_token_stream()),
        );
        quote!(__adk::spec::ResourceSpec::of::<#ty>(#spelled))
    });
    let bounds = types().map(|ty| types::with_static_lifetimes(ty.to_token_stream()));
    let described = quote!(.resources(__ADK_RESOURCES));
    let needs = quote! {
        const __ADK_RESOURCES: &[__adk::spec::ResourceSpec<'static>] = &[#(#all),*];
        impl __adk::resources::DeclaresNeeds for #name {}
        impl<__R: ?::core::marker::Sized #(+ __adk::resources::Gives<#bounds>)*>
            __adk::resources::Needs<__R> for #name {}
    };
    Some((described, needs))
}

/// Returns the function, the struct, and the block with the impls of the struct.
fn item(function: &Function, inside: &TokenStream) -> TokenStream {
    let (original, twin, block) = (
        original_item(function, false),
        twin_struct(function),
        block(&function.attrs, inside),
    );
    quote!(#original #twin #block)
}

/// Returns the unchanged function. `is_public` promises that no type in its signature is private.
fn original_item(function: &Function, is_public: bool) -> TokenStream {
    let Function {
        attrs,
        vis,
        sig,
        body,
        item,
        ..
    } = function;
    let interfaces = (!is_public).then(|| read("#[allow(private_interfaces)]"));
    // These lints ask for another signature, or for doc sections that models would read.
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

/// Returns the braced struct with the function's name. A braced struct is only in the namespace of
/// types, so it may share the name of the function.
fn twin_struct(function: &Function) -> TokenStream {
    let (vis, name) = (&function.vis, &function.sig.ident);
    let before = read(&twin_attributes(function));
    let derived = read(
        "#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, \
         ::core::default::Default)]",
    );
    quote!(#before #derived #vis struct #name {})
}

/// Returns the attributes of the struct with the function's name. Editors show the docs of the
/// struct where a workflow names the step; rustdoc shows and tests the docs of the function.
fn twin_attributes(function: &Function) -> String {
    let docs = function
        .attrs
        .iter()
        .filter(|attr| crate::docs::is_doc(attr));
    let docs = docs.map(|attr| match crate::docs::literal_text(attr) {
        Some(text) => format!("#[cfg_attr(not(doc), doc = {text:?})]"),
        None => format!("#[cfg_attr(not(doc), {})]", attr.meta.to_token_stream()),
    });
    // The type is hidden only for rustdoc, since editors do not complete hidden items.
    format!(
        "{}{}#[cfg_attr(doc, doc(hidden))] {ALLOW}",
        docs.collect::<String>(),
        conditions_text(function)
    )
}

/// Allowed lints of the type of the same name. Attributes for clippy cost nothing in other builds.
const ALLOW: &str = "#[allow(
        dead_code,
        missing_copy_implementations,
        missing_debug_implementations,
        missing_docs,
        non_camel_case_types
    )]
    #[cfg_attr(clippy, allow(clippy::empty_structs_with_brackets, clippy::pedantic))]";

/// Returns the `#[cfg(...)]` attributes of the function as text.
fn conditions_text(function: &Function) -> String {
    conditions(&function.attrs)
        .map(|attr| attr.to_token_stream().to_string())
        .collect()
}

/// Returns the block around the impl, which keeps its items private and hides no name of the user.
fn block(attrs: &[Attribute], inside: &TokenStream) -> TokenStream {
    let (conditions, names) = (conditions(attrs), crate::facade::imports());
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

/// Defines the return type of the function and the types in it. Traits resolve aliases.
fn output_types(function: &Function) -> TokenStream {
    let output = types::with_static_lifetimes(function.returns());
    let inside = if keys::is_plain(function) {
        "type __AdkPlain = __AdkOutput; type __AdkValue = __AdkOutput;"
    } else {
        "type __AdkPlain =
            <__AdkOutput as __adk::OfResult<{ __adk::TypeFacts::<__AdkOutput>::RESULT }>>::Value;
        type __AdkValue =
            <__AdkPlain as __adk::OfFlow<{ __adk::TypeFacts::<__AdkPlain>::FLOW }>>::Value;"
    };
    let inside = read(inside);
    quote!(type __AdkOutput = #output; #inside)
}

/// Returns a check on types, as a statement of a const. rustc underlines from the first span to the
/// second.
fn refuse((from, to): (Span, Span), wrong: &TokenStream, message: &str) -> TokenStream {
    // rustc points from the first token of a call to the last. The tokens with these spans are
    // parentheses, so that no editor takes the path for a token of the user.
    let refuse = read("__adk::refuse");
    let callee = quote_spanned!(from=> (#refuse));
    let arguments = quote_spanned!(to=> (#wrong, #message));
    quote!(#callee #arguments;)
}

/// Returns the checks as a const, and the mention of the const in `META`: after a failed check
/// rustc reports no errors in code that depends on it.
fn checks_const(checks: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let (head, mention) = (
        read("const __ADK_CHECKED: () ="),
        read("let () = __ADK_CHECKED;"),
    );
    (!checks.is_empty()).then(|| (quote!(#head { #checks };), mention))
}

fn edge_spans(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens
        .into_token_stream()
        .into_iter()
        .map(|token| token.span());
    let from = spans.next().unwrap_or_else(Span::call_site);
    (from, spans.last().unwrap_or(from))
}

fn param_name(param: &Param) -> String {
    param
        .name
        .as_ref()
        .map_or_else(|| "_".to_owned(), |name| name.text.clone())
}
