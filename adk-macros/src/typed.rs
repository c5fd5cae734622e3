//! `impl Typed`: the types of what an agent reads and writes, as `key-type` compares them by traits.

use crate::code::read;
use crate::leak;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericArgument, Path, PathArguments, Type};

/// How many keys have a place there: `FEW`, `READS` and `WRITES` of `adk_core::check`.
pub(crate) const FEW: usize = 3;
pub(crate) const READS: usize = 4;
pub(crate) const WRITES: usize = 4;

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

/// `head` is `impl ... Typed for ...`, `private` the path of what the macros use. A function has room for few.
pub(crate) fn implement(
    head: &TokenStream,
    reads: &[(&Type, TokenStream)],
    writes: &[(&Type, TokenStream)],
    room: usize,
) -> TokenStream {
    let absent = read("__typed::Absent");
    let tuple = |name: &str, given: &[(&Type, TokenStream)], places: &[u8], from: usize, count: usize| {
        let at = |place: usize| {
            let found = places.iter().position(|&other| usize::from(other) == place);
            let ty = found.and_then(|i| given.get(i)).map(|(_, ty)| ty.clone());
            ty.unwrap_or_else(|| absent.clone())
        };
        let all = (from..from + count).map(|place| at(place + 1));
        let here = given
            .iter()
            .zip(places)
            .filter(|(_, place)| (from + 1..=from + count).contains(&usize::from(**place)));
        let everywhere = reads.iter().chain(writes).map(|(ty, _)| *ty);
        leak::associated(name, &quote!((#(#all,)*)), here.map(|((ty, _), _)| *ty), everywhere)
    };
    let read = places(reads.iter().map(|(ty, _)| *ty), room);
    let written = places(writes.iter().map(|(ty, _)| *ty), WRITES);
    let (few, more) = (tuple("Reads", reads, &read, 0, FEW), tuple("More", reads, &read, FEW, READS - FEW));
    let writes = tuple("Writes", writes, &written, 0, WRITES);
    quote! {
        #head {
            #few
            #more
            #writes
        }
    }
}

/// The key's type of a parameter whose spelling says all.
pub(crate) fn plain(ty: &Type) -> Option<TokenStream> {
    let path = plain_path(ty)?;
    Some(match path.is_ident("str") {
        true => read("::std::string::String"),
        false => quote!(#path),
    })
}

/// Whether the spelling of a type says all, as that of `&str` does: nobody hides another behind it.
pub(crate) fn is_plain(ty: &Type) -> bool {
    plain_path(ty).is_some()
}

fn plain_path(ty: &Type) -> Option<&Path> {
    const PLAIN: [&str; 18] = [
        "String", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
        "i32", "i64", "i128", "isize", "str",
    ];
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
