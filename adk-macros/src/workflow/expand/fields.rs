//! The fields of a declared LLM agent that are not constant data: its tools, and settings that may
//! change.

use super::super::ast::{Callback, Fields, Timeout, Tool, Tools};
use super::super::names;
use super::{closure, index, numbered_ident, raise};
use crate::code::{duration_of_millis, read};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Path};

/// An agent that the same workflow declares.
pub(super) enum OwnAgent {
    Llm(TokenStream),
    /// An agent that the caller supplies, so the workflow cannot create a tool from it.
    Supplied,
}

/// Returns the tools that the workflow creates. Each has the alias of its type, and the type of its
/// agent if the workflow declares that agent.
fn created_tools<'a>(
    number: usize,
    fields: &'a Fields,
    declared: &dyn Fn(&Path) -> Option<OwnAgent>,
) -> Vec<(Ident, &'a Tool, Option<TokenStream>)> {
    let all = fields.tools.list.iter().filter_map(|tool| {
        match declared(&tool.path).filter(|_| tool.is_agent) {
            // The checks have reported the tool.
            Some(OwnAgent::Supplied) => None,
            Some(OwnAgent::Llm(ty)) => Some((tool, Some(ty))),
            None => Some((tool, None)),
        }
    });
    let alias = |i| numbered_ident(&format!("Tool_{number}"), i);
    all.enumerate()
        .map(|(i, (tool, own))| (alias(i), tool, own))
        .collect()
}

pub(super) fn tool_types(
    number: usize,
    fields: &Fields,
    declared: &dyn Fn(&Path) -> Option<OwnAgent>,
) -> Vec<Ident> {
    created_tools(number, fields, declared)
        .into_iter()
        .map(|(alias, ..)| alias)
        .collect()
}

/// Returns the types and checks of the tools, their descriptions, and the code that creates them.
pub(super) fn tools(
    agent: &str,
    answer: &str,
    number: usize,
    fields: &Fields,
    declared: &dyn Fn(&Path) -> Option<OwnAgent>,
) -> (TokenStream, TokenStream, TokenStream) {
    let Tools { list, sets, .. } = &fields.tools;
    if list.is_empty() && sets.is_empty() {
        return Default::default();
    }
    let metas = numbered_ident("TOOLS", number);
    let mut items = TokenStream::new();
    let (mut described, mut made) = (Vec::new(), Vec::new());
    let mut raises = TokenStream::new();
    let raise_tool = numbered_ident("raise_tool", number);
    for (i, (alias, Tool { path, is_agent }, own)) in created_tools(number, fields, declared)
        .into_iter()
        .enumerate()
    {
        // Only this mention has a bound, so that a path that is not a tool is reported once.
        items.extend(match (&own, is_agent) {
            (Some(ty), _) => quote!(type #alias = #ty;),
            (None, true) => {
                quote!(type #alias = #path; const _: () = <(#path) as __wire::IsAgent>::YES;)
            }
            (None, false) => {
                quote!(type #alias = #path; const _: () = <(#path) as __wire::IsTool>::YES;)
            }
        });
        let (meta, make) = if *is_agent {
            (
                quote!(__adk::ToolMeta::of_agent(__wire::ItemFacts::<#alias>::AGENT_META_REF)),
                quote!(
                    <#alias as __adk::AgentTooling<{ __wire::ItemFacts::<#alias>::AGENT }>>::make()
                ),
            )
        } else {
            (
                quote!(__wire::ItemFacts::<#alias>::TOOL_META),
                quote!(<#alias as __wire::Tooling<{ __wire::ItemFacts::<#alias>::TOOL }>>::make()),
            )
        };
        described.push(meta);
        made.push(make);
        let span = names::last_segment(path).map_or_else(proc_macro2::Span::call_site, Ident::span);
        raises.extend(raise(span, &raise_tool, index(i)));
    }
    let functions = list.iter().filter(|tool| !tool.is_agent);
    let paths = functions.map(|tool| &tool.path);
    items.extend(super::functions::raise_functions("tool", number, paths));
    let own = described.len();
    let files = sets.iter().map(|(item, _)| numbered_ident("FILE", *item));
    let files: Vec<_> = files.collect();
    let all = if files.is_empty() {
        quote!([#(#described),*])
    } else {
        let count = quote!({ #own #(+ #files.count())* });
        quote!(__wire::with_file_tools::<#count>(&[#(#described),*], &[#(#files),*]))
    };
    let spans = sets.iter().map(|(_, name)| name.span()).take(1);
    raises.extend(spans.map(|span| raise(span, &raise_tool, index(own))));
    items.extend(quote! {
        const #metas: &[__adk::ToolMeta<'static>] = &#all;
        #[track_caller]
        const fn #raise_tool(__at: usize) {
            __adk::check::raise_tool(#agent, #answer, #metas, #own, __at);
        }
        #raises
    });
    let made = quote!(.tools(|| __wire::tools([#(#made),*])));
    (items, quote!(.tool_metas(#metas)), made)
}

/// Returns a function with the declared settings that a run may change, and the call that sets it.
///
/// An invalid value is an error in that function only, so that the agent is known and the flow is
/// still analysed.
pub(super) fn settings(
    number: usize,
    fields: &Fields,
    turns: Option<&Ident>,
) -> Option<(TokenStream, TokenStream)> {
    let some = |place: TokenStream, value: Option<TokenStream>| {
        let some = read("::core::option::Option::Some");
        value.map(|value| quote!(__settings.#place = #some(#value);))
    };
    let model = fields
        .calls
        .model
        .as_ref()
        .map(|model| quote!(__wire::IntoModel::model(#model)));
    let float = |value: &Option<Expr>| {
        value
            .as_ref()
            .map(|value| quote!(__wire::Float::float(#value)))
    };
    let whole = |value: &Option<Expr>, ty| value.as_ref().map(|value| exact_value(&ty, value));
    let timeout = fields.calls.timeout.as_ref().map(duration);
    let retry = fields
        .calls
        .retry
        .as_ref()
        .map(|retry| quote!(__settings.retry = __wire::IntoRetry::retry(#retry);));
    let stop = (!fields.generation.stop.is_empty()).then(|| {
        let stop = &fields.generation.stop;
        quote!(__settings.generation.stop = ::std::vec![#(__wire::IntoText::text(#stop)),*];)
    });
    let budget = fields
        .budget
        .as_ref()
        .map(|text| quote!(const { __adk::spec::Budget::of(#text) }));
    let fallback = (!fields.calls.fallback.is_empty()).then(|| {
        let models = &fields.calls.fallback;
        quote!(__settings.fallback = ::std::vec![#(__wire::IntoModel::model(#models)),*];)
    });
    let callbacks = (!fields.callbacks.is_empty())
        .then(|| callbacks(quote!(&mut __settings), &fields.callbacks));
    let all: TokenStream = [
        some(quote!(model), model),
        some(
            quote!(generation.temperature),
            float(&fields.generation.temperature),
        ),
        some(quote!(generation.top_p), float(&fields.generation.top_p)),
        some(
            quote!(generation.max_output_tokens),
            whole(&fields.generation.max_output_tokens, quote!(u32)),
        ),
        some(
            quote!(generation.seed),
            whole(&fields.generation.seed, quote!(u64)),
        ),
        some(quote!(timeout), timeout),
        some(quote!(budget), budget),
        some(quote!(max_turns), turns.map(ToTokens::to_token_stream)),
        retry,
        stop,
        fallback,
        callbacks,
    ]
    .into_iter()
    .flatten()
    .collect();
    (!all.is_empty()).then(|| {
        let name = numbered_ident("settings", number);
        let head = read("-> __adk::llm::LlmSettings");
        let start = read(
            "let mut __settings: __adk::llm::LlmSettings = ::core::default::Default::default();",
        );
        (
            quote!(fn #name() #head { #start #all __settings }),
            quote!(.settings(#name)),
        )
    })
}

/// Returns a value that must have exactly that type, as the field of a struct: for a wrong type
/// rustc then reports only the value, and not the generated code that requires the type.
pub(super) fn exact_value(ty: &TokenStream, value: &Expr) -> TokenStream {
    quote!(__wire::Exactly::<#ty> { value: #value }.value)
}

/// Adds callbacks to settings or to a block. `to` is a reference, so that a method of the type wins
/// over a trait that is implemented for all types.
pub(super) fn callbacks(to: TokenStream, all: &[Callback]) -> TokenStream {
    let add = all.iter().map(|Callback { hook, value }| {
        let name = hook.to_string();
        let list = if name.contains("_agent") {
            quote!(callbacks)
        } else if name.contains("_model") {
            quote!(model_callbacks)
        } else {
            quote!(tool_callbacks)
        };
        let method = match name.split('_').next() {
            Some("before") => "before",
            Some("after") => "after",
            _ => "on_error",
        };
        // The method has the span of the hook, so that rustc underlines the hook instead of the
        // workflow.
        let (to, method) = (quote!((#to.#list)), Ident::new(method, hook.span()));
        closure::closure_callback(&to, &method, hook, value)
            .unwrap_or_else(|| quote!(#to.#method(#value);))
    });
    add.collect()
}

pub(super) fn duration(timeout: &Timeout) -> TokenStream {
    match timeout {
        Timeout::Millis(millis) => duration_of_millis(*millis),
        Timeout::Value(value) => exact_value(&quote!(::core::time::Duration), value),
    }
}
