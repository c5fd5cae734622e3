//! Two items of one name in one block, which rustc tells as E0428: once, and not again of each impl (E0119), each constant
//! and each field.
//!
//! The second one expands in a block of its own, where its name is its own, so that what else is wrong with it is told as
//! well. Beside that block stands what has its name and nothing else. Which block an item stands in is read from its file.
//! What a macro wrote, or gets, may be put into modules of their own, and is left as it is.

use crate::source::{self, Place};
use crate::workflow::unraw;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use syn::Attribute;

/// What has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Type,
    /// With the type beside it.
    Function,
}

/// Where each name stands, by file.
type Seen = HashMap<(PathBuf, String), Vec<(Place, Item)>>;

/// The macros whose names are looked at, as they are called where they stand.
const MACROS: [&str; 5] = ["agent", "data", "llm_agent", "tool", "workflow"];

/// What a macro makes of an item of that name.
pub(crate) fn once(name: &Ident, item: Item, attrs: &[Attribute], made: TokenStream) -> TokenStream {
    match bare(name, item, attrs) {
        None => made,
        Some(bare) => {
            let apart = apart(&made);
            quote!(#bare #apart)
        }
    }
}

/// What has the name of a second item; nothing for a first one.
pub(crate) fn bare(name: &Ident, item: Item, attrs: &[Attribute]) -> Option<TokenStream> {
    let first = first(unraw(name), item, attrs)?;
    let bare = match (first, item) {
        (Item::Function, Item::Function) => quote_spanned!(name.span()=> fn #name() {}),
        _ => quote_spanned!(name.span()=> struct #name {}),
    };
    Some(quote!(#[allow(dead_code, non_camel_case_types, non_snake_case)] #bare))
}

/// A second item, in a block of its own.
pub(crate) fn apart(made: &TokenStream) -> TokenStream {
    quote!(#[allow(dead_code, unused_imports)] const _: () = { #made };)
}

/// Whether there is such an `impl` already.
pub(crate) fn is_second(head: &TokenStream, attrs: &[Attribute]) -> bool {
    first(head.to_string(), Item::Type, attrs).is_some()
}

/// What has that name already, in the block in which the macro is called that is expanded.
fn first(name: String, item: Item, attrs: &[Attribute]) -> Option<Item> {
    // Of those with a condition, only rustc knows which one is there.
    if attrs.iter().any(|attr| attr.path().is_ident("cfg")) {
        return None;
    }
    static SEEN: Mutex<Option<Seen>> = Mutex::new(None);
    let (file, place) = source::call()?;
    let mut seen = SEEN.lock().ok()?;
    let others = seen.get_or_insert_default().entry((file.clone(), name)).or_default();
    let found = (!others.is_empty()).then(|| {
        source::ask(file, |source| {
            let own = block(source, place)?;
            let in_it = |(other, _): &&(Place, Item)| *other != place && block(source, *other) == Some(own);
            others.iter().find(in_it).map(|(_, item)| *item)
        })
    });
    others.push((place, item));
    found.flatten().flatten()
}

/// The block in which a macro of ours is called there, if nobody can have put it elsewhere.
fn block(source: &source::Source, place: Place) -> Option<usize> {
    let piece = source.piece(place).filter(|piece| !piece.is_given)?;
    MACROS.contains(&source.called(place)?).then_some(piece.block)
}
