//! The names that a file gives to plain items and to imports, by the bracket in which they stand.
//!
//! They are read with the brackets, token by token. What has a condition or an attribute that may change it is none of
//! them, nor what stands in such an item: of these only rustc knows what becomes of them.

mod reader;
#[cfg(test)]
mod tests;

pub(super) use reader::Reader;

use super::lost::Lost;
use super::{Place, Traits};
use std::collections::{HashMap, HashSet};

/// What has a name that no macro of ours gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Among the types, as a `struct` or a module.
    pub(crate) in_types: bool,
    /// Among the values, as a function.
    pub(crate) in_values: bool,
    /// It is a function.
    pub(crate) is_function: bool,
    /// Something of that name has an attribute that may change it.
    pub(crate) is_unclear: bool,
    /// By a `use`, which does not say among which.
    pub(crate) imported: bool,
    /// It is a `struct` or an `enum` without parameters, and is as it is written: no `#[data]`.
    pub(crate) is_bare: bool,
    /// What its derives give it.
    pub(crate) derives: Traits,
}

/// A module that is written in the file.
#[derive(Clone)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) outer: Place,
    /// Whether it is there, and as it is written.
    pub(super) certain: bool,
}

/// What certainly is a module of that name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Child {
    Bracket(Place),
    File,
}

/// What a file says of names, by bracket.
#[derive(Default)]
pub(super) struct Items {
    pub(super) names: HashMap<Place, HashMap<String, Plain>>,
    /// The paths of imports that certainly are there.
    pub(super) imports: HashMap<(Place, String), Vec<String>>,
    /// The paths of those with `*`.
    pub(super) globs: HashMap<Place, Vec<Vec<String>>>,
    /// Whether the paths of those with `*` from a prelude all begin with a crate that has no attributes but ours.
    pub(super) preludes: HashMap<Place, bool>,
    /// Items with an attribute that may be meant as one of ours.
    pub(super) lost: HashMap<(Place, String), Lost>,
    /// Constants of which it is not spelled that they are a `&str`.
    pub(super) no_texts: HashSet<(Place, String)>,
    /// The brackets in which a macro is called that may give names to items.
    pub(super) calls: HashSet<Place>,
    /// Those in which one is called that may import something, or something is imported that is not read.
    pub(super) importers: HashSet<Place>,
    pub(super) modules: HashMap<Place, Module>,
    pub(super) children: HashMap<(Place, String), Child>,
}

/// Stands for the names that a `use` with `*` brings, but for those of a prelude.
pub(super) const ALL: &str = "*";

const NOTHING: Plain = Plain {
    in_types: false,
    in_values: false,
    is_function: false,
    is_unclear: false,
    imported: false,
    is_bare: false,
    derives: Traits::NONE,
};
const TYPE: Plain = Plain { in_types: true, ..NOTHING };
const BARE: Plain = Plain { is_bare: true, ..TYPE };
const VALUE: Plain = Plain { in_values: true, ..NOTHING };
const FUNCTION: Plain = Plain { is_function: true, ..VALUE };
const IMPORT: Plain = Plain { imported: true, ..NOTHING };
const UNCLEAR: Plain = Plain { is_unclear: true, ..NOTHING };

/// The name itself.
fn plain(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}
