//! Which types are closed: their values carry no text, so that strangers cannot give orders through
//! them. All fields of a closed type are closed, and serde reads and writes it field by field.

use super::derives;
use crate::conditions;
use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, GenericArgument, Meta, PathArguments, Token, Type};

/// Attributes of serde that add no text of a stranger to a value. Every other attribute makes a
/// type open, also an attribute that a later version of serde adds.
const HARMLESS: [&str; 11] = [
    "alias",
    "content",
    "default",
    "deny_unknown_fields",
    "expecting",
    "rename",
    "rename_all",
    "rename_all_fields",
    "skip_serializing_if",
    "tag",
    "transparent",
];

/// Attributes of types that leave the type as it is. Every other attribute may be a macro.
const KNOWN: [&str; 15] = [
    "allow",
    "cfg",
    "default",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "warn",
];

/// Names of types that are open, so that rustc need not be asked.
const OPEN: [&str; 8] = [
    "String", "Vec", "Value", "Box", "HashMap", "BTreeMap", "HashSet", "BTreeSet",
];

/// Returns the constant `CLOSED` of `Numbered` for a type that may be closed.
pub(super) fn expand(input: &DeriveInput) -> Option<TokenStream> {
    let is_known = |attr: &Attribute| KNOWN.iter().any(|name| attr.path().is_ident(name));
    if !input.attrs.iter().all(is_known)
        || !is_harmless(&input.attrs)
        || derives(&input.attrs, "Serialize")
        || derives(&input.attrs, "Deserialize")
    {
        return None;
    }
    let mut fields: Vec<(&[Attribute], &Field)> = Vec::new();
    match &input.data {
        Data::Struct(data) => fields.extend(data.fields.iter().map(|field| (&[][..], field))),
        Data::Enum(data) => {
            for variant in &data.variants {
                if !is_harmless(&variant.attrs) {
                    return None;
                }
                fields.extend(variant.fields.iter().map(|field| (&*variant.attrs, field)));
            }
        }
        Data::Union(_) => return None,
    }
    let asked: Vec<_> = fields
        .into_iter()
        .map(|(around, field)| {
            let may_be = is_harmless(&field.attrs) && may_be_closed(&field.ty);
            may_be.then(|| {
                let conditions = conditions(around).chain(conditions(&field.attrs));
                let ty = &field.ty;
                quote!(#(#conditions)* let __closed = __closed && __typed::KeyFacts::<#ty>::CLOSED;)
            })
        })
        .collect::<Option<_>>()?;
    Some(quote! {
        const CLOSED: ::core::primitive::bool = {
            #[allow(unused_imports)]
            use __typed::KeyFactDefaults as _;
            let __closed = true;
            #(#asked)*
            __closed
        };
    })
}

/// Returns whether attributes let serde read and write a type, a variant or a field by its type.
fn is_harmless(attrs: &[Attribute]) -> bool {
    attrs.iter().all(|attr| {
        if attr.path().is_ident("cfg_attr") {
            return false;
        }
        if !attr.path().is_ident("serde") {
            return true;
        }
        let list = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        list.is_ok_and(|list| {
            list.iter()
                .all(|meta| HARMLESS.iter().any(|name| meta.path().is_ident(name)))
        })
    })
}

fn may_be_closed(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => may_be_closed(&group.elem),
        Type::Paren(paren) => may_be_closed(&paren.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let inside = match &last.arguments {
                PathArguments::AngleBracketed(list) if last.ident == "Option" => list.args.first(),
                _ => None,
            };
            match inside {
                Some(GenericArgument::Type(inside)) => may_be_closed(inside),
                _ => OPEN.iter().all(|name| last.ident != name),
            }
        }),
        _ => false,
    }
}
