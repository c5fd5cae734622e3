//! `impl Typed`: the types of what an agent reads and writes, as `key-type` compares them by traits.

use crate::code::read;
pub(crate) use adk_spec::number::{READS, WRITES};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericArgument, Path, PathArguments, Type};

/// Types whose spelling says all.
const PLAIN: [&str; 18] = [
    "String", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
    "i64", "i128", "isize", "str",
];

/// Each type with the user's type that it is made of.
pub(crate) type Made<'a> = Vec<(&'a Type, TokenStream)>;

/// Which place each key has there, counted from 1; 0 is none. Types whose spelling says all come last, since they have
/// numbers, by which they are compared.
pub(crate) fn places<'a>(types: impl IntoIterator<Item = &'a Type>, room: usize) -> Vec<u8> {
    let types: Vec<_> = types.into_iter().collect();
    let mut places = vec![0; types.len()];
    let mut next = 1;
    for plain_ones in [false, true] {
        for (place, ty) in places.iter_mut().zip(&types) {
            // What is borrowed to be changed is the context.
            let is_context = matches!(ty, Type::Reference(reference) if reference.mutability.is_some());
            if !is_context && is_plain(ty) == plain_ones && usize::from(next) <= room {
                *place = next;
                next += 1;
            }
        }
    }
    places
}

/// `head` is `impl ... Typed for ...`; what is read is given as `Typed::Reads` says it, and what is written as the type itself.
pub(crate) fn implement<'t>(
    head: &TokenStream,
    reads: &'t [(&'t Type, TokenStream)],
    writes: &'t [(&'t Type, TokenStream)],
) -> TokenStream {
    let reads = list(in_places(reads, READS).iter().map(|(_, read)| read.clone()));
    let writes = list(in_places(writes, WRITES).iter().map(|(_, ty)| quote!(__typed::Is<#ty>)));
    quote! {
        #head {
            type Reads = #reads;
            type Writes = #writes;
        }
    }
}

/// The number of the type of a key. Of what is spelled as a `Vec` and may have none, it says as well whether that is the
/// standard library's.
pub(crate) fn number(ty: &TokenStream, spelled: &str) -> TokenStream {
    let number = quote!(__typed::KeyFacts::<#ty>::NUMBER);
    let shown = spelled.trim_start_matches('&').trim_start_matches("Option<").trim_start_matches('&');
    let inside = shown.trim_start_matches("Vec<").trim_end_matches('>');
    if shown.starts_with("Vec<") && !PLAIN.contains(&inside) {
        quote!(__typed::listed(#number, __typed::KeyFacts::<#ty>::LIST))
    } else {
        number
    }
}

/// Beside the place of a type that is spelled without the `Option` around it: `OPENED` of `adk_core::spec`.
pub(crate) const OPENED: u8 = 0x80;

/// Those that have a place, in the order of their places.
fn in_places<'a, 't>(given: &'a [(&'t Type, TokenStream)], room: usize) -> Vec<&'a (&'t Type, TokenStream)> {
    let places = places(given.iter().map(|(ty, _)| *ty), room);
    let mut placed: Vec<_> = given.iter().zip(places).filter(|(_, place)| *place > 0).collect();
    placed.sort_by_key(|(_, place)| *place);
    placed.into_iter().map(|(key, _)| key).collect()
}

/// `(A, (B, ()))`.
pub(crate) fn list(types: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    types.rev().fold(quote!(()), |rest, ty| quote!((#ty, #rest)))
}

/// The key's type of a parameter whose spelling says all.
pub(crate) fn plain(ty: &Type) -> Option<TokenStream> {
    let path = plain_path(ty)?;
    Some(if path.is_ident("str") { read("::std::string::String") } else { quote!(#path) })
}

/// Whether the spelling of a type says all, as that of `&str` does: nobody names another type so.
pub(crate) fn is_plain(ty: &Type) -> bool {
    plain_path(ty).is_some()
}

/// Whether that is the name of such a type.
pub(crate) fn is_plain_name(name: &str) -> bool {
    PLAIN.contains(&name)
}

fn plain_path(ty: &Type) -> Option<&Path> {
    let ty = match ty {
        Type::Reference(reference) if reference.mutability.is_none() => &*reference.elem,
        ty => ty,
    };
    let Type::Path(path) = ty else { return None };
    let segment =
        path.path.segments.last().filter(|_| path.qself.is_none() && path.path.segments.len() == 1)?;
    let is_plain = match &segment.arguments {
        PathArguments::None => PLAIN.iter().any(|name| segment.ident == name),
        PathArguments::AngleBracketed(list) if segment.ident == "Vec" && list.args.len() == 1 => {
            matches!(list.args.first(), Some(GenericArgument::Type(inner @ Type::Path(_))) if is_plain(inner))
        }
        _ => false,
    };
    is_plain.then_some(&path.path)
}
