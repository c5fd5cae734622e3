//! `impl Typed`: the types that an agent reads and writes, which `key-type` compares by traits.

use crate::code::read;
pub(crate) use adk_spec::number::{READS, WRITES};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, Path, PathArguments, Type};

/// Names of types that no other type has.
const PLAIN: [&str; 18] = [
    "String", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8",
    "i16", "i32", "i64", "i128", "isize", "str",
];

/// Types of the user, each with the type that represents it in `impl Typed`.
pub(crate) type TypePairs<'a> = Vec<(&'a Type, TokenStream)>;

/// Returns the place of each key in `impl Typed`, counted from 1. At most `room` keys get a place,
/// and the others get 0. Plain types come last, because their numbers identify them, so they need
/// no place.
pub(crate) fn places<'a>(types: impl IntoIterator<Item = &'a Type>, room: usize) -> Vec<u8> {
    let types: Vec<_> = types.into_iter().collect();
    let mut places = vec![0; types.len()];
    let mut next = 1;
    for plain_ones in [false, true] {
        for (place, ty) in places.iter_mut().zip(&types) {
            // A mutable reference is the context.
            let is_context =
                matches!(ty, Type::Reference(reference) if reference.mutability.is_some());
            if !is_context && is_plain(ty) == plain_ones && usize::from(next) <= room {
                *place = next;
                next += 1;
            }
        }
    }
    places
}

/// Implements `Typed`. `head` is `impl ... Typed for ...`. Types in `reads` have the form of
/// `Typed::Reads`; types in `writes` are the types themselves.
pub(crate) fn implement<'t>(
    head: &TokenStream,
    reads: &'t [(&'t Type, TokenStream)],
    writes: &'t [(&'t Type, TokenStream)],
) -> TokenStream {
    let reads = list(
        in_order_of_places(reads, READS)
            .iter()
            .map(|(_, read)| read.clone()),
    );
    let writes = list(
        in_order_of_places(writes, WRITES)
            .iter()
            .map(|(_, ty)| quote!(__typed::Is<#ty>)),
    );
    quote! {
        #head {
            type Reads = #reads;
            type Writes = #writes;
        }
    }
}

/// Returns the expression for the number that identifies the type of a key. For a type that is
/// spelled as a `Vec` and may have no number, the expression also determines whether it is the
/// `Vec` of the standard library.
fn number(ty: &TokenStream, spelled: &str) -> TokenStream {
    let number = quote!(__typed::KeyFacts::<#ty>::NUMBER);
    let target = spelled
        .trim_start_matches('&')
        .trim_start_matches("Option<")
        .trim_start_matches('&');
    let inside = target.trim_start_matches("Vec<").trim_end_matches('>');
    if target.starts_with("Vec<") && !PLAIN.contains(&inside) {
        quote!(__typed::listed(#number, __typed::KeyFacts::<#ty>::LIST))
    } else {
        number
    }
}

/// The facts about the type of a key, as expressions.
#[derive(Clone)]
pub(crate) struct KeyFacts {
    /// The type.
    pub(crate) ty: TokenStream,
    /// Whether the key may be absent.
    pub(crate) optional: TokenStream,
    /// Whether a read accepts a value of any type.
    pub(crate) any: TokenStream,
    /// The number that identifies the type, unless rustc determines it.
    pub(crate) number: Option<TokenStream>,
}

impl KeyFacts {
    /// Returns the facts about a key that must be present.
    pub(crate) fn of(ty: &TokenStream) -> Self {
        let no = quote!(false);
        Self {
            ty: ty.clone(),
            optional: no.clone(),
            any: no,
            number: None,
        }
    }

    /// Returns the key as data. `spelled` is the type as messages spell it.
    pub(crate) fn expand(&self, key: &str, spelled: &str, place: &TokenStream) -> TokenStream {
        let Self {
            ty, optional, any, ..
        } = self;
        let number = self.number.clone();
        let number = number.unwrap_or_else(|| self::number(ty, spelled));
        let (spec, key) = (read("__adk::key"), crate::code::key(key));
        quote!(#spec::<#ty>(#key, #spelled, #optional, #any, #number, #place))
    }
}

/// Returns the path of the trait `Reads` for a type, whose kind of reference is `reference`.
pub(crate) fn reads(ty: &impl ToTokens, reference: &TokenStream) -> TokenStream {
    quote!(<#ty as __typed::Reads<{ __adk::TypeFacts::<#ty>::OPTIONAL }, { #reference }>>)
}

/// The bit of a key's place that means that its type is spelled without the `Option`: `OPENED` of
/// `adk_core::spec`.
pub(crate) const OPENED: u8 = 0x80;

/// Returns the types that have an index in the trait `Typed`, sorted by that index.
fn in_order_of_places<'a, 't>(
    given: &'a [(&'t Type, TokenStream)],
    room: usize,
) -> Vec<&'a (&'t Type, TokenStream)> {
    let places = places(given.iter().map(|(ty, _)| *ty), room);
    let mut placed: Vec<_> = given
        .iter()
        .zip(places)
        .filter(|(_, place)| *place > 0)
        .collect();
    placed.sort_by_key(|(_, place)| *place);
    placed.into_iter().map(|(key, _)| key).collect()
}

/// Returns the nested tuple `(A, (B, ()))`.
pub(crate) fn list(types: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    types
        .rev()
        .fold(quote!(()), |rest, ty| quote!((#ty, #rest)))
}

/// Returns the type that the key of a plain parameter has: `String` for `&str`.
pub(crate) fn plain_type(ty: &Type) -> Option<TokenStream> {
    let path = plain_path(ty)?;
    Some(if path.is_ident("str") {
        read("::std::string::String")
    } else {
        quote!(#path)
    })
}

/// Returns whether the type is plain, or a reference to a plain type: its spelling alone identifies
/// it.
pub(crate) fn is_plain(ty: &Type) -> bool {
    plain_path(ty).is_some()
}

/// Returns whether the name is the name of a plain type.
pub(crate) fn is_plain_name(name: &str) -> bool {
    PLAIN.contains(&name)
}

fn plain_path(ty: &Type) -> Option<&Path> {
    let ty = match ty {
        Type::Reference(reference) if reference.mutability.is_none() => &*reference.elem,
        ty => ty,
    };
    let Type::Path(path) = ty else { return None };
    let segment = path
        .path
        .segments
        .last()
        .filter(|_| path.qself.is_none() && path.path.segments.len() == 1)?;
    let is_plain = match &segment.arguments {
        PathArguments::None => PLAIN.iter().any(|name| segment.ident == name),
        PathArguments::AngleBracketed(list) if segment.ident == "Vec" && list.args.len() == 1 => {
            match list.args.first() {
                Some(GenericArgument::Type(inner @ Type::Path(_))) => is_plain(inner),
                _ => false,
            }
        }
        _ => false,
    };
    is_plain.then_some(&path.path)
}
