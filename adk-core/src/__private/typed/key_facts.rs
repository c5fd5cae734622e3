//! [`KeyFacts`]: facts about the type of a key, such as whether it is a reference, an `Option`, a
//! list or any JSON value.

use super::Numbered;
use super::{Absent, Anything, Fits, Is, Pair, Perhaps, Typed, UnknownType};
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
    /// 1 for a reference, 2 for a reference to text or a path, 3 for a reference to a list.
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

impl<T> KeyFacts<&T> {
    /// 1 for a reference.
    pub const REF: usize = 1;
}

impl KeyFacts<&str> {
    /// 2 for text.
    pub const REF: usize = 2;
}

impl KeyFacts<&Path> {
    /// 2 for a path.
    pub const REF: usize = 2;
}

impl<T> KeyFacts<&[T]> {
    /// 3 for a borrowed list.
    pub const REF: usize = 3;
}

impl KeyFacts<serde_json::Value> {
    /// `true` for any JSON value.
    pub const VALUE: bool = true;
}

impl<T: Numbered + ?Sized> KeyFacts<T> {
    /// The number that identifies the type.
    pub const NUMBER: u64 = T::NUMBER;
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

/// The type without its `Option`: `<T as OfOption<{ TypeFacts::<T>::OPTIONAL }>>::Value`.
pub trait OfOption<const OPTIONAL: bool> {
    /// The inner type, or the type itself.
    type Value;
    /// How a parameter of this type reads its key: [`Certain`] or [`Optional`].
    type Parameter: Parameter<Value = Self::Value>;
}

impl<T> OfOption<false> for T {
    type Value = T;
    type Parameter = Certain<T>;
}

impl<T> OfOption<true> for Option<T> {
    type Value = T;
    type Parameter = Optional<T>;
}

/// How a parameter reads its key. One trait has all associated types, because each question about a
/// type costs compile time in the user's crate.
pub trait Parameter {
    /// The type of a present value.
    type Value;
    /// The entry of [`Typed::Reads`] for a key of type `K`.
    type Read<K>;
    /// The entry of [`Typed::Reads`] for a key of the parameter's own type.
    type Own;
}

/// A parameter whose key must be present.
#[derive(Debug)]
pub struct Certain<T>(PhantomData<T>);

impl<T> Parameter for Certain<T> {
    type Value = T;
    type Read<K> = Is<K>;
    type Own = Is<T>;
}

/// A parameter whose key may be absent.
#[derive(Debug)]
pub struct Optional<T>(PhantomData<T>);

impl<T> Parameter for Optional<T> {
    type Value = T;
    type Read<K> = Perhaps<K>;
    type Own = Perhaps<T>;
}

/// The type of the key from which a parameter borrows:
/// `<T as OfRef<{ KeyFacts::<T>::REF }>>::Value`.
pub trait OfRef<const REF: usize> {
    /// The type of the key.
    type Value;
}

impl<T> OfRef<0> for T {
    type Value = T;
}

impl<T> OfRef<1> for &T {
    type Value = T;
}

impl OfRef<2> for &str {
    type Value = String;
}

impl OfRef<2> for &Path {
    type Value = PathBuf;
}

impl<T> OfRef<3> for &[T] {
    type Value = Vec<T>;
}

/// The type that a reader expects: `<T as OfValue<{ KeyFacts::<T>::VALUE }>>::Value`. A reader of
/// `serde_json::Value` reads any type.
pub trait OfValue<const VALUE: bool> {
    /// The type, or [`Anything`].
    type Value;
}

impl<T> OfValue<false> for T {
    type Value = T;
}

impl<T> OfValue<true> for T {
    type Value = Anything;
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
