//! The type of an agent that the caller supplies.
//!
//! Of one that can be none rustc speaks wherever the expansion uses it: as far as tokens tell it, we say it.

use super::super::names::{last, type_text};
use crate::attr::word;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, Ident, PathArguments, Type, TypeParamBound};

/// What is wrong with the type in `agent NAME: TYPE;`.
pub(super) fn named(ty: &Type, name: &Ident) -> Option<syn::Error> {
    let help = match wrong(ty)? {
        Wrong::Value => "write a type that implements `Agent`".to_owned(),
        Wrong::Open => format!(
            "write the type itself; for an agent that is known at run time only `agent {name}(READS: TYPE) -> KEY: TYPE as Arc<dyn DynAgent>;`"
        ),
    };
    Some(fault(ty, &help))
}

/// What is wrong with the type in `agent NAME(...) -> ... as TYPE;`.
pub(super) fn held(ty: &Type) -> Option<syn::Error> {
    wrong(ty).map(|_| fault(ty, "write `Arc<dyn DynAgent>`, or a type that implements `Agent`"))
}

fn fault(ty: &Type, help: &str) -> syn::Error {
    let shown = type_text(ty);
    syn::Error::new(ty.span(), format!("syntax: `{shown}` says no type of an agent; help: {help}"))
}

/// Why a type is that of no agent.
enum Wrong {
    /// It is one of Rust's own that has no size.
    Value,
    /// Which agent it is, is still open.
    Open,
}

fn wrong(ty: &Type) -> Option<Wrong> {
    match ty {
        Type::Group(group) => wrong(&group.elem),
        Type::Paren(paren) => wrong(&paren.elem),
        Type::Slice(_) => Some(Wrong::Value),
        Type::Path(path) if path.path.is_ident("str") => Some(Wrong::Value),
        Type::TraitObject(_) | Type::ImplTrait(_) | Type::Infer(_) => Some(Wrong::Open),
        ty if word(ty, "impl").is_some() => Some(Wrong::Open),
        // `Agent` says by consts what an agent reads and writes, so it is no trait of a value.
        Type::Path(path) => {
            let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
                return None;
            };
            list.args.iter().any(is_agent).then_some(Wrong::Open)
        }
        _ => None,
    }
}

/// Whether it is `dyn Agent`.
fn is_agent(argument: &GenericArgument) -> bool {
    let GenericArgument::Type(Type::TraitObject(object)) = argument else {
        return false;
    };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(of) => last(&of.path).is_some_and(|name| name == "Agent"),
        _ => false,
    })
}
