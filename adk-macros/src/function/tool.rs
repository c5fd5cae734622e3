//! `#[tool]` on a function.

use super::args::{Confirm, ToolArgs};
use super::keys::KeyType;
use super::parse::{Function, Param, Source};
use super::{
    ARGUMENT, SHAPES, arguments, checks_const, edge_spans, handle, item, load, needs, out_specs,
    output_types, outs, param_name, refuse, take_resources,
};
use crate::code::{code, labels, read, timeout_call};
use crate::diag::Diagnostics;
use crate::{docs, place, typed, types};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprLit, Lit};

const CALL: &str =
    "async fn call(&self, __adk_args: __adk::ToolArgs, __adk_cx: &mut __adk::ToolContext)
    -> ::core::result::Result<__adk::serde_json::Value, __adk::ToolError>";
const CONFIRM: &str = "fn needs_confirmation(&self, __adk_args: __adk::ToolArgs,
    __adk_cx: &mut __adk::ToolContext) -> ::core::result::Result<bool, __adk::ToolError>";

/// The statements that begin the parsing of arguments.
const BEGIN: &str = "let mut __adk_call =
        __adk::args::ToolInvocation::new(__adk_args, __adk_cx, &__ADK_DECLARATION);";

/// Returns the function, the struct of the same name, and the impl.
pub(super) fn expand(function: &Function, args: &ToolArgs, report: &Diagnostics) -> TokenStream {
    let (types, name) = (output_types(function), &function.unspanned_name());
    let (checks, checked) = checks_const(&checks(function, args, report)).unzip();
    let (meta, declare) = (meta(function, args), declare(function));
    let (call, confirm) = (call(function, args), confirm(function, args));
    let ((taken, needs), head, shapes) = (needs(function, name).unzip(), read(CALL), read(SHAPES));
    let inside = quote! {
        #types
        #needs
        static __ADK_DECLARATION: ::std::sync::LazyLock<__adk::model::ToolDeclaration> =
            ::std::sync::LazyLock::new(|| {
                #shapes
                #declare
            });

        #checks

        #[automatically_derived]
        impl __adk::Tool for #name {
            const META: __adk::ToolMeta<'static> = { #checked #meta #taken };

            fn declaration(&self) -> &__adk::model::ToolDeclaration {
                &__ADK_DECLARATION
            }

            #head {
                use __adk::args::{ToolOutputDefaults as _, ResultOutput as _};
                #shapes
                #call
            }

            #confirm
        }
    };
    item(function, &inside)
}

/// Returns the expansion of a rejected function.
pub(super) fn stub(function: &Function, report: Diagnostics) -> TokenStream {
    let (name, text, errors) = (
        function.unspanned_name(),
        function.name(),
        report.into_tokens(),
    );
    let head = read(CALL);
    let inside = quote! {
        static __ADK_DECLARATION: ::std::sync::LazyLock<__adk::model::ToolDeclaration> =
            ::std::sync::LazyLock::new(|| {
                __adk::args::Declare::new(&<#name as __adk::Tool>::META).build()
            });

        #[automatically_derived]
        impl __adk::Tool for #name {
            const META: __adk::ToolMeta<'static> = {
                #errors
                __adk::ToolMeta::new(#text, "")
            };

            fn declaration(&self) -> &__adk::model::ToolDeclaration {
                &__ADK_DECLARATION
            }

            #head { ::core::result::Result::Ok(__adk::serde_json::Value::Null) }
        }
    };
    item(function, &inside)
}

fn meta(function: &Function, args: &ToolArgs) -> TokenStream {
    let name = args
        .name
        .as_ref()
        .map_or_else(|| function.name(), syn::LitStr::value);
    let description = docs::description(&function.attrs).unwrap_or_else(|| quote!(""));
    let names = |word| types::mentions(function.body.stream(), &[word]);
    let said = args.escalates || names("escalate");
    let mut meta = quote!(__adk::ToolMeta::new(#name, #description));
    let mut aliases = TokenStream::new();
    let reads = function.params(Source::Key).enumerate().map(|(at, param)| {
        KeyType::new(&param.ty, args.writes.len() + at, &mut aliases).spec(param, &quote!(0))
    });
    let reads: Vec<_> = reads.collect();
    let writes = args.writes.iter().enumerate().map(|(at, write)| {
        let inside = types::option_value(&write.ty);
        let mut facts = KeyType::new(&write.ty, at, &mut aliases).facts;
        let is_option = std::ptr::eq(inside, &write.ty).then_some(facts.optional);
        let is_option = is_option.unwrap_or_else(|| quote!(false));
        // A written key counts as optional: the model decides whether it calls the tool, so no
        // reader may rely on the key.
        facts.optional = quote!(true);
        facts.any = quote!(false);
        let (spelled, place) = (
            types::type_spelling(inside),
            quote!(__typed::no_place(#is_option)),
        );
        let (spec, ty) = (facts.expand(&write.key.text, &spelled, &place), &facts.ty);
        quote!(#spec.accepting(__adk::TypeFacts::<#ty>::ACCEPTS))
    });
    let writes: Vec<_> = writes.chain(out_specs(function)).collect();
    if !reads.is_empty() || !writes.is_empty() {
        let module = place::module(&place::scope());
        meta = quote!({
            #aliases #meta.reads(&[#(#reads),*]).writes(&[#(#writes),*]).module(#module)
        });
    }
    let is_set = [
        (args.long_running, ".long_running(true)"),
        (args.confirm.is_some(), ".confirm(true)"),
        (
            matches!(args.confirm, Some(Confirm::If(_))),
            ".selects(true)",
        ),
        (args.blocking.is_some(), ".blocking(true)"),
        (names("skip_summarization"), ".may_skip(true)"),
    ];
    meta.extend(
        is_set
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, text)| read(text)),
    );
    meta.extend(args.by.as_ref().map(|(_, by)| quote!(.by(#by))));
    meta.extend(args.timeout.map(timeout_call));
    meta.extend(labels(&args.labels).map(|labels| quote!(.labels(#labels))));
    meta.extend(args.retry.map(|times| code!(".retry({times})")));
    // `may_exit` is last, because rustc promotes no value after an `||` to `'static`.
    meta.extend(quote!(.may_exit(#said || __adk::TypeFacts::<__AdkPlain>::FLOW != 0)));
    meta
}

/// Returns the value of `#[default(...)]`. A string literal may initialise a `String`.
fn default(param: &Param) -> Option<TokenStream> {
    Some(match &param.default.as_ref()?.1 {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => quote!(::core::convert::From::from(#text)),
        value => quote!(#value),
    })
}

fn declare(function: &Function) -> TokenStream {
    let name = function.unspanned_name();
    let args = function.params(Source::Plain).map(|param| {
        let (key, handle) = (param_name(param), handle(param, ARGUMENT));
        let description = docs::description(&param.docs).unwrap_or_else(|| quote!(""));
        match default(param) {
            // `take_args` writes an equal expression, so that rustc reports one error for both.
            Some(value) => quote!(.arg_or(#key, #description, &#handle, || #value)),
            None => quote!(.arg(#key, #description, &#handle)),
        }
    });
    quote!(__adk::args::Declare::new(&<#name as __adk::Tool>::META) #(#args)* .build())
}

/// Reads the parameters.
fn take_args(function: &Function) -> TokenStream {
    let takes = function.params(Source::Plain).map(|param| {
        let (local, key, handle) = (&param.local, param_name(param), handle(param, ARGUMENT));
        match default(param) {
            Some(value) => {
                quote!(let #local = #handle.__load_or(&mut __adk_call, #key, || #value)?;)
            }
            None => quote!(let #local = #handle.__load(&mut __adk_call, #key)?;),
        }
    });
    takes.collect()
}

/// Returns `needs_confirmation`, which is true for calls with valid arguments that the predicate
/// selects.
fn confirm(function: &Function, args: &ToolArgs) -> Option<TokenStream> {
    let (predicate, takes) = (args.confirm.as_ref()?, take_args(function));
    let args = function.params(Source::Plain);
    // A mutable reference is a context.
    let args = args
        .filter(|Param { ty, .. }| !types::is_called_context(ty) && !types::is_mut_reference(ty));
    let (types, args): (Vec<_>, Vec<_>) = args.map(|param| (&param.ty, &param.local)).unzip();
    let lifetimes = function
        .sig
        .generics
        .lifetimes()
        .map(|declared| &declared.lifetime);
    let asks = match predicate {
        Confirm::If(predicate) => quote! {{
            let __adk_asks: for<#(#lifetimes),*> fn(#(#types),*) -> bool = #predicate;
            __adk_asks(#(#args.__give()),*)
        }},
        Confirm::Always => quote!(true),
    };
    let (head, shapes, begin) = (read(CONFIRM), read(SHAPES), read(BEGIN));
    Some(quote!(#head { #shapes #begin #takes ::core::result::Result::Ok(#asks) }))
}

fn call(function: &Function, args: &ToolArgs) -> TokenStream {
    let (name, takes) = (function.unspanned_name(), take_args(function));
    let (wait, begin) = (function.sig.asyncness.map(|_| quote!(.await)), read(BEGIN));
    // rustc points at a result that no model can read, and at an error without a text.
    let (place, error) = types::carets(&function.sig);
    let error = quote_spanned!(error=> _);
    let value = quote_spanned!(place=> _);
    let (arguments, resources) = (arguments(function), take_resources(function));
    let from = (!resources.is_empty())
        .then(|| quote!(let __adk_from = __adk::resources::call_resources(__adk_cx);));
    let loads = function.params(Source::Key).map(load);
    let (made, set) = outs(function);
    let body = quote! {
        #(#loads)*
        #begin
        #takes
        #made
        #resources
        let __adk_out = #name(#(#arguments),*) #wait;
        let __adk_out =
            <#error as __adk::args::ToolFailure>::ok(__adk::args::tag(&__adk_out).__ok(__adk_out))?;
        let (__adk_out, __adk_flow) = __adk::args::tag(&__adk_out).__flow(__adk_out);
        let __adk_out = <#value as __adk::args::ToolOutput>::json(__adk_out)?;
        ::core::result::Result::Ok(__adk::args::ToolOutcome::new(__adk_out, __adk_flow) #set)
    };
    let done = match args.blocking {
        Some(_) => quote!(__adk::args::run_blocking(__adk_cx, move |__adk_cx| { #body })),
        None => quote!({ let __adk_cx = &mut *__adk_cx; __adk::args::run(async move { #body }) }),
    };
    quote! {
        #from
        let __adk_done = #done.await?;
        ::core::result::Result::Ok(__adk_done.apply(__adk_cx))
    }
}

/// Returns the checks that need types.
fn checks(function: &Function, args: &ToolArgs, report: &Diagnostics) -> TokenStream {
    let name = function.name();
    let mut checks = TokenStream::new();
    let mut before = TokenStream::new();
    for param in function.params(Source::Plain) {
        let ty = types::with_static_lifetimes(param.ty.to_token_stream());
        let is_context = quote!(__adk::TypeFacts::<#ty>::TOOL_CONTEXT);
        if !before.is_empty() {
            let message = report.message(
                &format!("`{name}` takes two contexts"),
                "remove one: both are the same context",
            );
            let wrong = quote!(#is_context && (false #before));
            checks.extend(refuse(edge_spans(&param.ty), &wrong, &message));
        }
        if param.name.is_none() {
            let message = report.message(
                &format!("a parameter of `{name}` has no name, so no model can fill it in"),
                "name it",
            );
            checks.extend(refuse(
                edge_spans(&param.ty),
                &quote!(!#is_context),
                &message,
            ));
        }
        before.extend(quote!(|| #is_context));
    }
    for param in function.params(Source::Key) {
        // Each check costs compile time in the user's crate, and a plain type is not a context.
        if typed::is_plain(&param.ty) {
            continue;
        }
        let ty = types::with_static_lifetimes(param.ty.to_token_stream());
        let message = report.message(
            &format!("`{name}` has the context of a run as a key"),
            "take the context of the call instead: `cx: &mut ToolContext`, without `#[key]`",
        );
        let is_context = quote!(__adk::TypeFacts::<#ty>::CONTEXT);
        checks.extend(refuse(edge_spans(&param.ty), &is_context, &message));
    }
    checks.extend(context_check(function, args, report));
    checks
}

/// Returns the check that a tool with `writes` has a context. A parameter whose type name ends in
/// `Context` settles it here; otherwise the types decide.
fn context_check(
    function: &Function,
    args: &ToolArgs,
    report: &Diagnostics,
) -> Option<TokenStream> {
    let first = &args.writes.first()?.key;
    if function
        .params(Source::Plain)
        .any(|param| types::is_called_context(&param.ty))
    {
        return None;
    }
    let contexts = function.params(Source::Plain).map(|Param { ty, .. }| {
        let ty = types::with_static_lifetimes(ty.to_token_stream());
        quote!(|| __adk::TypeFacts::<#ty>::TOOL_CONTEXT || __adk::TypeFacts::<#ty>::CONTEXT)
    });
    let wrong = quote!(!(false #(#contexts)*));
    let keys: Vec<_> = args
        .writes
        .iter()
        .map(|write| format!("`{}`", write.key.text))
        .collect();
    let message = report.message(
        &format!(
            "`{}` declares that it writes {}, but takes no context to write it with",
            function.name(),
            keys.join(" and ")
        ),
        &format!(
            "in place of `writes` take the parameter `#[key({0})] out: Out<TYPE>`, or take \
             `cx: &mut ToolContext` and write `cx.state().set({0:?}, ...)`",
            first.text
        ),
    );
    Some(refuse((first.span, first.span), &wrong, &message))
}
