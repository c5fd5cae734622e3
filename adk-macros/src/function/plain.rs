//! `#[agent]` on a function of which the spelling of its types says all. The library knows these types, so the expansion asks
//! nothing of rustc: it consists of names, and of one call of the function.

use super::args::AgentArgs;
use super::parse::{Function, Param, Source};
use crate::code::{code, hash};
use crate::typed::is_plain;
use crate::{docs, facade, place, types};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Type};

/// How many parameters the library knows.
const PARAMS: usize = 6;

/// The impl; `None` for a function with something that only rustc knows.
pub(super) fn expand(function: &Function, args: &AgentArgs) -> Option<TokenStream> {
    let written = args.writes.as_ref().map_or("", |key| &key.text);
    if args.exits.is_some() || args.timeout.is_some() || written.contains(':') {
        return None;
    }
    let (output, description) = (Output::of(function, args)?, docs::text(&function.attrs)?);
    let (mut types, mut keys, mut given) = (String::new(), String::new(), String::new());
    let adk = format!("{}::function", facade::path());
    for (at, (key, holder)) in params(function)?.into_iter().enumerate() {
        types += &format!("{adk}::{holder}, ");
        keys += &format!("({key:?}, {}), ", hash(key));
        given += &format!("__adk_params.{at}.__give(), ");
    }
    let (value, call) = output.of_call(function, &given, &adk);
    let (returned, call) = match (&function.sig.asyncness, args.blocking) {
        (Some(_), _) => {
            let waits = code!("{adk}::AsyncOutput::new");
            (format!("{adk}::AsyncOutput<{value}>"), quote!(#waits(#written, async move { #call })))
        }
        (None, Some(_)) => {
            let blocks = code!("{adk}::BlockingOutput");
            (format!("{adk}::BlockingOutput<{value}>"), quote!(#blocks(#call)))
        }
        (None, None) => (value, call),
    };
    let (ty, name) = (function.used(), function.name());
    let (conditions, (place, package)) = (super::conditions_text(function), place::parts());
    let written_as_number = hash(written);
    let may_be_deprecated =
        |attr: &syn::Attribute| attr.path().is_ident("deprecated") || attr.path().is_ident("cfg_attr");
    let deprecated = if function.attrs.iter().any(may_be_deprecated) { "#[allow(deprecated)]" } else { "" };
    let head = code!(
        "{conditions}
        #[automatically_derived]
        {deprecated}
        #[cfg_attr(clippy, allow(clippy::all, clippy::nursery, clippy::pedantic))]
        impl {adk}::PlainFunction for {ty}"
    );
    let inside = code!(
        "const ABOUT: {adk}::About = (
            {name:?},
            ::core::concat!(::core::module_path!(), \"::{name}\"),
            {place},
            {package},
            {description:?},
            &[({written:?}, {written_as_number}), {keys}],
        );
        type Params = ({types});
        type Output = {returned};
        fn call(__adk_params: ({types})) -> {returned}"
    );
    Some(quote!(#head { #inside { #call } }))
}

/// The type that the function returns.
struct Output {
    /// The type of the value, as it is spelled.
    value: String,
    /// Where rustc points at the error of a `Result`.
    error: Option<Span>,
}

impl Output {
    /// The output, where the library knows the type of the value and the type fits `writes`.
    fn of(function: &Function, args: &AgentArgs) -> Option<Self> {
        let ReturnType::Type(_, ty) = &function.sig.output else {
            return args.writes.is_none().then(|| Self { value: "()".to_owned(), error: None });
        };
        let result = types::argument(ty, "Result", 0);
        let value = result.unwrap_or(ty);
        let value = match (&args.writes, value) {
            (Some(_), Type::Path(_)) => spelled(value)?,
            (None, Type::Tuple(tuple)) if tuple.elems.is_empty() => "()".to_owned(),
            _ => return None,
        };
        Some(Self { value, error: result.map(|_| types::carets(&function.sig).1) })
    }

    /// The type of a call as text, and the call.
    fn of_call(self, function: &Function, given: &str, adk: &str) -> (String, TokenStream) {
        let (name, wait) = (function.used(), function.sig.asyncness.map_or("", |_| ".await"));
        let Some(error) = self.error else { return (self.value, code!("{name}({given}){wait}")) };
        // rustc points at the type of the error when it is none.
        let error = quote_spanned!(error=> _);
        let rest = code!("as {adk}::AgentFailure>::ok({name}({given}){wait})");
        (format!("{adk}::AgentResult<{}>", self.value), quote!(<#error #rest))
    }
}

/// The keys of the parameters, and what holds each.
fn params(function: &Function) -> Option<Vec<(&str, String)>> {
    let params = function.params.iter().map(|Param { name, source, ty, .. }| {
        let key = name.as_ref().filter(|key| *source == Source::Plain && !key.text.contains(':'))?;
        Some((&*key.text, holder(ty)?))
    });
    params.collect::<Option<Vec<_>>>().filter(|params| params.len() <= PARAMS)
}

fn holder(ty: &Type) -> Option<String> {
    Some(match (ty, spelled(ty)?) {
        (Type::Reference(_), text) if text == "str" => "BorrowedText".to_owned(),
        (Type::Reference(_), inside) => format!("Borrowed<{inside}>"),
        (_, value) => format!("Owned<{value}>"),
    })
}

/// The spelling of a plain type that the library knows, without a `&`: a list of lists is not among those.
fn spelled(ty: &Type) -> Option<String> {
    let inside = match ty {
        _ if !is_plain(ty) => return None,
        Type::Reference(reference) => &*reference.elem,
        ty => ty,
    };
    let name = |ty: &Type| match ty {
        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    match types::argument(inside, "Vec", 0) {
        Some(element) => Some(format!("Vec<{}>", name(element)?)),
        None => name(inside),
    }
}
