//! `#[agent]`.

mod checks;

use super::typed::{Key, Keys};
use super::{Names, block, name_of, output_types, types};
use crate::attr::check;
use crate::attr::parse::{AgentArgs, Function, plain};
use crate::attr::parts::mentions;
use crate::attr::report::Report;
use crate::bare::{self, Place, kept, kept_otherwise};
use crate::code::{code, read};
use crate::twice;
use crate::typed::{OPENED, is_plain};
use crate::{docs, hash, origin};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ReturnType;

/// The function, the hidden struct, and the impl.
pub(crate) fn agent(function: &Function, args: &AgentArgs, report: Report) -> TokenStream {
    let mut written = super::written(function, super::AGENT);
    // A type that is less visible is an error in our impl, which says it under the type.
    if !matches!(function.vis, syn::Visibility::Inherited) {
        written = quote!(#[allow(private_interfaces)] #written);
    }
    if function.associated {
        return report.beside(written);
    }
    let names = Names::new(function);
    let twin = super::twin(function);
    let tool = super::other::as_tool(function, args, &names, &report);
    let inside = if check::is_callable(function) {
        let (types, name) = (output_types(function), &names.name);
        // One fault, one message: what tokens show to be wrong is not judged by types as well.
        let checks = report.is_empty().then(|| checks::checks(function, args, &report));
        let asked = asked(function, args);
        let keys = Keys::of(function, args);
        let meta = meta(function, args, &keys, &report);
        let run = run(function, args, &names, &keys);
        let typed = keys.lower(function, &names);
        let key = args.writes.as_ref().map_or("", |key| &key.text);
        let head = code!(
            "#[automatically_derived]
            impl __adk::MadeByMacro for {name}"
        );
        let start = read("const META: &'static __adk::AgentMeta<'static> = &");
        let rest = code!(
            "fn made(&self) -> __adk::Making<'_> {{
                __adk::Making::Function({key:?}, __adk_begin)
            }}"
        );
        quote!(#types #asked #checks #typed #run #head { #start #meta; #rest })
    } else {
        inert(&names.name, &TokenStream::new())
    };
    let inside = quote!(#inside #tool);
    let block = block(&function.attrs, &inside);
    let all = [&written, &twin, &block];
    report.beside(twice::function(&function.sig.ident, &function.attrs, all))
}

/// An agent that does nothing, beside an error that says why; or else `refused` tells it where the agent is used.
pub(super) fn inert(name: &Ident, refused: &TokenStream) -> TokenStream {
    let text = plain(name);
    quote! {
        #[automatically_derived]
        impl __adk::Agent for #name {
            const META: __adk::AgentMeta<'static> = {
                #refused
                __adk::AgentMeta::new(__adk::AgentKind::Function, #text).faulty(true)
            };

            async fn run(&self, _: &mut __adk::Context) -> __adk::Result<__adk::Flow> {
                ::core::result::Result::Ok(__adk::Flow::Continue)
            }
        }
    }
}

fn meta(function: &Function, args: &AgentArgs, keys: &Keys, report: &Report) -> TokenStream {
    let text = function.name();
    let description = docs::description(&function.attrs).unwrap_or_else(|| quote!(""));
    let places = Keys::places(function);
    let all = function.params.iter().zip(&places).enumerate();
    let all = all.filter_map(|(at, (param, place))| {
        let Key { ty, any, optional, .. } = keys.of_read(at)?;
        let any = any.clone().unwrap_or_else(|| quote!(false));
        Some(key_spec(ty, &name_of(param), &types::spelled(&param.ty), optional, &any, *place))
    });
    let all: Vec<_> = all.collect();
    let reads = match function.params.first() {
        Some(first) if !is_plain(&first.ty) => {
            let first = fixed(&first.ty);
            quote!(__adk::function::reads(__adk::Probe::<#first>::CONTEXT, &[#(#all),*]))
        }
        _ => quote!(&[#(#all),*]),
    };
    let returns_plain = super::typed::is_plain(function);
    let [optional, may_exit] = if returns_plain {
        ["false"; 2]
    } else {
        ["__adk::Probe::<__AdkValue>::OPTIONAL", "__adk::Probe::<__AdkPlain>::FLOW != 0"]
    };
    let writes = args.writes.iter().map(|key| {
        let (spelled, of) = (types::written(&function.sig.output), keys.of_written());
        let opened = if types::is_opened(&function.sig.output) { OPENED } else { 0 };
        key_spec(&of, &key.text, &spelled, &read(optional), &quote!(false), 1 | opened)
    });
    let exits = args.exits.as_ref().map(|exits| {
        let loops = &exits.loops;
        quote!(.exits(&[#(#loops),*]))
    });
    let meta = if (0..function.params.len()).all(|at| keys.is_plain(at)) {
        read("__adk::function::meta")
    } else {
        read("__adk::function::meta_of_types")
    };
    let name =
        code!("{text:?}, ::core::concat!(::core::module_path!(), \"::{text}\"), {},", origin::number());
    let may_exit = read(may_exit);
    let faulty = faulty(function, args, report);
    quote!(#meta(#name #description, #reads, &[#(#writes),*], #may_exit) #exits #faulty)
}

/// Whether what is said of the function is told to be wrong: then nothing follows from it for a workflow.
fn faulty(function: &Function, args: &AgentArgs, report: &Report) -> Option<TokenStream> {
    if !report.is_empty() {
        return Some(read(".faulty(true)"));
    }
    let unit = "__adk::Probe::<__AdkValue>::UNIT";
    let returned = match (&args.writes, &function.sig.output) {
        (Some(_), _) if super::typed::is_plain(function) => None,
        (Some(_), _) => Some(read(unit)),
        (None, ReturnType::Default) => None,
        (None, ReturnType::Type(..)) => Some(code!("!{unit}")),
    };
    let written = (args.writes.is_some() && may_be_formless(function))
        .then(|| read("{ use __adk::bare::Otherwise as _; !__adk::bare::Probe::<__AdkValue>::WRITTEN }"));
    let unnamed = function.params.iter().any(|param| param.name.is_none());
    let unnamed = function.params.first().filter(|_| unnamed).map(|first| match first.name {
        None => {
            let first = fixed(&first.ty);
            quote!(!__adk::Probe::<#first>::CONTEXT)
        }
        Some(_) => quote!(true),
    });
    let all: Vec<_> = returned.into_iter().chain(written).chain(unnamed).collect();
    (!all.is_empty()).then(|| quote!(.faulty(#(#all)||*)))
}

/// Whether what is written is spelled as what mostly has no form: a future, something behind a trait, or a `Result` inside.
fn may_be_formless(function: &Function) -> bool {
    let returned = types::returned(&function.sig.output).map(ToTokens::to_token_stream);
    returned.is_some_and(|ty| mentions(ty, &["dyn", "fn", "Result"]))
}

/// A key whose type is known, as `KeySpec::typed` takes it.
fn key_spec(
    ty: &TokenStream,
    key: &str,
    spelled: &str,
    optional: &TokenStream,
    any: &TokenStream,
    place: u8,
) -> TokenStream {
    let (typed, key) = (read("__adk::KeySpec::typed"), hash::key(key));
    let (number, place) = (crate::typed::number(ty, spelled), code!("{place}"));
    quote!(#typed::<#ty>(#key, #spelled, #optional, #any, #number, #place))
}

fn fixed(ty: &syn::Type) -> TokenStream {
    types::fixed(quote!(#ty))
}

fn run(function: &Function, args: &AgentArgs, names: &Names, keys: &Keys) -> TokenStream {
    let Names { name, locals } = names;
    let loads = function.params.iter().zip(locals).enumerate().map(|(at, (param, local))| {
        let (ty, key) = (fixed(&param.ty), name_of(param));
        // A type that no key can hold is said where it stands: rustc points at the type before the `as`.
        let place = quote_spanned!(types::caret(&param.ty)=> _);
        let load = match types::is_lent(&param.ty) {
            _ if !keys.is_plain(at) && types::is_called_context(&param.ty) => {
                "as __adk::function::ContextRead>::load"
            }
            true => "as __adk::function::LentRead>::load",
            false => "as __adk::function::StateRead>::load",
        };
        let (start, load) = (code!("let {local} ="), read(load));
        let (arg, rest) = (read("__adk::function::Arg"), code!("NEW.__slot(), __adk_cx, {key:?}"));
        let ty = if super::is_context_by_value(&param.ty) {
            super::no_context(&param.ty, super::AGENT)
        } else {
            kept(&ty, Place::Parameter)
        };
        quote!(#start <#place #load(#arg::<#ty>::#rest)?;)
    });
    let blocking = args.blocking.filter(|_| function.sig.asyncness.is_none());
    let begin = match (locals.first(), blocking) {
        (None, _) => read("let __adk_how = __adk::function::Recorded;"),
        (Some(first), None) => code!("let ({first}, __adk_how) = {first}.__begin(__adk_cx);"),
        (Some(first), Some(_)) => code!("let ({first}, __adk_how) = {first}.__begin_blocking(__adk_cx);"),
    };
    let wait = function.sig.asyncness.map_or("", |_| ".await");
    // So are one that none can be written with, and what is no error.
    let (value, error) = types::carets(&function.sig);
    let error = quote_spanned!(error=> _);
    let value = match &args.writes {
        Some(key) => {
            let place =
                types::returned(&function.sig.output).and_then(|ty| kept_otherwise(ty, Place::Written));
            let place = place.unwrap_or_else(|| quote_spanned!(value=> _));
            let of = if may_be_formless(function) { "PlainWrite" } else { "StateWrite" };
            let key = &key.text;
            let write = code!(
                "as __adk::function::{of}>::json(
                    __adk::function::tag(&__adk_out).__value(__adk_out), {key:?})?"
            );
            quote!(<#place #write)
        }
        None => quote!(::core::option::Option::None),
    };
    let given: String = locals.iter().map(|local| format!("{local}.__give(),")).collect();
    let called = code!(
        "let __adk_out = {name}({given}) {wait};
        let __adk_out = __adk::function::tag(&__adk_out).__ok(__adk_out);
        let __adk_out ="
    );
    let failed = read(
        "as __adk::function::AgentFailure>::ok(__adk_out)?;
        let (__adk_out, __adk_flow) = __adk::function::tag(&__adk_out).__flow(__adk_out);",
    );
    let done = read("__adk::function::Done::new");
    let call = quote!(#called <#error #failed ::core::result::Result::Ok(#done(#value, __adk_flow)));
    let work = match (blocking, &function.sig.asyncness) {
        (Some(_), _) => quote!(block(move || { #call })),
        (None, Some(_)) => quote!(wait(async move { #call })),
        (None, None) => quote!(call(move || { #call })),
    };
    let head =
        read("fn __adk_begin(__adk_cx: &mut __adk::Context) -> __adk::Result<__adk::function::Work<'_>>");
    let names = read("use __adk::function::{AnyOutput as _, Held as _, LoadMaybe as _, LoadPlain as _};");
    quote!(#head { #names #(#loads)* #begin ::core::result::Result::Ok(__adk_how.#work) })
}

/// Asks of the types of parameters, and of what is written, whether they are data.
fn asked(function: &Function, args: &AgentArgs) -> TokenStream {
    let read = function.params.iter().map(|param| &param.ty).filter(|ty| !types::is_lent(ty));
    let written = args.writes.as_ref().and_then(|_| types::returned(&function.sig.output));
    let (read, written) = (bare::ask(read, Place::Parameter), bare::ask(written, Place::Written));
    quote!(#read #written)
}
