//! Parameters that borrow what stands inside of another type, as `Vec<&str>` does.
//!
//! What is read is a value of its own, which the call borrows as a whole. rustc says of anything else that "implementation
//! of `Deserialize` is not general enough", under the attribute. As far as tokens tell it, we say it.

use super::report::Report;
use crate::sized::OF_VALUES;
use crate::workflow::type_text;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type, TypeReference, parse_quote};

/// What holds a value of the type in its arguments, beside what takes values alone. Of other types only rustc knows.
pub(super) const POINTERS: [&str; 3] = ["Box", "Rc", "Arc"];

/// Tells what is borrowed inside of the type of a parameter, and goes on with what owns it; whether there is any.
pub(super) fn own(ty: &mut Type, report: &mut Report) -> bool {
    match ty {
        Type::Reference(reference) => forever(reference, report) | inside(&mut reference.elem, report),
        Type::Group(group) => own(&mut group.elem, report),
        Type::Paren(paren) => own(&mut paren.elem, report),
        // That may be borrowed as a whole too.
        Type::Path(path) => match path.path.segments.last_mut() {
            Some(last) if last.ident == "Option" => {
                let PathArguments::AngleBracketed(list) = &mut last.arguments else { return false };
                match list.args.first_mut() {
                    Some(GenericArgument::Type(Type::Reference(reference))) => {
                        forever(reference, report) | inside(&mut reference.elem, report)
                    }
                    Some(GenericArgument::Type(ty)) => inside(ty, report),
                    _ => false,
                }
            }
            _ => inside(ty, report),
        },
        ty => inside(ty, report),
    }
}

/// Tells what is borrowed for ever, and goes on with what is borrowed for the call: rustc would say that a value of ours does not
/// live long enough.
fn forever(reference: &mut TypeReference, report: &mut Report) -> bool {
    let is = reference.mutability.is_none()
        && reference.lifetime.take_if(|lifetime| lifetime.ident == "static").is_some();
    if is {
        let owned = type_text(&Type::Reference(reference.clone()));
        report.at(
            reference.and_token.span(),
            format!(
                "`&'static {}` is borrowed for ever, and what is read is borrowed for the call",
                type_text(&reference.elem)
            ),
            format!("write `{owned}`, or take the value itself"),
        );
    }
    is
}

/// Looks at what a type holds, or at that of a type that is borrowed.
fn inside(ty: &mut Type, report: &mut Report) -> bool {
    match ty {
        Type::Reference(_) => value(ty, report),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last_mut() else { return false };
            let PathArguments::AngleBracketed(list) = &mut last.arguments else { return false };
            if !OF_VALUES.iter().chain(&POINTERS).any(|name| last.ident == name) {
                return false;
            }
            let types = list.args.iter_mut().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.fold(false, |any, ty| value(ty, report) | any)
        }
        Type::Slice(slice) => value(&mut slice.elem, report),
        Type::Array(array) => value(&mut array.elem, report),
        Type::Tuple(tuple) => tuple.elems.iter_mut().fold(false, |any, ty| value(ty, report) | any),
        Type::Paren(paren) => inside(&mut paren.elem, report),
        Type::Group(group) => inside(&mut group.elem, report),
        _ => false,
    }
}

/// Looks at what is held.
fn value(ty: &mut Type, report: &mut Report) -> bool {
    let Type::Reference(reference) = ty else { return inside(ty, report) };
    let mut held = &*reference.elem;
    // What is borrowed again and again is one mistake.
    while let Type::Reference(again) = held {
        held = &again.elem;
    }
    let owned: Type = match held {
        Type::Path(path) if path.path.is_ident("str") => parse_quote!(String),
        Type::Slice(slice) => {
            let elem = &slice.elem;
            parse_quote!(Vec<#elem>)
        }
        other => other.clone(),
    };
    report.at(
        ty.span(),
        format!(
            "`{}` stands inside of another type, and a parameter is borrowed as a whole or not at all",
            type_text(ty)
        ),
        format!("write `{}`", type_text(&owned)),
    );
    *ty = owned;
    inside(ty, report);
    true
}
