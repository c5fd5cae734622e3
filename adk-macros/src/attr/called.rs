//! Parameters that are functions. No key holds one and no model fills one in, and what rustc says of the call that gives one speaks
//! of lifetimes.

use super::lent::POINTERS;
use super::report::Report;
use crate::workflow::type_text;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type, TypeParamBound};

/// Tells that, and goes on with any type; whether it does.
pub(super) fn own(ty: &mut Type, report: &mut Report) -> bool {
    if !is_called(ty) {
        return false;
    }
    let fact = format!("`{}` is a function, and JSON holds none", type_text(ty));
    let help = "call what is meant in the body, or take a value that says which function is meant";
    report.argument(ty.span(), fact, help);
    let private = crate::facade::private();
    *ty = syn::parse_quote!(#private::serde_json::Value);
    true
}

/// Whether it is a function, itself or behind a pointer.
fn is_called(ty: &Type) -> bool {
    match ty {
        Type::FnPtr(_) => true,
        Type::TraitObject(object) => object.bounds.iter().any(is_fn),
        Type::Reference(reference) => reference.mutability.is_none() && is_called(&reference.elem),
        Type::Paren(paren) => is_called(&paren.elem),
        Type::Group(group) => is_called(&group.elem),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return false };
            let PathArguments::AngleBracketed(list) = &last.arguments else { return false };
            let holds = last.ident == "Option" || POINTERS.iter().any(|name| last.ident == name);
            let inside = list.args.first();
            holds && matches!(inside, Some(GenericArgument::Type(ty)) if is_called(ty))
        }
        _ => false,
    }
}

/// `Fn(A) -> B` is said of the traits of functions alone.
fn is_fn(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    let last = bound.path.segments.last();
    last.is_some_and(|last| matches!(last.arguments, PathArguments::Parenthesized(_)))
}

#[cfg(test)]
mod tests {
    use super::is_called;

    #[test]
    fn functions_are_known_by_their_form() {
        for (ty, expected) in [
            ("fn(&str) -> bool", true),
            ("Option<&fn()>", true),
            ("Box<dyn for<'a> Fn(&'a str) + Send>", true),
            ("std::sync::Arc<dyn FnMut()>", true),
            ("Box<dyn Animal>", false),
            ("Fnord<fn()>", false),
            ("&mut fn()", false),
            ("Vec<u8>", false),
        ] {
            assert_eq!(is_called(&syn::parse_str(ty).unwrap()), expected, "{ty}");
        }
    }
}
