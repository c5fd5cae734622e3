//! The types of keys, compared at compile time across modules and crates: what `key-type` asks.
//!
//! Each agent that a macro made says by [`Typed`] what it reads and writes. A workflow gives each of its writers a
//! number by [`At`]; const evaluation says which number the type of a key has, and [`Fits`] compares. All of this works
//! on known types only, which is what the macros have. Nothing here exists at run time.

use crate::spec::{AgentMeta, KeySpec};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::marker::PhantomData;

/// No key.
#[derive(Debug)]
pub struct Absent;

/// What a reader of any type reads.
#[derive(Debug)]
pub struct Anything;

/// What an agent reads and writes, as types. Made by the macros.
pub trait Typed {
    /// The first [`crate::check::FEW`] keys that it reads, in the order of its description.
    type Reads;
    /// Those behind them, of a workflow: [`crate::check::READS`] with the first ones.
    type More;
    /// The first keys that it writes: a tuple of [`crate::check::WRITES`].
    type Writes: First;
}

/// The keys of an agent that is written by hand, as `#[agent(reads(...), writes(...))]` says them.
pub trait Keyed {
    /// The keys that it reads.
    const READS: &'static [KeySpec<'static>];
    /// The keys that it writes.
    const WRITES: &'static [KeySpec<'static>];
}

/// A description with these keys, so that there is one place that says them.
#[track_caller]
pub const fn described<A: Keyed + ?Sized>(meta: AgentMeta<'static>) -> AgentMeta<'static> {
    crate::check::raise_keys(&meta);
    meta.reads(A::READS).writes(A::WRITES)
}

/// The parts of [`Typed::Writes`].
pub trait First {
    /// The first.
    type T0;
    /// The second.
    type T1;
    /// The third.
    type T2;
    /// The fourth.
    type T3;
    /// The fifth.
    type T4;
    /// The sixth.
    type T5;
    /// The seventh.
    type T6;
    /// The eighth.
    type T7;
}

impl<A, B, C, D, E, F, G, H> First for (A, B, C, D, E, F, G, H) {
    type T0 = A;
    type T1 = B;
    type T2 = C;
    type T3 = D;
    type T4 = E;
    type T5 = F;
    type T6 = G;
    type T7 = H;
}

/// Stands for an agent of which only the description is known.
#[derive(Debug)]
pub struct Untyped;

impl Typed for Untyped {
    type Reads = (Absent, Absent, Absent, Absent, Absent, Absent, Absent);
    type More = (Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent);
    type Writes = (Absent, Absent, Absent, Absent, Absent, Absent, Absent, Absent);
}

/// The types of an agent, or [`Untyped`]: `<T as TypesOf<{ Of::<T>::TYPED }>>::Types`.
pub trait TypesOf<const TYPED: bool> {
    /// Its types.
    type Types: Typed;
}

impl<T: Typed> TypesOf<true> for T {
    type Types = T;
}

impl<T> TypesOf<false> for T {
    type Types = Untyped;
}

/// The type of a writer, by its number. A workflow implements it on a type of its own.
pub trait At<const NUMBER: usize> {
    /// The type of the key.
    type Key;
}

/// The type of a key with that many lists around it.
pub trait Lists<const DEPTH: usize> {
    /// The list.
    type List;
}

impl<T> Lists<0> for T {
    type List = T;
}

macro_rules! depths {
    ($($depth:literal = $less:literal + 1;)*) => {$(
        impl<T> Lists<$depth> for T {
            type List = Vec<<T as Lists<$less>>::List>;
        }
    )*};
}

// As many as `check::LISTS`.
depths! {
    1 = 0 + 1; 2 = 1 + 1; 3 = 2 + 1; 4 = 3 + 1; 5 = 4 + 1; 6 = 5 + 1; 7 = 6 + 1; 8 = 7 + 1;
}

/// Whether two types are equal: `Fits::<A, B>::YES`, with [`Otherwise`] in scope.
#[derive(Debug)]
pub struct Fits<A, B>(PhantomData<(A, B)>);

impl<T> Fits<T, T> {
    /// They are.
    pub const YES: bool = true;
}

/// Asks about a type: `Of::<T>::LIST`, with [`Otherwise`] in scope.
#[derive(Debug)]
pub struct Of<T: ?Sized>(PhantomData<T>);

/// What holds where nothing else is said.
pub trait Otherwise {
    /// Two types are equal.
    const YES: bool = false;
    /// 1 for a reference, 2 for one to text, 3 for one to a list.
    const REF: usize = 0;
    /// It is `serde_json::Value`.
    const VALUE: bool = false;
    /// 1 for a list, 2 for an array, 3 for a `VecDeque`, 4 and 5 for sets.
    const LIST: usize = 0;
    /// Its types are known.
    const TYPED: bool = false;
}

impl<A, B> Otherwise for Fits<A, B> {}
impl<T: ?Sized> Otherwise for Of<T> {}

impl<T> Of<&T> {
    /// It is a reference.
    pub const REF: usize = 1;
}

impl Of<&str> {
    /// It is text.
    pub const REF: usize = 2;
}

impl<T> Of<&[T]> {
    /// It is a borrowed list.
    pub const REF: usize = 3;
}

impl Of<serde_json::Value> {
    /// It is any value.
    pub const VALUE: bool = true;
}

impl<T: Typed> Of<T> {
    /// Its types are known.
    pub const TYPED: bool = true;
}

/// Takes the `Option` off: `<T as OfOption<{ Probe::<T>::OPTIONAL }>>::Value`.
pub trait OfOption<const OPTIONAL: bool> {
    /// What is inside, or the type itself.
    type Value;
}

impl<T> OfOption<false> for T {
    type Value = T;
}

impl<T> OfOption<true> for Option<T> {
    type Value = T;
}

/// The type of the key that a parameter borrows from: `<T as OfRef<{ Of::<T>::REF }>>::Value`.
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

impl<T> OfRef<3> for &[T] {
    type Value = Vec<T>;
}

/// A reader of `serde_json::Value` reads any type: `<T as OfValue<{ Of::<T>::VALUE }>>::Value`.
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

/// Chooses one of two types: `<(A, B) as Choose<{ ... }>>::Type`.
pub trait Choose<const FIRST: bool> {
    /// The one.
    type Type;
}

impl<A, B> Choose<true> for (A, B) {
    type Type = A;
}

impl<A, B> Choose<false> for (A, B) {
    type Type = B;
}

/// The element of a list: `<T as Element<{ Of::<T>::LIST }>>::Item`.
pub trait Element<const LIST: usize> {
    /// The element; the type itself when it is no list, which is reported.
    type Item;
}

impl<T> Element<0> for T {
    type Item = T;
}

macro_rules! lists {
    ($($number:literal: $list:ty $(, $size:ident)?;)*) => {$(
        impl<T $(, const $size: usize)?> Of<$list> {
            /// It is a list.
            pub const LIST: usize = $number;
        }

        impl<T $(, const $size: usize)?> Element<$number> for $list {
            type Item = T;
        }
    )*};
}

lists! {
    1: Vec<T>;
    2: [T; N], N;
    3: VecDeque<T>;
    4: HashSet<T>;
    5: BTreeSet<T>;
}
