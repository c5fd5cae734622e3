//! `#[agent]` on a function of which the spelling of its types says all. The library knows these types, so the expansion asks
//! nothing of rustc: it consists of names, and of one call of the function.

use super::args::AgentArgs;
use super::parse::{Function, Param, Source};
use crate::code::{code, hash, read};
use crate::typed::is_plain;
use crate::{docs, place, types};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeReference};

/// How many parameters the library knows.
const PARAMS: usize = 6;

/// The impl for the marker; `None` for a function with something that only rustc knows.
pub(super) fn expand(function: &Function, args: &AgentArgs) -> Option<TokenStream> {
    let (params, description) = (params(function)?, docs::text(&function.attrs)?);
    let output = output(function, args)?;
    if args.exits.is_some() || args.timeout.is_some() {
        return None;
    }
    let written = args.writes.as_ref().map_or("", |key| &key.text);
    if written.contains(':') {
        return None;
    }
    let (types, keys, given): (Vec<_>, Vec<_>, Vec<_>) = params
        .enumerate()
        .map(|(at, (key, holder))| {
            (format!("{holder}, "), format!("({key:?}, {}), ", hash(key)), format!("__adk_from.{at}.__give(), "))
        })
        .collect();
    let (types, keys, given) = (types.concat(), keys.concat(), given.concat());
    let (marker, name, text) = (super::marker(function), function.used(), function.name());
    let (wrapper, call) = match (function.sig.asyncness, args.blocking) {
        (Some(_), _) => (
            Some("Waits"),
            code!("__adk::function::Waits::new({written:?}, async move {{ {name}({given}).await }})"),
        ),
        (None, Some(_)) => (Some("Blocks"), code!("__adk::function::Blocks({name}({given}))")),
        (None, None) => (None, code!("{name}({given})")),
    };
    let output = match wrapper {
        Some(wrapper) => {
            let wrapper = code!("__adk::function::{wrapper}");
            quote!(#wrapper<#output>)
        }
        None => output,
    };
    let head = code!("impl __adk::function::PlainFunction for {marker}");
    let (file, package) = place::parts();
    let facts = code!(
        "const ABOUT: __adk::function::About = __adk::function::About {{
            name: {text:?},
            definition: ::core::concat!(::core::module_path!(), \"::{text}\"),
            scope: ({file}, {package}),
            description: {description:?},
            reads: &[{keys}],
            writes: ({written:?}, {}),
        }};
        type Params = ({types});
        type Output =",
        hash(written),
    );
    let method = code!("fn call(__adk_from: ({types})) -> Self::Output");
    Some(quote!(#head { #facts #output; #method { #call } }))
}

/// The keys of the parameters, and what holds each.
fn params(function: &Function) -> Option<impl Iterator<Item = (&str, String)>> {
    let are_plain = function.params.len() <= PARAMS && function.params.iter().all(|param| {
        param.source == Source::Plain && is_plain(&param.ty) && name(param).is_some() && known(&param.ty)
    });
    are_plain.then(|| function.params.iter().filter_map(|param| Some((name(param)?, holder(&param.ty)))))
}

/// The key of a parameter, without a prefix.
fn name(param: &Param) -> Option<&str> {
    param.name.as_ref().map(|key| &*key.text).filter(|text| !text.contains(':'))
}

fn holder(ty: &Type) -> String {
    match ty {
        Type::Reference(TypeReference { elem, .. }) => match &*types::spelled(elem) {
            "str" => "__adk::function::Text".to_owned(),
            spelled => format!("__adk::function::Borrowed<{spelled}>"),
        },
        ty => format!("__adk::function::Owned<{}>", types::spelled(ty)),
    }
}

/// The type that the function returns, where the library knows it and it fits `writes`.
fn output(function: &Function, args: &AgentArgs) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = &function.sig.output else {
        return args.writes.is_none().then(|| read("()"));
    };
    let value = result(ty).unwrap_or(ty);
    let is_unit = matches!(value, Type::Tuple(tuple) if tuple.elems.is_empty());
    let is_value = !matches!(value, Type::Reference(_)) && is_plain(value) && known(value);
    let fits = if args.writes.is_some() { is_value } else { is_unit };
    fits.then(|| ty.to_token_stream())
}

/// The value of a `Result` whose error is not named here. Where it is, rustc points at it if it is no error.
fn result(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    match &last.arguments {
        PathArguments::AngleBracketed(list) if list.args.len() == 1 => match list.args.first() {
            Some(GenericArgument::Type(value)) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the library knows a plain type: lists of lists have too many spellings.
fn known(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => known(&reference.elem),
        ty => types::argument(ty, "Vec", 0).and_then(|inside| types::argument(inside, "Vec", 0)).is_none(),
    }
}
