//! The traits of data, as code needs them of a type, and as derives give them.

use proc_macro2::{Ident, Span};

/// Some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits(u8);

impl Traits {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const CLONE: Self = Self(1);
    pub(crate) const DEBUG: Self = Self(2);
    /// It can be read.
    pub(crate) const READ: Self = Self(4);
    /// It can be written.
    pub(crate) const WRITTEN: Self = Self(8);
    /// Models are told what it is.
    pub(crate) const SCHEMA: Self = Self(16);
    /// A key holds it.
    pub(crate) const SERDE: Self = Self::READ.and(Self::WRITTEN);
    /// Models read and write it.
    pub(crate) const MODEL: Self = Self::SERDE.and(Self::SCHEMA);
    pub(crate) const ALL: Self = Self::MODEL.and(Self::CLONE).and(Self::DEBUG);

    /// What a derive of that name gives.
    pub(crate) fn derived(name: &str) -> Self {
        match name {
            "Clone" => Self::CLONE,
            "Debug" => Self::DEBUG,
            "Deserialize" => Self::READ,
            "Serialize" => Self::WRITTEN,
            "JsonSchema" => Self::SCHEMA,
            _ => Self::NONE,
        }
    }

    /// What derives of these names give.
    pub(crate) fn of(names: impl IntoIterator<Item = String>) -> Self {
        names.into_iter().fold(Self::NONE, |all, name| all.and(Self::derived(&name)))
    }

    /// The names of the consts of `bare::Probe` that tell whether a type has them.
    pub(crate) fn consts(self) -> impl Iterator<Item = Ident> {
        let all = [
            (Self::CLONE, "CLONE"),
            (Self::DEBUG, "DEBUG"),
            (Self::READ, "READ"),
            (Self::WRITTEN, "WRITTEN"),
            (Self::SCHEMA, "SCHEMA"),
        ];
        all.into_iter()
            .filter(move |(one, _)| self.has(*one))
            .map(|(_, name)| Ident::new(name, Span::call_site()))
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of the others are among them.
    pub(crate) const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether none of the others is.
    pub(crate) const fn lacks(self, others: Self) -> bool {
        self.0 & others.0 == 0
    }
}
