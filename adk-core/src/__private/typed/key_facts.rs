//! [`KeyFacts`]: facts about the type of a key, such as whether it is a reference, an `Option`, a
//! list or any JSON value.

use super::Numbered;
use super::{Absent, Fits, Is, Pair, Perhaps, Typed, UnknownType};
use adk_spec::number::NONE;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The facts about a type. Use `KeyFacts::<T>::LIST` with [`KeyFactDefaults`] in scope.
#[derive(Debug)]
pub struct KeyFacts<T: ?Sized>(PhantomData<T>);

/// The facts about all other types.
pub trait KeyFactDefaults {
    /// Whether the types fit.
    const YES: bool = false;
    /// 1 for a reference, 2 for a reference to text or a path, 3 for a reference to a list, also in
    /// an `Option`.
    const REF: usize = 0;
    /// Whether the type is `serde_json::Value`.
    const VALUE: bool = false;
    /// 1 for a list, 2 for an array, 3 for a `VecDeque`, 4 and 5 for sets, 6 for an unknown type.
    const LIST: usize = 0;
    /// Whether the type is an `Option` or unknown.
    const OPTION: bool = false;
    /// Whether the types of the agent's keys are known.
    const TYPED: bool = false;
    /// The [number](Numbered) that identifies the type; [`NONE`] if it has no number.
    const NUMBER: u64 = NONE;
    /// Whether values of the type are known to carry no text.
    const CLOSED: bool = false;
}

impl<A, B> KeyFactDefaults for Fits<A, B> {}
impl<
    K,
    S,
    const KEY: usize,
    const PLACE: usize,
    const SAYS: usize,
    const SAID: usize,
    const LISTS: usize,
> KeyFactDefaults for Pair<K, S, KEY, PLACE, SAYS, SAID, LISTS>
{
}
impl<T: ?Sized> KeyFactDefaults for KeyFacts<T> {}

impl KeyFacts<serde_json::Value> {
    /// `true` for any JSON value.
    pub const VALUE: bool = true;
}

impl<T: Numbered + ?Sized> KeyFacts<T> {
    /// The number that identifies the type.
    pub const NUMBER: u64 = T::NUMBER;
    /// Whether values of the type are known to carry no text.
    pub const CLOSED: bool = T::CLOSED;
}

impl<T> KeyFacts<Option<T>> {
    /// `true` for an `Option`.
    pub const OPTION: bool = true;
}

impl KeyFacts<Absent> {
    /// `true`, because an unknown type may be an `Option`.
    pub const OPTION: bool = true;
}

impl<T: Typed> KeyFacts<T> {
    /// `true` for an agent with known types.
    pub const TYPED: bool = true;
}

/// How a parameter or a declared read of a type reads its key:
/// `<T as Reads<{ TypeFacts::<T>::OPTIONAL }, { KeyFacts::<T>::REF }>>::Key`. One trait has all
/// associated types, because each question about a type costs compile time in the user's crate.
pub trait Reads<const OPTIONAL: bool, const REF: usize> {
    /// The type of the key, without an `Option` and a reference.
    type Key;
    /// The entry of [`Typed::Reads`].
    type Entry;
}

macro_rules! reads {
    ($([$($generic:ident)?] $number:tt: $read:ty => $key:ty;)*) => {$(
        reads!(@facts $number [$($generic)?] $read);

        impl<$($generic)?> Reads<false, $number> for $read {
            type Key = $key;
            type Entry = Is<$key>;
        }

        impl<$($generic)?> Reads<true, $number> for Option<$read> {
            type Key = $key;
            type Entry = Perhaps<$key>;
        }
    )*};
    (@facts 0 $($other:tt)*) => {};
    (@facts $number:literal [$($generic:ident)?] $read:ty) => {
        reads!(@fact $number [$($generic)?] $read);
        reads!(@fact $number [$($generic)?] Option<$read>);
    };
    (@fact $number:literal [$($generic:ident)?] $read:ty) => {
        impl<$($generic)?> KeyFacts<$read> {
            /// The number of the kind of reference.
            pub const REF: usize = $number;
        }
    };
}

reads! {
    [T] 0: T => T;
    [T] 1: &T => T;
    [] 2: &str => String;
    [] 2: &Path => PathBuf;
    [T] 3: &[T] => Vec<T>;
}

/// The element of a list: `<T as Element<{ KeyFacts::<T>::LIST }>>::Key`.
pub trait Element<const LIST: usize> {
    /// [`Is`] the element; [`UnknownType`] for a type that is not a list, which is reported.
    type Key;
}

impl<T> Element<0> for T {
    type Key = UnknownType;
}

macro_rules! lists {
    ($($number:literal: $list:ty => $key:ty $(, $type:ident)? $(; $size:ident)?)*) => {$(
        impl<$($type,)? $(const $size: usize)?> KeyFacts<$list> {
            /// The number of the kind of list.
            pub const LIST: usize = $number;
        }

        impl<$($type,)? $(const $size: usize)?> Element<$number> for $list {
            type Key = $key;
        }
    )*};
}

lists! {
    1: Vec<T> => Is<T>, T
    2: [T; N] => Is<T>, T; N
    3: VecDeque<T> => Is<T>, T
    4: HashSet<T> => Is<T>, T
    5: BTreeSet<T> => Is<T>, T
    // An unknown type may be a list.
    6: Absent => UnknownType
}
