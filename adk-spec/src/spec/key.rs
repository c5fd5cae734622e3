//! [`KeySpec`]: state keys with their types.

use super::Accepts;
use crate::hash::hash;
use crate::number::{self, UNKNOWN};
use std::any::TypeId;
use std::fmt;
use std::mem::needs_drop;

/// A state key that an agent reads or writes, with its type as the user spelled it.
#[derive(Clone, Copy, serde::Serialize)]
#[non_exhaustive]
pub struct KeySpec<'a> {
    /// The key, with its prefix if it has one.
    pub name: &'a str,
    /// The type as the user spelled it.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Whether the key may be absent when it is read, or may be left out when it is written.
    pub optional: bool,
    /// The function that returns the `TypeId` of the type, if the type is known. Const evaluation
    /// cannot compare two `TypeId`s, so the function is called at run time only.
    #[serde(skip)]
    pub(crate) id: Option<fn() -> TypeId>,
    /// Whether a read accepts a value of any type.
    #[serde(skip)]
    pub any: bool,
    /// The hash of the name, if the macros computed it; otherwise 0. This field and those below
    /// are plain numbers, because rustc traverses each constant with a key many times, and an
    /// `Option` takes the most time.
    #[serde(skip)]
    pub(crate) hash: u64,
    /// Whether the name has a prefix, if the macros computed `hash`.
    #[serde(skip)]
    pub(crate) prefix: bool,
    /// The number of the type; see [`number`](crate::number).
    #[serde(skip)]
    pub number: u64,
    /// The size and alignment of the type, and whether it needs to be dropped; 0 if unknown. Types
    /// with different layouts are different types.
    #[serde(skip)]
    pub(crate) layout: u64,
    /// Whether the key is read as an `Option`, so that the written type may be an `Option` or its
    /// inner type.
    #[serde(skip)]
    pub(crate) perhaps: bool,
    /// Whether `ty` leaves out the `Option` around the type.
    #[serde(skip)]
    pub(crate) opened: bool,
    /// The index of the type in the runtime's trait `typed::Typed`, counted from 1; 0 if the type
    /// cannot be looked up there.
    #[serde(skip)]
    pub(crate) place: u8,
    /// The check whether a value has the type.
    #[serde(skip)]
    pub accepts: Option<Accepts>,
}

impl<'a> KeySpec<'a> {
    /// Creates a key that has to exist.
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

    /// Sets whether the key may be absent.
    #[must_use]
    pub const fn optional(mut self, yes: bool) -> Self {
        self.optional = yes;
        self
    }

    /// Sets the type itself, so that `key-type` does not depend on the spelling of the type.
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

    /// Sets whether a read accepts a value of any type, as `serde_json::Value` does.
    #[must_use]
    pub const fn any(mut self, yes: bool) -> Self {
        self.any = yes;
        self
    }

    /// Sets the check whether a value has the type.
    #[must_use]
    pub const fn accepting(mut self, accepts: Option<Accepts>) -> Self {
        self.accepts = accepts;
        self
    }

    /// Sets the number that `#[data]` gives to the type.
    #[must_use]
    pub fn numbered(mut self, number: u64) -> Self {
        (self.hash, self.prefix) = (hash(self.name), has_prefix(self.name));
        self.number = number;
        self
    }

    /// Returns the hash of the name.
    pub const fn hash(&self) -> u64 {
        match self.hash {
            0 => hash(self.name),
            hash => hash,
        }
    }

    /// Returns whether the key belongs to the session, regardless of the workflow that writes it.
    pub const fn has_prefix(&self) -> bool {
        match self.hash {
            0 => has_prefix(self.name),
            _ => self.prefix,
        }
    }

    /// Returns whether the values of the key carry no text.
    pub const fn is_closed(&self) -> bool {
        if self.number != UNKNOWN || self.any {
            return number::is_closed(self.number);
        }
        // A key that is declared at run time has the name that the compiler gives to its type.
        self.id.is_some() && number::is_closed_name(self.ty)
    }

    /// Sets the index at which the runtime's trait `typed::Typed` has the type.
    pub(crate) const fn with_place(mut self, place: u8) -> Self {
        self.place = place;
        self
    }

    /// Sets the type itself, if it is known; see [`of`](Self::of).
    #[must_use]
    pub const fn with_id(mut self, id: Option<fn() -> TypeId>) -> Self {
        self.id = id;
        self
    }

    /// Returns whether both types are known and differ, because their values have different
    /// layouts.
    pub(crate) const fn differs_in_layout(&self, other: &Self) -> bool {
        self.layout != 0 && other.layout != 0 && self.layout != other.layout
    }

    /// Returns whether the type itself is known.
    pub(crate) const fn is_typed(&self) -> bool {
        self.id.is_some()
    }

    /// Returns the function that returns the type itself, if the type is known.
    pub const fn known_type(&self) -> Option<fn() -> TypeId> {
        self.id
    }

    /// Returns the type itself, if it is known.
    pub fn type_id(&self) -> Option<TypeId> {
        self.id.map(|id| id())
    }
}

/// A flag in the index of a type, for a type that is spelled without the `Option` around it.
pub(crate) const OPENED: u8 = 0x80;

/// Returns the layout of a type as one number. An alignment is never 0, so the number is not 0
/// either.
pub(crate) const fn layout<T>() -> u64 {
    (size_of::<T>() as u64) << 16 | (align_of::<T>() as u64) << 1 | needs_drop::<T>() as u64
}

/// Returns whether a key belongs to the session, regardless of the workflow that writes it.
pub const fn has_prefix(key: &str) -> bool {
    any!(byte in key.as_bytes() => *byte == b':')
}

/// Writes `draft: String`, with `?` if the key may be absent.
impl fmt::Debug for KeySpec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}: {}",
            self.name,
            if self.optional { "?" } else { "" },
            self.ty
        )
    }
}

impl PartialEq for KeySpec<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.ty, self.optional, self.any)
            == (other.name, other.ty, other.optional, other.any)
            && self.type_id() == other.type_id()
    }
}

impl Eq for KeySpec<'_> {}
