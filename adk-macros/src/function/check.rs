//! Checks of `#[agent]` and `#[tool]` that need tokens only. Consts in the expansion check types.

use super::args::{AgentArgs, ByHandArgs, StateKey, Timeout, ToolArgs};
use super::parse::{ByHand, Function, Source};
use crate::diag::{Diagnostic, Diagnostics};
use crate::docs;
use crate::types::{check_named, check_readable, check_storable, option_value};
use adk_spec::Check;
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{GenericParam, ReturnType, Type};

/// Maximum length of a tool name that models accept.
const LONGEST: usize = 64;

/// Checks the rules that `#[agent]` and `#[tool]` share.
fn function<'a>(
    function: &'a Function,
    writes: impl Iterator<Item = &'a StateKey>,
    report: &mut Diagnostics,
) {
    let sig = &function.sig;
    for param in &sig.generics.params {
        if !matches!(param, GenericParam::Lifetime(_)) {
            let fact = format!(
                "`{}` is generic, so it has no types to check",
                function.name()
            );
            report.refuse(
                param.span(),
                fact,
                "write it for the types that it is used with",
            );
        }
    }
    if let Some(token) = &sig.variadic {
        report.refuse(
            token.span(),
            "it takes any number of arguments",
            "take a `Vec<T>`",
        );
    } else if let syn::Safety::Unsafe(token) = &sig.safety {
        let fact = "an `unsafe` function has requirements that the macro cannot check";
        report.refuse(token.span, fact, "wrap it in a safe one");
    }
    match &sig.output {
        ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_)) => {
            let fact = format!(
                "`{}` never returns, so nothing comes after it",
                function.name()
            );
            report.refuse(ty.span(), fact, "return a value, `Flow`, or nothing");
        }
        ReturnType::Type(_, ty) => report.hint(check_named(ty)),
        ReturnType::Default => {}
    }
    function
        .params(Source::Key)
        .for_each(|param| report.hint(check_readable(&param.ty)));
    function
        .params(Source::Out)
        .for_each(|param| report.hint(check_storable(&param.ty)));
    let outs = function
        .params(Source::Out)
        .filter_map(|param| param.name.as_ref());
    check_unique("written", writes.chain(outs), report);
}

fn check_unique<'a>(
    verb: &str,
    keys: impl Iterator<Item = &'a StateKey>,
    report: &mut Diagnostics,
) {
    let mut seen: Vec<&str> = Vec::new();
    for key in keys {
        if seen.contains(&key.text.as_str()) {
            report.refuse(
                key.span,
                format!("`{}` is {verb} twice", key.text),
                "remove one of them",
            );
        }
        seen.push(&key.text);
    }
}

pub(super) fn agent(function: &Function, args: &AgentArgs, report: &mut Diagnostics) {
    check_labels(&args.labels, report);
    self::function(function, args.writes.iter(), report);
    check_timing(function, args.blocking, args.timeout, report);
    for param in function.params(Source::Plain) {
        report.hint(check_readable(&param.ty));
        if let Some((span, _)) = &param.default {
            report.refuse(
                *span,
                "a parameter of an agent reads a key, which has no default",
                "take an `Option`, or write the default with `let` in the workflow",
            );
        }
    }
}

pub(super) fn by_hand(item: &ByHand, args: &ByHandArgs, report: &mut Diagnostics) {
    let last = item
        .trait_path
        .as_ref()
        .and_then(|path| path.segments.last());
    if last.is_none_or(|last| last.ident != "Agent") {
        let span = item
            .trait_path
            .as_ref()
            .map_or_else(|| item.ty.span(), Spanned::span);
        report.refuse(span, "this `impl` makes no agent", super::AGENTS);
    }
    for (list, keys) in [("read", &args.reads), ("written", &args.writes)] {
        check_unique(list, keys.iter().map(|key| &key.key), report);
    }
}

pub(super) fn tool(function: &Function, args: &ToolArgs, report: &mut Diagnostics) {
    check_labels(&args.labels, report);
    self::function(function, args.writes.iter().map(|write| &write.key), report);
    check_timing(function, args.blocking, args.timeout, report);
    if let (Some((span, _)), None) = (&args.by, &args.confirm) {
        let fact = format!(
            "`by` names the users who confirm calls of `{}`, but no call needs confirmation",
            function.name()
        );
        report.refuse(*span, fact, "add `confirm`, or remove `by`");
    }
    for param in function.params(Source::Plain) {
        if let Err(hint) = check_readable(&param.ty) {
            report.push(Diagnostic::new(Check::ToolArgument, hint.span, hint.fact).help(hint.help));
        }
        if let (
            Some((span, _)),
            Type::Reference(syn::TypeReference {
                mutability: Some(_),
                ..
            }),
        ) = (&param.default, option_value(&param.ty))
        {
            report.refuse(
                *span,
                "a mutable reference is the context, which has no default",
                "remove it",
            );
        }
    }
    let name = args
        .name
        .as_ref()
        .map_or_else(|| function.name(), syn::LitStr::value);
    let span = args
        .name
        .as_ref()
        .map_or_else(|| function.sig.ident.span(), syn::LitStr::span);
    if matches!(name.as_str(), "transfer_to_agent" | "set_model_response") {
        report.push(
            Diagnostic::new(
                Check::ToolReserved,
                span,
                format!("the runtime gives the name `{name}` to a tool of its own"),
            )
            .help("give this one another, or write `#[tool(name = \"...\")]`"),
        );
    } else if !is_tool_name(&name) {
        let help = format!(
            "begin with a letter or `_`, continue with letters, digits, `_` and `-`, and use at \
             most {LONGEST} characters"
        );
        report.refuse(
            span,
            format!("models do not accept `{name}` as the name of a tool"),
            help,
        );
    }
    if docs::description(&function.attrs).is_none() {
        report.push(
            Diagnostic::new(
                Check::ToolUndocumented,
                function.sig.ident.span(),
                format!(
                    "the tool `{name}` has no doc comment, so no model can know when to call it"
                ),
            )
            .help("describe with `///` what it does and when to use it"),
        );
    }
}

/// Checks that `local` is the only label.
fn check_labels(labels: &[Ident], report: &mut Diagnostics) {
    let local = labels.iter().find(|label| *label == "local");
    let other = labels.iter().find(|label| *label != "local");
    if let Some((local, other)) = local.zip(other) {
        let fact = format!("`local` says that no other label applies, and `{other}` is one");
        report.refuse(local.span(), fact, "remove one of the two");
    }
}

/// Checks that `blocking` and `timeout` fit the function: sync or async.
fn check_timing(
    function: &Function,
    blocking: Option<Span>,
    timeout: Option<Timeout>,
    report: &mut Diagnostics,
) {
    let name = function.name();
    match (blocking, function.sig.asyncness, timeout) {
        (Some(span), Some(_), _) => {
            let fact = format!("`{name}` is async, and `blocking` is for functions that are not");
            report.refuse(span, fact, "remove one of the two");
        }
        (None, None, Some((span, _))) => {
            let fact =
                format!("`{name}` is neither async nor `blocking`, so no timeout can end it");
            report.refuse(span, fact, "make it `async`, or add `blocking`");
        }
        _ => {}
    }
}

fn is_tool_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
        && name.len() <= LONGEST
}
