//! Parameters of `#[data]` that no field holds.
//!
//! rustc says so of the type, of each of its copies and of each derive, and of each use that does not give the parameter. So the
//! macro says it, and goes on without the parameter where nobody gives it.

use super::data::fields;
use super::parts::mentions;
use super::report::Report;
use crate::source;
use quote::ToTokens as _;
use syn::{DeriveInput, GenericParam, Ident};

/// Tells them, and takes them away; whether there are any.
pub(super) fn tell(input: &mut DeriveInput, report: &mut Report) -> bool {
    let idle = idle(input);
    // Who gives it an argument would be told that it takes none.
    if idle.is_empty() || source::is_written(&input.ident, "<") {
        return false;
    }
    let is_idle =
        |param: &GenericParam| matches!(param, GenericParam::Type(one) if idle.contains(&one.ident));
    let params = std::mem::take(&mut input.generics.params);
    input.generics.params = params.into_iter().filter(|param| !is_idle(param)).collect();
    for param in idle {
        let fact = format!("no field of `{}` holds a `{param}`", input.ident);
        report.at(param.span(), fact, "remove the parameter, or write the field that holds it");
    }
    true
}

/// The parameters that stand nowhere else.
fn idle(input: &mut DeriveInput) -> Vec<Ident> {
    let params: Vec<_> = input.generics.type_params().map(|one| one.ident.clone()).collect();
    let (generics, conditions) = (input.generics.clone(), input.generics.where_clause.clone());
    let of_fields: Vec<_> = fields(input).into_iter().map(|field| field.ty.to_token_stream()).collect();
    let is_idle = |name: &Ident| {
        let word = name.to_string();
        let elsewhere = generics
            .params
            .iter()
            .filter(|one| !matches!(one, GenericParam::Type(one) if one.ident == *name));
        let bounds = elsewhere.map(|one| one.to_token_stream());
        let mut all = bounds.chain([conditions.to_token_stream()]).chain(of_fields.iter().cloned());
        !all.any(|tokens| mentions(tokens, &[&word]))
    };
    params.into_iter().filter(is_idle).collect()
}
