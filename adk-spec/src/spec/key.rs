//! State keys with their types.

use super::Accepts;
use crate::hash::hash;
use crate::number::UNKNOWN;
use std::any::TypeId;
use std::fmt;
use std::mem::needs_drop;

/// A state key that an agent reads or writes, with its type as the user spelled it.
#[derive(Clone, Copy, serde::Serialize)]
#[non_exhaustive]
pub struct KeySpec<'a> {
    /// The key, with its prefix if it has one.
    pub name: &'a str,
    /// The type as it was spelled.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Read only if it is there, or written only perhaps.
    pub optional: bool,
    /// The type itself, where it is known. A function, since two `TypeId` cannot be compared in const evaluation.
    #[serde(skip)]
    pub(crate) id: Option<fn() -> TypeId>,
    /// It reads a value of any type.
    #[serde(skip)]
    pub any: bool,
    /// Its name as a number, where the macros wrote it; 0 is none. Plain numbers, here and below: rustc looks through each
    /// constant with a key again and again, and an `Option` takes it longest.
    #[serde(skip)]
    pub(crate) hash: u64,
    /// Whether its name has a prefix, where the macros wrote it.
    #[serde(skip)]
    pub(crate) prefix: bool,
    /// The number of its type; see [`number`](crate::number).
    #[serde(skip)]
    pub number: u64,
    /// How large its type is, how it is aligned, and whether it has to be dropped: what differs here is not of one type. 0
    /// is none.
    #[serde(skip)]
    pub(crate) layout: u64,
    /// Read as an `Option`, so that the type of the key may be one as well.
    #[serde(skip)]
    pub(crate) perhaps: bool,
    /// Its type is spelled without the `Option` around it.
    #[serde(skip)]
    pub(crate) opened: bool,
    /// Where `typed::Typed` has its type, counted from 1; 0 for nowhere.
    #[serde(skip)]
    pub(crate) place: u8,
    /// Says what is wrong with a value that is not of its type.
    #[serde(skip)]
    pub accepts: Option<Accepts>,
}

impl<'a> KeySpec<'a> {
    /// A key that has to be there.
    pub const fn new(name: &'a str, ty: &'a str) -> Self {
        Self {
            name,
            ty,
            optional: false,
            id: None,
            any: false,
            hash: 0,
            prefix: false,
            number: UNKNOWN,
            layout: 0,
            perhaps: false,
            opened: false,
            place: 0,
            accepts: None,
        }
    }

    /// Says whether it may be absent.
    #[must_use]
    pub const fn optional(mut self, yes: bool) -> Self {
        self.optional = yes;
        self
    }

    /// Says which type it is, so that `key-type` does not depend on how the type is spelled.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::KeySpec;
    /// type Score = f64;
    /// const SCORE: KeySpec<'static> = KeySpec::new("score", "Score").of::<f64>();
    /// assert_eq!(SCORE.type_id(), Some(std::any::TypeId::of::<f64>()));
    /// ```
    #[must_use]
    pub const fn of<T: 'static>(mut self) -> Self {
        self.id = Some(TypeId::of::<T>);
        self
    }

    /// Says whether it reads a value of any type, as `serde_json::Value` does.
    #[must_use]
    pub const fn any(mut self, yes: bool) -> Self {
        self.any = yes;
        self
    }

    /// Says how a value that is not of its type is found.
    #[must_use]
    pub const fn accepting(mut self, accepts: Option<Accepts>) -> Self {
        self.accepts = accepts;
        self
    }

    /// Says the number of its type, as `#[data]` gives one to a type.
    #[must_use]
    pub fn numbered(mut self, number: u64) -> Self {
        (self.hash, self.prefix) = (hash(self.name), has_prefix(self.name));
        self.number = number;
        self
    }

    /// Its name as a number.
    pub const fn hash(&self) -> u64 {
        match self.hash {
            0 => hash(self.name),
            hash => hash,
        }
    }

    /// Whether it belongs to the session whatever workflow writes it.
    pub const fn has_prefix(&self) -> bool {
        match self.hash {
            0 => has_prefix(self.name),
            _ => self.prefix,
        }
    }

    /// Where its type can be looked up.
    pub(crate) const fn placed(mut self, place: u8) -> Self {
        self.place = place;
        self
    }

    /// Says which type it is, where that is known; see [`of`](Self::of).
    #[must_use]
    pub const fn with_id(mut self, id: Option<fn() -> TypeId>) -> Self {
        self.id = id;
        self
    }

    /// Whether both types are known and cannot be one, since a value of one takes other room than one of the other.
    pub(crate) const fn differs_in_layout(&self, other: &Self) -> bool {
        self.layout != 0 && other.layout != 0 && self.layout != other.layout
    }

    /// Whether the type itself is known.
    pub(crate) const fn is_typed(&self) -> bool {
        self.id.is_some()
    }

    /// What gives the type itself, where it is known.
    pub const fn known_type(&self) -> Option<fn() -> TypeId> {
        self.id
    }

    /// The type itself, where it is known.
    pub fn type_id(&self) -> Option<TypeId> {
        self.id.map(|id| id())
    }
}

/// Beside the place of a type that is spelled without the `Option` around it.
pub(crate) const OPENED: u8 = 0x80;

/// One number for it; an alignment is never 0.
pub(crate) const fn layout<T>() -> u64 {
    (size_of::<T>() as u64) << 16 | (align_of::<T>() as u64) << 1 | needs_drop::<T>() as u64
}

/// Whether a key belongs to the session whatever workflow writes it.
pub const fn has_prefix(key: &str) -> bool {
    any!(byte in key.as_bytes() => *byte == b':')
}

/// As text: `draft: String`, with `?` when it may be absent.
impl fmt::Debug for KeySpec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.name, if self.optional { "?" } else { "" }, self.ty)
    }
}

impl PartialEq for KeySpec<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.ty, self.optional, self.any) == (other.name, other.ty, other.optional, other.any)
            && self.type_id() == other.type_id()
    }
}

impl Eq for KeySpec<'_> {}
