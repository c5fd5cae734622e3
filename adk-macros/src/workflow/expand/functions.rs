//! Functions without an attribute where an agent or a tool is expected.
//!
//! Of a function rustc says that it is no type, and no more. Whether a name is a function and no type is found in a module inside of
//! the expansion: a name that the module around the call does not have is one of the items here, which tell themselves apart.

use super::{index, raise};
use crate::code::{code, read};
use crate::facade;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Path;

/// The consts that raise a fault under each of these paths that leads to a function. `attribute` is what is missing there.
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
    let (wire, module) =
        (format!("{}::wire", facade::private()), format!("__{attribute}_functions_{number}"));
    let items = names.iter().map(|name| format!("type {name} = {wire}::NoItem; const {name}: u8 = 0;"));
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
        let (at, text) = (index(i), super::names::plain(name));
        raise(name.span(), quote!(__adk::check::raise_function), quote!(#attribute, #text, #found_at[#at]))
    });
    Some(quote!(#found #(#raises)*))
}

/// Functions are not called as types are.
fn is_function_name(name: &Ident) -> bool {
    name.to_string().trim_start_matches("r#").starts_with(|first: char| first.is_lowercase())
}
