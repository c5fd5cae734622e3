//! Two items of one name in one block, which rustc tells as E0428: once, and not again of each impl (E0119), each constant
//! and each field.
//!
//! The second one expands in a block of its own, where its name is its own, so that what else is wrong with it is told as
//! well. Beside that block stands what has its name and nothing else. Which block an item stands in is read from its file,
//! as are the items that no macro of ours makes: beside these, each of ours is a second one.
//! What a macro gets may be put into modules of their own, and is left as it is; so is what one wrote, but for what
//! certainly stands beside its call.

use crate::imported::Renamed;
use crate::source::{self, Call, Place, Plain, Scope};
use crate::workflow::{unraw, unspanned};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use syn::{Attribute, DeriveInput, Visibility};

/// What has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Type,
    /// With the type beside it.
    Function,
}

/// Where each name stands, by file and bracket.
type Seen = HashMap<(PathBuf, Place, String), Vec<((Place, Place), Item)>>;

/// The macros whose names are looked at, as they are called where they stand.
const MACROS: [&str; 5] = ["agent", "data", "llm_agent", "tool", "workflow"];

/// What has a name already.
#[derive(Clone, Copy)]
enum First {
    Ours(Item),
    Plain(Plain),
}

impl First {
    /// Nothing but an import, of which it is not known what it is.
    fn is_import(&self) -> bool {
        matches!(self, Self::Plain(Plain { in_types: false, in_values: false, .. }))
    }

    /// Something that has the name among the types.
    fn is_type(&self) -> bool {
        matches!(self, Self::Ours(_) | Self::Plain(Plain { in_types: true, .. }))
    }
}

/// How a type of ours stands to what else has its name.
pub(crate) enum Stand<'a> {
    Alone,
    /// Behind another, so that this has its name instead.
    Second(TokenStream),
    Imported(Renamed<'a>),
}

/// How the type stands that is expanded.
pub(crate) fn stand<'a>(name: &'a Ident, attrs: &[Attribute]) -> Stand<'a> {
    match first(unraw(name), Item::Type, attrs) {
        None => Stand::Alone,
        Some(first) if first.is_import() => Stand::Imported(Renamed::new(name)),
        Some(first) => Stand::Second(named(name, first, Item::Type)),
    }
}

/// What a macro makes of a type that stands so, whose name is no part of what it makes.
pub(crate) fn once(stand: Stand<'_>, vis: &Visibility, made: TokenStream) -> TokenStream {
    match stand {
        Stand::Second(bare) => {
            let apart = apart(&made);
            quote!(#bare #apart)
        }
        Stand::Imported(other) => {
            let (alias, made) = (other.alias(vis), other.rename(made));
            quote!(#alias #made)
        }
        Stand::Alone => made,
    }
}

/// What `#[data]` makes of a type. Its name is a part of what it makes, so that it gets another only where the import is certainly
/// one of a type, and the program wrong.
pub(crate) fn data(input: &DeriveInput, made: TokenStream) -> TokenStream {
    let is_type = || imported(unraw(&input.ident)).is_some_and(|first| first.is_type());
    match stand(&input.ident, &input.attrs) {
        Stand::Second(bare) => {
            let apart = apart(&made);
            quote!(#bare #apart)
        }
        Stand::Imported(other) if input.generics.params.is_empty() && is_type() => {
            let (alias, made) = (other.alias(&input.vis), other.rename(made));
            quote!(#alias #made)
        }
        _ => made,
    }
}

/// The same of a function, the type beside it, and what is implemented for that.
pub(crate) fn function(
    name: &Ident,
    attrs: &[Attribute],
    [written, twin, block]: [&TokenStream; 3],
) -> TokenStream {
    let first = first(unraw(name), Item::Function, attrs);
    // A function has no second name beside an import, of which it may not be known what it is.
    let first = first.and_then(|first| if first.is_import() { imported(unraw(name)) } else { Some(first) });
    let Some(first) = first else { return quote!(#written #twin #block) };
    let bare = named(name, first, Item::Function);
    match first {
        // Nothing else has the name of the type.
        First::Plain(Plain { in_types: false, .. }) => {
            let apart = apart(&quote!(#written #block));
            quote!(#bare #twin #apart)
        }
        _ => {
            let apart = apart(&quote!(#written #twin #block));
            quote!(#bare #apart)
        }
    }
}

/// What is imported by that name, where files tell it, or macros that were expanded before.
fn imported(name: String) -> Option<First> {
    let call = ours()?;
    let (definition, plain) = call.imported(&name)?;
    if plain.in_types {
        TAKEN.lock().ok()?.push((call.file, call.around.bracket, name));
    }
    let seen = SEEN.lock().ok()?;
    let ours = seen.as_ref().and_then(|seen| seen.get(&definition)).and_then(|all| all.first());
    let plain = (plain.in_types || plain.in_values).then_some(First::Plain(plain));
    ours.map(|(_, item)| First::Ours(*item)).or(plain)
}

/// What has the name of a second item.
fn named(name: &Ident, first: First, item: Item) -> TokenStream {
    let bare = match (first, item) {
        (First::Ours(Item::Function) | First::Plain(Plain { in_types: false, .. }), Item::Function) => {
            quote_spanned!(name.span()=> fn #name() {})
        }
        _ => quote_spanned!(name.span()=> struct #name {}),
    };
    quote!(#[allow(dead_code, non_camel_case_types, non_snake_case)] #bare)
}

/// A second item, in a block of its own.
pub(crate) fn apart(made: &TokenStream) -> TokenStream {
    quote!(#[allow(dead_code, unused_imports)] const _: () = { #made };)
}

/// Whether there is such an `impl` already.
pub(crate) fn is_second(head: &TokenStream, attrs: &[Attribute]) -> bool {
    matches!(first(head.to_string(), Item::Type, attrs), Some(First::Ours(_)))
}

/// What has that name already, in the block in which the macro is called that is expanded.
fn first(name: String, item: Item, attrs: &[Attribute]) -> Option<First> {
    // Of those with a condition, only rustc knows which one is there.
    if attrs.iter().any(|attr| attr.path().is_ident("cfg")) {
        return None;
    }
    let call = ours()?;
    let plain = call.plain(&name);
    // Values are no matter to a type.
    let plain = Plain { in_values: plain.in_values && item == Item::Function, ..plain };
    let is_any = plain.in_types || plain.in_values || plain.imported;
    if plain.in_types {
        TAKEN.lock().ok()?.push((call.file.clone(), call.around.bracket, name.clone()));
    }
    let mut seen = SEEN.lock().ok()?;
    let others = seen.get_or_insert_default().entry((call.file, call.around.bracket, name)).or_default();
    let own = (call.place, call.given);
    let found = others.iter().find(|(place, _)| *place != own).map(|(_, item)| First::Ours(*item));
    others.push((own, item));
    found.or_else(|| is_any.then_some(First::Plain(plain)))
}

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// Types of a plain name that one of ours has as well, by file and bracket.
static TAKEN: Mutex<Vec<(PathBuf, Place, String)>> = Mutex::new(Vec::new());

/// Whether that is the name of a plain type and of one of ours: who uses it means the latter, and gets the other.
pub(crate) fn is_taken(name: &Ident) -> bool {
    let Some(taken) = TAKEN.lock().ok().filter(|taken| !taken.is_empty()) else { return false };
    let name = unraw(name);
    let is_here = |call: Call| {
        let mut taken = taken.iter();
        taken
            .any(|(file, bracket, one)| *one == name && *file == call.file && *bracket == call.around.bracket)
    };
    ours().is_some_and(is_here)
}

/// Whether a type that no macro of ours makes has that name where the macro is called that is expanded.
pub(crate) fn is_type(name: &str) -> bool {
    ours().is_some_and(|call| call.plain(name).in_types)
}

/// Whether a value may have that name there.
pub(crate) fn may_be_value(name: &Ident) -> bool {
    let name = unraw(name);
    ours().is_some_and(|call| call.may_have_value(&name))
}

/// The name by which code of ours holds what the user calls so: its own, unless a constant around has it, which a pattern would
/// compare with.
pub(crate) fn binding(name: &Ident) -> Ident {
    let plain = unraw(name);
    let is_constant = |call: Call| {
        let known = call.plain(&plain);
        known.in_values && !known.is_function
    };
    if ours().is_some_and(is_constant) {
        quote::format_ident!("__{}", plain, span = proc_macro2::Span::call_site())
    } else {
        unspanned(name)
    }
}

/// The call of a macro of ours that is expanded, if nobody can have put it elsewhere.
pub(crate) fn ours() -> Option<Call> {
    let is_given = |call: &Call| matches!(call.around.scope, Scope::Call(_));
    source::call().filter(|call| !is_given(call) && MACROS.contains(&call.name.as_str()))
}
