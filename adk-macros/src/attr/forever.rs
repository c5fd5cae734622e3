//! Fields of `#[data]` that borrow what lives as long as the program, as a `&'static str` does.
//!
//! Nothing that is read lives so long. serde implements `Deserialize<'static>` for such a type and nothing else, and rustc says
//! of each use that this "is not general enough". So the field is told, and no derive looks at it.

use super::data::fields;
use super::lent::POINTERS;
use super::lifetimes::mentions;
use super::parts;
use super::report::Report;
use crate::sized::OF_VALUES;
use crate::workflow::type_text;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, PathArguments, Type, TypeReference, parse_quote,
};

/// Tells such fields, and leaves them out of what is read and written; whether there are any.
pub(super) fn leave_out(input: &mut DeriveInput, private: &TokenStream, report: &mut Report) -> bool {
    let is_apart =
        |data: &syn::DataEnum| data.variants.iter().any(|variant| parts::stands_apart(&variant.attrs));
    if parts::stands_apart(&input.attrs) || matches!(&input.data, Data::Enum(data) if is_apart(data)) {
        return false;
    }
    let mut any = false;
    for field in fields(input) {
        let Some(borrowed) = borrowed(&field.ty).filter(|_| !parts::stands_apart(&field.attrs)) else {
            continue;
        };
        report.at(
            borrowed.span(),
            format!("`{}` is borrowed, and data owns what it is read into", type_text(&field.ty)),
            format!("write `{}`", type_text(&owned(&field.ty))),
        );
        skip(field, private);
        any = true;
    }
    if any {
        opaque(&mut input.attrs);
    }
    any
}

/// Leaves a field out of what is read and written, of which something is told.
pub(super) fn skip(field: &mut Field, private: &TokenStream) {
    let path = quote!(#private::parts::left_out).to_string().replace(' ', "");
    let value = format!("{path}::value");
    field.attrs.retain(|attr| !attr.path().is_ident("serde") && !attr.path().is_ident("schemars"));
    // The only field of a tuple is looked at also where it is to be skipped.
    field.attrs.push(parse_quote!(#[serde(skip, default = #value, with = #path)]));
    field.attrs.push(parse_quote!(#[schemars(with = "()")]));
}

/// Takes away what asks for a field that is read.
pub(super) fn opaque(attrs: &mut Vec<Attribute>) {
    attrs.retain(|attr| {
        !(attr.path().is_ident("serde") && mentions(attr.meta.to_token_stream(), &["transparent"]))
    });
}

/// The first such reference in a type, where it holds values of its arguments.
fn borrowed(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) => {
            let is = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
            is.then_some(reference)
        }
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
            let holds = OF_VALUES.iter().chain(&POINTERS).any(|name| last.ident == name);
            let types = list.args.iter().filter(|_| holds).filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.into_iter().find_map(borrowed)
        }
        Type::Slice(slice) => borrowed(&slice.elem),
        Type::Array(array) => borrowed(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(borrowed),
        Type::Paren(paren) => borrowed(&paren.elem),
        Type::Group(group) => borrowed(&group.elem),
        _ => None,
    }
}

/// The type that owns what that one borrows.
fn owned(ty: &Type) -> Type {
    let mut ty = ty.clone();
    match &mut ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => return parse_quote!(String),
            Type::Slice(slice) => {
                let elem = owned(&slice.elem);
                return parse_quote!(Vec<#elem>);
            }
            Type::TraitObject(object) => return parse_quote!(Box<#object>),
            elem => return owned(elem),
        },
        Type::Path(path) => {
            if let Some(PathArguments::AngleBracketed(list)) =
                path.path.segments.last_mut().map(|last| &mut last.arguments)
            {
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument {
                        *ty = owned(ty);
                    }
                }
            }
        }
        Type::Slice(slice) => *slice.elem = owned(&slice.elem),
        Type::Array(array) => *array.elem = owned(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| *ty = owned(ty)),
        Type::Paren(paren) => *paren.elem = owned(&paren.elem),
        Type::Group(group) => return owned(&group.elem),
        _ => {}
    }
    ty
}

#[cfg(test)]
mod tests {
    use super::{borrowed, owned};
    use crate::workflow::type_text;
    use syn::Type;

    /// What to write instead, if anything is told.
    fn told(ty: &str) -> Option<String> {
        let ty: Type = syn::parse_str(ty).unwrap();
        borrowed(&ty).map(|_| type_text(&owned(&ty)))
    }

    #[test]
    fn what_is_borrowed_is_to_be_owned() {
        for (ty, help) in [
            ("&'static str", "String"),
            ("Vec<&'static str>", "Vec<String>"),
            ("Option<&'static [u8]>", "Option<Vec<u8>>"),
            ("(u8, [&'static [&'static str]; 2])", "(u8,[Vec<String>; 2])"),
            (
                "std::collections::HashMap<&'static str, &'static Draft>",
                "std::collections::HashMap<String, Draft>",
            ),
            ("Box<&'static str>", "Box<String>"),
        ] {
            assert_eq!(told(ty).as_deref(), Some(help), "{ty}");
        }
    }

    #[test]
    fn what_may_be_read_is_left_alone() {
        for ty in [
            "&'a str",
            "&str",
            "Cow<'static, str>",
            "PhantomData<&'static str>",
            "fn(&'static str)",
            "Mine<&'static str>",
            "Held<'static>",
        ] {
            assert_eq!(told(ty), None, "{ty}");
        }
    }
}
