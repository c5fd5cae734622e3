//! Types that are no data where data is needed: told once, at the first place that needs it.
//!
//! Files tell what a type derives. One that lacks a trait so, which may be implemented by hand, gets a const that asks for it
//! ([`asked`]). In code that needs data the type is chosen by this const. Where the const is an error, which is told, of what has
//! to do with it rustc tells nothing. What is said of a type elsewhere, as what `key-type` compares, is said of the type itself.

mod asked;
mod lost;
mod paths;
mod place;

pub(crate) use lost::given;
pub(crate) use place::Place;

use crate::source::{Definition, Traits};
use crate::twice;
use asked::chosen;
use paths::each;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Pat, Path, Type};

/// A type without parameters that no attribute makes data.
struct Bare {
    definition: Definition,
    derives: Traits,
}

impl Bare {
    /// What a path leads to, if it certainly is one.
    fn at(path: &[String]) -> Option<Self> {
        let (definition, derives) = twice::ours()?.bare(path)?;
        Some(Self { definition, derives })
    }

    /// Those of the traits that it has by hand, or not at all.
    fn lacks(&self, traits: Traits) -> Traits {
        traits.without(self.derives)
    }
}

/// The type as code has it that is for data alone.
pub(crate) fn kept(ty: &impl ToTokens, place: Place) -> TokenStream {
    each(ty.to_token_stream(), &mut |path, names| Some(chosen(path, path, &by(names, place)?)))
}

/// The same where it is another.
pub(crate) fn kept_otherwise(ty: &Type, place: Place) -> Option<TokenStream> {
    let mut is_other = false;
    each(ty.to_token_stream(), &mut |_, names| {
        is_other |= by(names, place).is_some();
        None
    });
    is_other.then(|| kept(ty, place))
}

/// What code at that place chooses the type by to which a path leads.
fn by(path: &[String], place: Place) -> Option<Ident> {
    asked::by(&Bare::at(path)?, place)
}

/// The type of what is matched, which is that of a key that is declared as the other one.
pub(crate) fn declared(ty: TokenStream, as_type: &Type) -> TokenStream {
    let mut all = ty;
    each(as_type.to_token_stream(), &mut |path, names| {
        all = chosen(&all, path, &by(names, Place::Matched)?);
        None
    });
    all
}

/// The type of what is matched with that pattern.
pub(crate) fn matched(ty: TokenStream, pattern: &Pat) -> TokenStream {
    let enums = enums(pattern).into_iter();
    let chosen_by = enums.filter_map(|(path, of)| Some((path, asked::by(&of, Place::Matched)?)));
    chosen_by.fold(ty, |all, (path, by)| chosen(&all, &path, &by))
}

/// Asks of the types for what that place needs, of which nobody has asked yet.
pub(crate) fn ask<'t>(types: impl IntoIterator<Item = &'t Type>, place: Place) -> TokenStream {
    let mut questions = TokenStream::new();
    for ty in types {
        each(ty.to_token_stream(), &mut |path, names| {
            questions.extend(match Bare::at(names) {
                Some(bare) => asked::ask(&bare, path, place),
                None => lost::lost(names, path),
            });
            None
        });
    }
    questions
}

/// The same of those whose variants a pattern has.
pub(crate) fn ask_matched(pattern: &Pat) -> TokenStream {
    let enums = enums(pattern).into_iter();
    enums.filter_map(|(path, of)| asked::ask(&of, &path.to_token_stream(), Place::Matched)).collect()
}

/// Those whose variants a pattern has.
fn enums(pattern: &Pat) -> Vec<(Path, Bare)> {
    let mut found = Vec::new();
    each(pattern.to_token_stream(), &mut |path, names| {
        let (_, names) = names.split_last()?;
        let bare = Bare::at(names)?;
        let mut path: Path = syn::parse2(path.clone()).ok()?;
        path.segments = path.segments.into_iter().take(names.len()).collect();
        found.push((path, bare));
        None
    });
    found
}
