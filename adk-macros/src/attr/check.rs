//! What tokens alone can tell. What needs types is left to the compiler, in consts that `lower` writes.

use super::parse::{AgentArgs, ByHand, ByHandArgs, Function, ToolArgs, TypedKey};
use super::report::Report;
use crate::docs;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{GenericParam, ReturnType, Type};

/// The most letters that models accept in the name of a tool.
const LONGEST: usize = 64;

/// What holds for both attributes.
pub(crate) fn function(function: &Function, report: &mut Report) {
    let sig = &function.sig;
    for param in &sig.generics.params {
        if !matches!(param, GenericParam::Lifetime(_)) {
            report.at(
                param.span(),
                format!("`{}` is generic, so it has no types to check", function.name()),
                "write it for the types that it is used with",
            );
        }
    }
    if let Some(token) = &sig.variadic {
        // rustc wants such a function to be `unsafe`.
        report.at(token.span(), "it takes any number of arguments", "take a `Vec<T>`");
    } else if let syn::Safety::Unsafe(token) = &sig.safety {
        report.at(
            token.span,
            "an `unsafe` function has rules that nobody checks here",
            "wrap it in a safe one",
        );
    }
    if let ReturnType::Type(_, ty) = &sig.output
        && let Type::Never(never) = &**ty
    {
        report.at(
            never.bang_token.span,
            format!("`{}` never returns, so nothing comes after it", function.name()),
            "return a value, `Flow`, or nothing",
        );
    }
    // That of a parameter is told for itself.
    if sig.receiver().is_none() && function.associated {
        report.at(
            sig.ident.span(),
            "what stands in an `impl` or a `trait` is neither an agent nor a tool",
            "write the function outside of it",
        );
    }
}

/// The types of its parameters, and the one that it returns.
fn types(function: &Function) -> impl Iterator<Item = &Type> {
    let returned = match &function.sig.output {
        ReturnType::Type(_, ty) => Some(&**ty),
        ReturnType::Default => None,
    };
    function.params.iter().map(|param| &param.ty).chain(returned)
}

/// Where a word stands in a type.
pub(crate) fn word(ty: &Type, word: &str) -> Option<Span> {
    fn find(tokens: TokenStream, word: &str) -> Option<Span> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Ident(found) if found == word => Some(found.span()),
            TokenTree::Group(group) => find(group.stream(), word),
            _ => None,
        })
    }
    // Most are, and tokens cost.
    if crate::typed::is_plain(ty) { None } else { find(ty.to_token_stream(), word) }
}

/// Whether anything makes the function one that cannot be called.
pub(crate) fn is_callable(function: &Function) -> bool {
    let sig = &function.sig;
    let lifetimes = sig.generics.params.iter().all(|param| matches!(param, GenericParam::Lifetime(_)));
    // Of `Self` rustc says where it stands that there is none.
    let known = |ty: &Type| !matches!(ty, Type::Never(_)) && word(ty, "Self").is_none();
    lifetimes
        && sig.inputs.len() == function.params.len()
        && sig.variadic.is_none()
        && !matches!(sig.safety, syn::Safety::Unsafe(_))
        && types(function).all(known)
}

/// `#[agent]`.
pub(crate) fn agent(function: &Function, args: &AgentArgs, report: &mut Report) {
    not_async(function, args.blocking, report);
    for param in &function.params {
        if let Some((span, _)) = &param.default {
            report.at(
                *span,
                "a parameter of an agent reads a key, which has no default",
                "take an `Option`, or write the default with `let` in the workflow",
            );
        }
    }
}

/// Whether an `impl` makes an agent.
pub(crate) fn is_agent(item: &ByHand, report: &mut Report) -> bool {
    let last = item.of.as_ref().and_then(|path| path.segments.last());
    let is = last.is_some_and(|last| last.ident == "Agent");
    if !is {
        let span = item.of.as_ref().map_or_else(|| item.ty.span(), Spanned::span);
        report.at(span, "this `impl` makes no agent", super::AGENTS);
    }
    is
}

/// `#[agent]` on an `impl Agent`.
pub(crate) fn by_hand(args: &ByHandArgs, report: &mut Report) {
    for (list, keys) in [("reads", &args.reads), ("writes", &args.writes)] {
        let mut seen: Vec<&str> = Vec::new();
        for TypedKey { key, .. } in keys {
            if seen.contains(&key.text.as_str()) {
                report.at(key.span, format!("`{}` stands twice in `{list}`", key.text), "remove one of them");
            }
            seen.push(&key.text);
        }
    }
}

/// `#[tool]`.
pub(crate) fn tool(function: &Function, args: &ToolArgs, report: &mut Report) {
    not_async(function, args.blocking, report);
    let name = args.name.as_ref().map_or_else(|| function.name(), syn::LitStr::value);
    let span = args.name.as_ref().map_or_else(|| function.sig.ident.span(), syn::LitStr::span);
    if is_reserved(&name) {
        report.named(
            "tool-reserved",
            span,
            format!("the runtime gives the name `{name}` to a tool of its own"),
            "give this one another, or write `#[tool(name = \"...\")]`",
        );
    } else if !is_tool_name(&name) {
        report.at(
            span,
            format!("models do not accept `{name}` as the name of a tool"),
            format!(
                "begin with a letter or `_`, go on with letters, digits, `_` and `-`, {LONGEST} at the most"
            ),
        );
    }
    if docs::description(&function.attrs).is_none() && !args.described {
        report.named(
            "tool-undocumented",
            function.sig.ident.span(),
            format!("the tool `{name}` has no doc comment, so no model can know when to call it"),
            "say with `///` what it does and when to use it",
        );
    }
}

fn not_async(function: &Function, blocking: Option<Span>, report: &mut Report) {
    if let (Some(span), Some(_)) = (blocking, function.sig.asyncness) {
        report.at(
            span,
            format!("`{}` is async, and `blocking` is for functions that are not", function.name()),
            "remove one of the two",
        );
    }
}

/// Whether the runtime gives that name to a tool of its own.
pub(crate) fn is_reserved(name: &str) -> bool {
    matches!(name, "transfer_to_agent" | "set_model_response")
}

fn is_tool_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
        && name.len() <= LONGEST
}

/// Whether a body names `escalate`, so that the tool may end a loop.
pub(crate) fn names_escalate(body: TokenStream) -> bool {
    body.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "escalate",
        TokenTree::Group(group) => names_escalate(group.stream()),
        _ => false,
    })
}
