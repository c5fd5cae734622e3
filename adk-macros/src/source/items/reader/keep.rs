//! What a statement says, once it is read: a name, an import, a module, an attribute.

use super::super::{Child, IMPORT, Plain, UNCLEAR, VALUE, plain};
use super::state::{Path, State};
use super::{GLOBAL, Reader};
use crate::source::lost::{self, Lost};
use crate::source::{Around, Scope};

/// Attributes behind which an item is as it was written.
const INERT: [&str; 18] = [
    "allow",
    "automatically_derived",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "inline",
    "macro_use",
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "track_caller",
    "warn",
];

impl<'a> Reader<'a> {
    /// What a constant is, as the first word of its type tells.
    pub(super) fn typed(&mut self, name: &str, is_text: bool) {
        if !is_text {
            self.found.no_texts.insert((self.around.bracket, plain(name).to_owned()));
        }
    }

    /// A part of a `use` is read.
    pub(super) fn import(&mut self) {
        let Path { names, outside, renamed } = &mut self.path;
        if names.len() > *outside {
            if names.last() == Some(&"self") {
                names.pop();
            }
            let name = renamed.flatten().or(names.last().copied());
            let path = names.iter().copied().map(str::to_owned).collect();
            names.truncate(*outside);
            if let Some(name) = name {
                self.keep(name, IMPORT);
                if self.certain && self.inert {
                    self.found.imports.insert((self.around.bracket, name.to_owned()), path);
                }
            }
        }
        self.path.renamed = None;
    }

    pub(super) fn glob(&mut self) {
        if self.certain && self.inert {
            let path = self.path.names.iter().map(|name| (*name).to_owned()).collect();
            self.found.globs.entry(self.around.bracket).or_default().push(path);
        }
    }

    /// A module of that name, which is there as it is written.
    pub(super) fn child(&mut self, name: &str, child: Child) {
        if self.certain && self.inert {
            self.found.children.insert((self.around.bracket, name.to_owned()), child);
        }
    }

    pub(super) fn name(&mut self, name: &'a str, kind: Plain) -> State<'a> {
        if self.certain {
            self.keep(name, if self.inert { Plain { is_bare: false, ..kind } } else { UNCLEAR });
        }
        if kind.is_function {
            self.lose(name, true);
        }
        match kind {
            Plain { is_bare: true, .. } if self.certain => State::Bare(name),
            VALUE => State::Typed(name),
            _ => State::Rest,
        }
    }

    /// The name of an attribute.
    pub(super) fn attribute(&mut self, word: &str) {
        if INERT.contains(&word) {
            return;
        }
        let name = (!self.inner).then(|| word.to_owned());
        let is_first = self.meant.as_ref().is_some_and(|meant| meant.attribute.is_none());
        let may_be_meant = lost::is_meant(word) || word == lost::FACADE;
        self.meant = self.meant.take().filter(|_| is_first && may_be_meant);
        if let Some(meant) = &mut self.meant {
            meant.attribute = name;
        }
        self.inert = false;
    }

    pub(super) fn prelude(&mut self) {
        let first = self.path.names.iter().find(|name| **name != GLOBAL);
        let is_known = first.is_some_and(|first| ["adk", "std", "core", "alloc"].contains(first));
        *self.found.preludes.entry(self.around.bracket).or_insert(true) &= is_known;
    }

    /// An item of a module, with an attribute that may be meant as one of ours.
    pub(super) fn lose(&mut self, name: &str, is_function: bool) {
        let Around { associated, scope, bracket } = self.around;
        let is_item = self.certain && !self.inert && !associated && scope == Scope::Module;
        if let Some(meant) = self.meant.as_ref().filter(|_| is_item) {
            let lost = Lost { is_function, derives: self.derives, ..meant.clone() };
            self.found.lost.insert((bracket, plain(name).to_owned()), lost);
        }
    }

    pub(super) fn keep(&mut self, name: &str, kind: Plain) {
        let Around { associated, scope, bracket } = self.around;
        if associated || !matches!(scope, Scope::Module | Scope::Block(_)) || name == "_" {
            return;
        }
        let names = self.found.names.entry(bracket).or_default();
        let known = names.entry(plain(name).to_owned()).or_default();
        known.in_types |= kind.in_types;
        known.in_values |= kind.in_values;
        known.is_function |= kind.is_function;
        known.is_unclear |= kind.is_unclear;
        known.imported |= kind.imported;
        known.is_bare |= kind.is_bare;
        known.derives = known.derives.and(kind.derives);
    }
}
