//! What only types can tell of an agent.

use super::super::{refuse, typed, types, whole};
use super::fixed;
use crate::attr::parse::{AgentArgs, Function};
use crate::attr::report::Report;
use crate::typed::is_plain;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ReturnType;

/// Where to point when the return value is meant.
fn returns(function: &Function) -> (Span, Span) {
    match &function.sig.output {
        ReturnType::Type(_, ty) => whole(ty),
        ReturnType::Default => whole(&function.sig.ident),
    }
}

/// What only types can tell.
pub(super) fn checks(function: &Function, args: &AgentArgs, report: &Report) -> TokenStream {
    let name = function.name();
    let mut checks = TokenStream::new();
    let mut check = |span: (Span, Span), wrong: &TokenStream, fact: String, help: String| {
        checks.extend(refuse(span, wrong, &report.message(&fact, &help)));
    };
    let unit = quote!(__adk::Probe::<__AdkValue>::UNIT);
    match &args.writes {
        // Nobody calls `()` so.
        Some(_) if typed::is_plain(function) => {}
        Some(key) => check(
            (key.span, key.span),
            &unit,
            format!("`{name}` writes `{}`, but returns no value", key.text),
            "return the value, or remove `writes`".into(),
        ),
        // Where loops are named, a value without a `Flow` is one mistake.
        None => check(
            returns(function),
            &match args.exits {
                Some(_) => quote!(!#unit && __adk::Probe::<__AdkPlain>::FLOW != 0),
                None => quote!(!#unit),
            },
            format!("`{name}` returns a value, but does not say which key it writes"),
            "write `#[agent(writes = KEY)]`, or return nothing or a `Flow`; what a model calls is a `#[tool]`".into(),
        ),
    }
    if let Some(exits) = &args.exits {
        check(
            (exits.span, exits.span),
            &quote!(__adk::Probe::<__AdkPlain>::FLOW == 0),
            format!("`{name}` says which loops it may end, but returns no `Flow`"),
            "return `Flow` or `(T, Flow)`, or remove `exits`".into(),
        );
    }
    let context = |ty: &TokenStream| quote!(__adk::Probe::<#ty>::CONTEXT);
    for (at, param) in function.params.iter().enumerate() {
        // Nor a context, and a body for each check takes time in the user's crate.
        if is_plain(&param.ty) && param.name.is_some() {
            continue;
        }
        let is_context = context(&fixed(&param.ty));
        if at > 0 {
            let first = function.params.first().filter(|first| types::is_called_context(&first.ty));
            let first = first.map_or_else(|| quote!(false), |first| context(&fixed(&first.ty)));
            check(
                whole(&param.ty),
                &quote!(#is_context && #first),
                format!("`{name}` takes two contexts"),
                "one is enough: it is the same".into(),
            );
            check(
                whole(&param.ty),
                &quote!(#is_context && !#first),
                format!("the context of `{name}` is not its first parameter"),
                "move it to the front".into(),
            );
        } else if let Some(span) = args.blocking {
            check(
                (span, span),
                &is_context,
                format!("`{name}` takes a context, which cannot leave its thread, and is `blocking`"),
                "read and write keys by parameters and `writes`, or remove `blocking`".into(),
            );
        }
        if param.name.is_none() {
            check(
                whole(&param.ty),
                &quote!(!#is_context),
                format!("a parameter of `{name}` has no name, so it reads no key"),
                "name it as the key that it reads".into(),
            );
        }
    }
    checks
}
