//! What is asked about one type: whether it borrows, is an `Option`, a list, or any value at all.

use super::Numbered;
use super::{Absent, Anything, Fits, Is, Pair, Perhaps, Typed, UnknownType};
use adk_spec::number::NONE;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Asks about a type: `KeyFacts::<T>::LIST`, with [`KeyFactDefaults`] in scope.
#[derive(Debug)]
pub struct KeyFacts<T: ?Sized>(PhantomData<T>);

/// What holds where nothing else is said.
pub trait KeyFactDefaults {
    /// What agents say fits.
    const YES: bool = false;
    /// 1 for a reference, 2 for one to text or a path, 3 for one to a list.
    const REF: usize = 0;
    /// It is `serde_json::Value`.
    const VALUE: bool = false;
    /// 1 for a list, 2 for an array, 3 for a `VecDeque`, 4 and 5 for sets, 6 for what is not known.
    const LIST: usize = 0;
    /// It is an `Option`, or not known.
    const OPTION: bool = false;
    /// Its types are known.
    const TYPED: bool = false;
    /// Its number as the type of a key; 2 is none.
    const NUMBER: u64 = NONE;
}

impl<A, B> KeyFactDefaults for Fits<A, B> {}
impl<K, S, const KEY: usize, const PLACE: usize, const SAYS: usize, const SAID: usize, const LISTS: usize>
    KeyFactDefaults for Pair<K, S, KEY, PLACE, SAYS, SAID, LISTS>
{
}
impl<T: ?Sized> KeyFactDefaults for KeyFacts<T> {}

impl<T> KeyFacts<&T> {
    /// It is a reference.
    pub const REF: usize = 1;
}

impl KeyFacts<&str> {
    /// It is text.
    pub const REF: usize = 2;
}

impl KeyFacts<&Path> {
    /// It is a path.
    pub const REF: usize = 2;
}

impl<T> KeyFacts<&[T]> {
    /// It is a borrowed list.
    pub const REF: usize = 3;
}

impl KeyFacts<serde_json::Value> {
    /// It is any value.
    pub const VALUE: bool = true;
}

impl<T: Numbered + ?Sized> KeyFacts<T> {
    /// Its number as the type of a key.
    pub const NUMBER: u64 = T::NUMBER;
}

impl<T> KeyFacts<Option<T>> {
    /// It is an `Option`.
    pub const OPTION: bool = true;
}

impl KeyFacts<Absent> {
    /// What is not known may be one.
    pub const OPTION: bool = true;
}

impl<T: Typed> KeyFacts<T> {
    /// Its types are known.
    pub const TYPED: bool = true;
}

/// Takes the `Option` off: `<T as OfOption<{ TypeFacts::<T>::OPTIONAL }>>::Value`.
pub trait OfOption<const OPTIONAL: bool> {
    /// What is inside, or the type itself.
    type Value;
    /// How a parameter of this type reads.
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

/// How a parameter reads: as one alias, since each question about a type costs something where it is asked.
pub trait Parameter {
    /// What it takes when the key is there.
    type Value;
    /// What [`Typed::Reads`] says of it where its key is a `K`.
    type Read<K>;
    /// The same where its key is what it takes.
    type Own;
}

/// A parameter whose key has to be there.
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

/// The type of the key that a parameter borrows from: `<T as OfRef<{ KeyFacts::<T>::REF }>>::Value`.
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

/// A reader of `serde_json::Value` reads any type: `<T as OfValue<{ KeyFacts::<T>::VALUE }>>::Value`.
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
    /// [`Is`] the element; [`UnknownType`] for a type that is no list, which is reported.
    type Key;
}

impl<T> Element<0> for T {
    type Key = UnknownType;
}

macro_rules! lists {
    ($($number:literal: $list:ty => $key:ty $(, $type:ident)? $(; $size:ident)?)*) => {$(
        impl<$($type,)? $(const $size: usize)?> KeyFacts<$list> {
            /// It is a list.
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
    // What is not known may be one.
    6: Absent => UnknownType
}
