//! Functions without an attribute at the place of an agent or a tool.
//!
//! rustc only reports that a function is not a type. A module inside the expansion finds out
//! whether a name is a function: if the module around the call does not have the name, an item of
//! this module is found instead, which the check recognises.

use super::{index, raise};
use crate::code::{code, read};
use crate::facade;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Path;

/// Returns the consts that raise an error under each path that leads to a function. `attribute` is
/// the missing attribute.
pub(super) fn raise_functions<'a>(
    attribute: &str,
    number: usize,
    paths: impl Iterator<Item = &'a Path>,
) -> Option<TokenStream> {
    let mut names: Vec<&Ident> = Vec::new();
    for name in paths.filter_map(|path| path.get_ident()) {
        if is_function_name(name) && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let (wire, module) = (
        format!("{}::wire", facade::private()),
        format!("__{attribute}_functions_{number}"),
    );
    let items = names
        .iter()
        .map(|name| format!("type {name} = {wire}::NoItem; const {name}: u8 = 0;"));
    let items: String = items.collect();
    let asked = names.iter().map(|name| {
        format!("{wire}::ItemFacts::<{name}>::NO_ITEM && ::core::mem::size_of_val(&{name}) == 0,")
    });
    let asked: String = asked.collect();
    let count = names.len();
    let found = code!(
        "mod {module} {{
            {items}
            pub(super) const FOUND: [bool; {count}] = {{
                use super::*;
                use {wire}::ItemFactDefaults as _;
                [{asked}]
            }};
        }}"
    );
    let found_at = read(&format!("{module}::FOUND"));
    let raises = names.iter().enumerate().map(|(i, name)| {
        let (at, text) = (index(i), super::names::unraw(name));
        raise(
            name.span(),
            quote!(__adk::check::raise_function),
            quote!(#attribute, #text, #found_at[#at]),
        )
    });
    Some(quote!(#found #(#raises)*))
}

/// Returns whether a name is lowercase, unlike the names of types.
fn is_function_name(name: &Ident) -> bool {
    name.to_string()
        .trim_start_matches("r#")
        .starts_with(|first: char| first.is_lowercase())
}
