//! An agent that was meant as a tool, and a tool that was meant as an agent.
//!
//! Of such a function its attribute tells what is wrong. So wherever it stands as what it was meant to be, nothing is said once
//! more: it is that as well, and does nothing.

use super::{Names, agent, fixed, tool, types};
use crate::attr::parse::{AgentArgs, Function};
use crate::attr::parts::mentions;
use crate::attr::report::Report;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{ReturnType, Type};

/// What an agent is as a tool, when it is told to be wrong as an agent.
pub(super) fn as_tool(
    function: &Function,
    args: &AgentArgs,
    names: &Names,
    report: &Report,
) -> Option<TokenStream> {
    let is_right = if !report.is_empty() {
        quote!(false)
    } else if let Some(ty) = takes(function, "ToolContext") {
        quote!(__adk::Probe::<#ty>::CONTEXT)
    } else if args.writes.is_none() && returns_value(function) {
        quote!(__adk::Probe::<__AdkValue>::UNIT)
    } else {
        return None;
    };
    let note =
        format!("tool-attribute: `{}` is an agent and not a tool; help: write `agent({0})`", function.name());
    Some(tool::inert(&names.name, &unless(function, &is_right, &note)))
}

/// What a tool is as an agent, when it is told to be wrong as a tool.
pub(super) fn as_agent(function: &Function, names: &Names, report: &Report) -> Option<TokenStream> {
    let is_right = match takes(function, "Context") {
        _ if !report.is_empty() => quote!(false),
        Some(ty) => quote!(__adk::Probe::<#ty>::TOOL_CONTEXT),
        None => return None,
    };
    let note = format!(
        "agent-attribute: `{}` is a tool and not an agent; help: put `#[agent]` on a function that calls it",
        function.name()
    );
    Some(agent::inert(&names.name, &unless(function, &is_right, &note)))
}

/// Tokens show how a type is spelled, which may be an alias: then nothing is told of the function, and its use is.
fn unless(function: &Function, is_right: &TokenStream, note: &str) -> TokenStream {
    let place = function.sig.ident.span();
    let (refuse, arguments) =
        (quote_spanned!(place=> (__adk::refuse)), quote_spanned!(place=> (#is_right, #note)));
    quote!(#refuse #arguments;)
}

/// The type of the context that is called so, borrowed to be changed.
fn takes(function: &Function, name: &str) -> Option<TokenStream> {
    let mut types = function.params.iter().map(|param| &param.ty);
    let found = types.find(|ty| match ty {
        Type::Reference(lent) if lent.mutability.is_some() => match &*lent.elem {
            Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == name),
            _ => false,
        },
        _ => false,
    });
    found.map(|ty| fixed(quote!(#ty)))
}

/// Whether what it returns is spelled as a value that is no `Flow`.
fn returns_value(function: &Function) -> bool {
    let ReturnType::Type(_, ty) = &function.sig.output else { return false };
    let value = types::returned(&function.sig.output).map(ToTokens::to_token_stream);
    !mentions(ty.to_token_stream(), &["Flow"]) && value.is_some_and(|value| value.to_string() != "()")
}
