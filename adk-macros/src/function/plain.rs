//! `#[agent]` on a function with plain types only, such as `&str` and `u32`. The library knows
//! these types, so the expansion asks no trait about them: it has the names, and one call of the
//! function.

use super::args::AgentArgs;
use super::parse::{Function, Param, Source};
use crate::code::{code, hash};
use crate::typed::is_plain;
use crate::{docs, facade, place, types};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Type};

/// Maximum number of parameters that the library supports.
const PARAMS: usize = 6;

/// Returns the impl, or `None` if the function has a type that is not plain.
pub(super) fn expand(function: &Function, args: &AgentArgs) -> Option<TokenStream> {
    let written = args.writes.as_ref().map_or("", |key| &key.text);
    let has_more = args.exits.is_some() || args.timeout.is_some() || !args.labels.is_empty();
    if has_more || written.contains(':') {
        return None;
    }
    let (output, description) = (
        PlainOutput::new(function, args)?,
        docs::text(&function.attrs)?,
    );
    let (mut types, mut keys, mut given) = (String::new(), String::new(), String::new());
    let adk = format!("{}::function", facade::path());
    for (at, (key, holder)) in params(function)?.into_iter().enumerate() {
        types += &format!("{adk}::{holder}, ");
        keys += &format!("({key:?}, {}), ", hash(key));
        given += &format!("__adk_params.{at}.__give(), ");
    }
    let (value, call) = output.call(function, &given, &adk);
    let (returned, call) = match (&function.sig.asyncness, args.blocking) {
        (Some(_), _) => {
            let waits = code!("{adk}::AsyncOutput::new");
            (
                format!("{adk}::AsyncOutput<{value}>"),
                quote!(#waits(#written, async move { #call })),
            )
        }
        (None, Some(_)) => {
            let blocks = code!("{adk}::BlockingOutput");
            (
                format!("{adk}::BlockingOutput<{value}>"),
                quote!(#blocks(#call)),
            )
        }
        (None, None) => (value, call),
    };
    let (ty, name) = (function.unspanned_name(), function.name());
    let (conditions, (place, package)) = (super::conditions_text(function), place::parts());
    let written_as_number = hash(written);
    let may_be_deprecated = |attr: &syn::Attribute| {
        attr.path().is_ident("deprecated") || attr.path().is_ident("cfg_attr")
    };
    let deprecated = if function.attrs.iter().any(may_be_deprecated) {
        "#[allow(deprecated)]"
    } else {
        ""
    };
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

/// The return type of the function.
struct PlainOutput {
    /// The value type, as the user spelled it.
    value: String,
    /// The span for errors about the error type of a `Result`.
    error: Option<Span>,
}

impl PlainOutput {
    /// Returns the output if the library knows the value type and the type fits `writes`.
    fn new(function: &Function, args: &AgentArgs) -> Option<Self> {
        let ReturnType::Type(_, ty) = &function.sig.output else {
            return args.writes.is_none().then(|| Self {
                value: "()".to_owned(),
                error: None,
            });
        };
        let result = types::argument(ty, "Result", 0);
        let value = result.unwrap_or(ty);
        let value = match (&args.writes, value) {
            (Some(_), Type::Path(_)) => plain_spelling(value)?,
            (None, Type::Tuple(tuple)) if tuple.elems.is_empty() => "()".to_owned(),
            _ => return None,
        };
        Some(Self {
            value,
            error: result.map(|_| types::carets(&function.sig).1),
        })
    }

    /// Returns the type of a call as text, and the call.
    fn call(self, function: &Function, given: &str, adk: &str) -> (String, TokenStream) {
        let (name, wait) = (
            function.unspanned_name(),
            function.sig.asyncness.map_or("", |_| ".await"),
        );
        let Some(error) = self.error else {
            return (self.value, code!("{name}({given}){wait}"));
        };
        // rustc reports a type that is not an error here.
        let error = quote_spanned!(error=> _);
        let rest = code!("as {adk}::AgentFailure>::ok({name}({given}){wait})");
        (
            format!("{adk}::AgentResult<{}>", self.value),
            quote!(<#error #rest),
        )
    }
}

/// Returns the keys of the parameters, each with the type that holds its value.
fn params(function: &Function) -> Option<Vec<(&str, String)>> {
    let params = function.params.iter().map(
        |Param {
             name, source, ty, ..
         }| {
            let key = name
                .as_ref()
                .filter(|key| *source == Source::Plain && !key.text.contains(':'))?;
            Some((&*key.text, holder(ty)?))
        },
    );
    params
        .collect::<Option<Vec<_>>>()
        .filter(|params| params.len() <= PARAMS)
}

fn holder(ty: &Type) -> Option<String> {
    Some(match (ty, plain_spelling(ty)?) {
        (Type::Reference(_), text) if text == "str" => "Lent<::std::string::String>".to_owned(),
        (Type::Reference(_), inside) => format!("Borrowed<{inside}>"),
        (_, value) => format!("Owned<{value}>"),
    })
}

/// Returns the spelling of a plain type that the library knows, without `&`. The library does not
/// know lists of lists.
fn plain_spelling(ty: &Type) -> Option<String> {
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
