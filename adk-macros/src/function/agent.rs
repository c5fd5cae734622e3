//! `#[agent]` on a function.

use super::args::AgentArgs;
use super::keys::KeyTypes;
use super::parse::{Function, Source};
use super::{
    SHAPES, arguments, block, checks_const, conditions_text, edge_spans, item, load, needs,
    original_item, out_specs, output_types, outs, plain, refuse, take_resources, twin_attributes,
};
use crate::code::{self, code, read};
use crate::diag::Diagnostics;
use crate::typed::{KeyFacts, OPENED, is_plain};
use crate::{docs, place, types};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ReturnType;

/// Returns the function, the struct of the same name, and the impl.
pub(super) fn expand(function: &Function, args: &AgentArgs, report: &Diagnostics) -> TokenStream {
    let plain = plain::expand(function, args);
    // An error type may be private. Other plain types are types of the standard library.
    let is_public =
        matches!(function.sig.output, ReturnType::Default) || super::keys::is_plain(function);
    let written = original_item(function, plain.is_some() && is_public);
    let implemented =
        plain.unwrap_or_else(|| block(&function.attrs, &impl_by_types(function, args, report)));
    let (before, vis, name) = (
        read(&twin_attributes(function)),
        &function.vis,
        &function.sig.ident,
    );
    let default = default(function);
    quote!(#written #before #vis struct #name {} #default #implemented)
}

/// Implements `Default` as text. A derive costs rustc more, and each further trait would cost time
/// per function.
fn default(function: &Function) -> TokenStream {
    let (conditions, name) = (conditions_text(function), function.unspanned_name());
    code!(
        "{conditions}
        #[automatically_derived]
        impl ::core::default::Default for {name} {{
            fn default() -> Self {{ Self {{}} }}
        }}"
    )
}

/// Returns the impl for a function with types that traits have to resolve.
fn impl_by_types(function: &Function, args: &AgentArgs, report: &Diagnostics) -> TokenStream {
    let (types, name) = (output_types(function), &function.unspanned_name());
    let (checks, checked) = checks_const(&checks(function, args, report)).unzip();
    let keys = KeyTypes::new(function, args);
    let meta = meta(function, args, &keys);
    let begin = begin(function, args);
    let typed = keys.expand(function, name);
    let key = args.writes.as_ref().map_or("", |key| &key.text);
    let start = code!("impl __adk::function::AgentFunction for {name}");
    let key = code!(
        "const KEY: &'static str = {key:?}; const META: &'static __adk::AgentMeta<'static> ="
    );
    let (taken, needs) = needs(function, name).unzip();
    let value = match checked {
        Some(checked) => quote!({ #checked &#meta #taken }),
        None => quote!(&#meta #taken),
    };
    quote!(#types #checks #typed #needs #start { #key #value; #begin })
}

/// Returns the expansion of a rejected function.
pub(super) fn stub(function: &Function, report: Diagnostics) -> TokenStream {
    let (name, text, errors) = (
        function.unspanned_name(),
        function.name(),
        report.into_tokens(),
    );
    let inside = quote! {
        #[automatically_derived]
        impl __adk::Agent for #name {
            const META: __adk::AgentMeta<'static> = {
                #errors
                __adk::AgentMeta::new(__adk::AgentKind::Function, #text)
            };

            async fn run(&self, _: &mut __adk::Context) -> __adk::Result<__adk::Flow> {
                ::core::result::Result::Ok(__adk::Flow::Continue)
            }
        }
    };
    item(function, &inside)
}

/// Returns the span for errors of the return value.
fn returns(function: &Function) -> (Span, Span) {
    match &function.sig.output {
        ReturnType::Type(_, ty) => edge_spans(ty),
        ReturnType::Default => edge_spans(&function.sig.ident),
    }
}

/// Returns the checks that need types.
fn checks(function: &Function, args: &AgentArgs, report: &Diagnostics) -> TokenStream {
    let name = function.name();
    let mut checks = TokenStream::new();
    let mut check = |span: (Span, Span), wrong: &TokenStream, fact: String, help: &str| {
        checks.extend(refuse(span, wrong, &report.message(&fact, help)));
    };
    let unit = read("__adk::TypeFacts::<__AdkValue>::UNIT");
    match &args.writes {
        // A plain type is never `()`.
        Some(_) if super::keys::is_plain(function) => {}
        Some(key) => check(
            (key.span, key.span),
            &unit,
            format!("`{name}` writes `{}`, but returns no value", key.text),
            "return the value, or remove `writes`",
        ),
        None if matches!(function.sig.output, ReturnType::Default) => {}
        None => check(
            returns(function),
            &quote!(!#unit),
            format!("`{name}` returns a value, but names no key to write"),
            "write `#[agent(writes = KEY)]`, or return nothing or a `Flow`; write `#[tool]` on a \
             function that a model calls",
        ),
    }
    if let Some(exits) = &args.exits {
        check(
            (exits.span, exits.span),
            &quote!(__adk::TypeFacts::<__AdkPlain>::FLOW == 0),
            format!("`{name}` lists loops that it may end, but returns no `Flow`"),
            "return `Flow` or `(T, Flow)`, or remove `exits`",
        );
    }
    checks.extend(contexts(function, args, report));
    checks
}

/// Checks that a context is the first parameter, and that each other parameter has a name.
fn contexts(function: &Function, args: &AgentArgs, report: &Diagnostics) -> TokenStream {
    let name = function.name();
    let mut checks = TokenStream::new();
    for (at, param) in function.params(Source::Plain).enumerate() {
        // Each check costs compile time in the user's crate, and a plain type is not a context.
        if is_plain(&param.ty) && param.name.is_some() {
            continue;
        }
        let ty = static_type(&param.ty);
        let is_context = quote!(__adk::TypeFacts::<#ty>::CONTEXT);
        let mut check = |span, wrong: &TokenStream, fact: String, help: &str| {
            checks.extend(refuse(span, wrong, &report.message(&fact, help)));
        };
        if at > 0 {
            let fact = format!("the context of `{name}` is not its first parameter");
            check(
                edge_spans(&param.ty),
                &is_context,
                fact,
                "move it to the front; a function has one",
            );
        } else if let Some(span) = args.blocking {
            let fact = format!(
                "`{name}` takes a context, which cannot leave its thread, and is `blocking`"
            );
            let help = "read and write keys by parameters and `writes`, or remove `blocking`";
            check((span, span), &is_context, fact, help);
        }
        if param.name.is_none() {
            let fact = format!("a parameter of `{name}` has no name, so it reads no key");
            check(
                edge_spans(&param.ty),
                &quote!(!#is_context),
                fact,
                "name it as the key that it reads",
            );
        }
    }
    checks
}

fn meta(function: &Function, args: &AgentArgs, keys: &KeyTypes) -> TokenStream {
    let text = function.name();
    let description = docs::description(&function.attrs).unwrap_or_else(|| quote!(""));
    let all = keys.read_specs(function);
    let labels = code::labels(&args.labels).map(|labels| quote!(.labels(#labels)));
    // An audit shows where the author of the function is to be found.
    let trusts = args.labels.iter().any(|label| label == "trusts");
    let place = trusts.then(|| {
        let here = quote!(__adk::spec::SourcePlace::here);
        let place = quote_spanned!(function.sig.ident.span()=> (#here)());
        quote!(.place(#place))
    });
    let (reads, sees) = match function.params(Source::Plain).next() {
        Some(first) if !is_plain(&first.ty) => {
            let first = static_type(&first.ty);
            let has_context = quote!(__adk::TypeFacts::<#first>::CONTEXT);
            (
                quote!(__adk::function::reads(#has_context, &[#(#all),*])),
                Some(has_context),
            )
        }
        _ => (quote!(&[#(#all),*]), None),
    };
    let returns_plain = super::keys::is_plain(function);
    let [optional, may_exit] = if returns_plain {
        ["false"; 2]
    } else {
        [
            "__adk::TypeFacts::<__AdkValue>::OPTIONAL",
            "__adk::TypeFacts::<__AdkPlain>::FLOW != 0",
        ]
    };
    let writes = args.writes.iter().map(|key| {
        let place = 1 | if types::is_option_result(&function.sig.output) {
            OPENED
        } else {
            0
        };
        let facts = KeyFacts {
            optional: read(optional),
            ..KeyFacts::of(&keys.written_type())
        };
        let spelled = types::written_type(&function.sig.output);
        facts.expand(&key.text, &spelled, &quote!(#place))
    });
    let writes = writes.chain(out_specs(function));
    let exits = args.exits.as_ref().map(|exits| {
        let loops = &exits.loops;
        quote!(.exits(&[#(#loops),*]))
    });
    let timeout = args.timeout.map(code::timeout_call);
    let meta = read("__adk::function::meta");
    let name = code!("{text:?}, ::core::concat!(::core::module_path!(), \"::{text}\"),");
    let (scope, may_exit) = (place::scope(), read(may_exit));
    let described = quote! {
        #meta(#name #scope, #description, #reads, &[#(#writes),*], #may_exit)
            #exits #timeout #labels #place
    };
    match sees {
        Some(has_context) => quote!(__adk::check::sees_all(#described, #has_context)),
        None => described,
    }
}

fn static_type(ty: &syn::Type) -> TokenStream {
    types::with_static_lifetimes(quote!(#ty))
}

fn begin(function: &Function, args: &AgentArgs) -> TokenStream {
    let loads = function.params(Source::Plain).map(load);
    let blocking = args.blocking.filter(|_| function.sig.asyncness.is_none());
    let first = function
        .params(Source::Plain)
        .map(|param| &param.local)
        .next();
    let how = match (first, blocking) {
        (None, _) => read("let __adk_how = __adk::function::RecordedWork;"),
        (Some(first), None) => code!("let ({first}, __adk_how) = {first}.__begin(__adk_cx);"),
        (Some(first), Some(_)) => {
            code!("let ({first}, __adk_how) = {first}.__begin_blocking(__adk_cx);")
        }
    };
    let wait = function.sig.asyncness.map_or("", |_| ".await");
    // rustc points at a value that no key can hold, and at a type that is not an error.
    let (value, error) = types::carets(&function.sig);
    let error = quote_spanned!(error=> _);
    let value = match &args.writes {
        Some(key) => {
            let place = quote_spanned!(value=> _);
            let key = &key.text;
            let write = code!(
                "as __adk::function::StateWrite>::json(
                    __adk::function::tag(&__adk_out).__value(__adk_out), {key:?})?"
            );
            quote!(<#place #write)
        }
        None => quote!(::core::option::Option::None),
    };
    let (name, given, resources) = (
        function.unspanned_name(),
        arguments(function),
        take_resources(function),
    );
    let from = (!resources.is_empty())
        .then(|| quote!(let __adk_from = __adk::resources::run_resources(__adk_cx);));
    let called = code!("let __adk_out =");
    let (made, set) = outs(function);
    let called = quote!(#made #resources #called #name(#(#given),*));
    let result = code!(
        "{wait};
        let __adk_out = __adk::function::tag(&__adk_out).__ok(__adk_out);
        let __adk_out ="
    );
    let failed = read(
        "as __adk::function::AgentFailure>::ok(__adk_out)?;
        let (__adk_out, __adk_flow) = __adk::function::tag(&__adk_out).__flow(__adk_out);",
    );
    let done = read("__adk::function::FunctionOutcome::new");
    let done = quote!(::core::result::Result::Ok(#done(#value, __adk_flow) #set));
    let call = quote!(#called #result <#error #failed #done);
    let work = match (blocking, &function.sig.asyncness) {
        (Some(_), _) => quote!(block(move || { #call })),
        (None, Some(_)) => quote!(wait(async move { #call })),
        (None, None) => quote!(call(move || { #call })),
    };
    let head =
        read("fn begin(__adk_cx: &mut __adk::Context) -> __adk::Result<__adk::function::Work<'_>>");
    let names = read("use __adk::function::{FunctionOutputDefaults as _, Held as _};");
    let shapes = read(SHAPES);
    let work = quote!(::core::result::Result::Ok(__adk_how.#work));
    quote!(#head { #names #shapes #from #(#loads)* #how #work })
}
