//! The types of keys, compared at compile time across modules and crates: what `key-type` asks.
//!
//! Each agent that a macro made says by [`Typed`] what it reads and writes. A workflow gives each of its writers a
//! number by [`At`]; const evaluation says which number the type of a key has, and [`Fits`] compares. All of this works
//! on known types only, which is what the macros have. Nothing here exists at run time.

use crate::spec::number::NONE;
pub use crate::spec::number::{Numbered, UNKNOWN, of_name, with};
use crate::spec::{AgentMeta, KeySpec};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::marker::PhantomData;

/// No key.
#[derive(Debug)]
pub struct Absent;

/// What a reader of any type reads.
#[derive(Debug)]
pub struct Anything;

/// The type of a key, where it is known.
#[derive(Debug)]
pub struct Is<T>(PhantomData<T>);

/// Stands for the type of a key of which nothing is known, or that is not asked for: everything fits it.
#[derive(Debug)]
pub struct Nothing;

/// Whether a type that an agent says fits that of the key.
pub trait Takes<T> {}

/// A key that is read only where it is there: it may be a `T`, or an `Option` of one.
#[derive(Debug)]
pub struct Perhaps<T>(PhantomData<T>);

impl<T> Takes<T> for Is<T> {}
impl<T> Takes<Perhaps<T>> for Is<T> {}
impl<T> Takes<Perhaps<T>> for Is<Option<T>> {}
impl<T> Takes<T> for Nothing {}

/// The type of a key as itself.
pub trait Known {
    /// [`Absent`] where it is not known.
    type Type;
}

impl<T> Known for Is<T> {
    type Type = T;
}

impl Known for Nothing {
    type Type = Absent;
}

/// What an agent reads and writes, as types. Made by the macros.
pub trait Typed {
    /// The first [`crate::check::FEW`] keys that it reads, by the places that its description gives them.
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
}

impl<A, B, C, D> First for (A, B, C, D) {
    type T0 = A;
    type T1 = B;
    type T2 = C;
    type T3 = D;
}

/// Stands for an agent of which only the description is known.
#[derive(Debug)]
pub struct Untyped;

impl Typed for Untyped {
    type Reads = (Absent, Absent, Absent);
    type More = (Absent,);
    type Writes = (Absent, Absent, Absent, Absent);
}

/// What the type of a step is: 1 for an agent, and 2 more where its types are known. One number for all that depends on it:
/// each question about a type costs time in the user's crate.
#[derive(Debug)]
pub struct Kind<const KIND: u8>;

/// Its number.
pub const fn kind(agent: bool, typed: bool) -> u8 {
    agent as u8 + 2 * typed as u8
}

/// The types of an agent, or [`Untyped`]: `<T as TypesOf<Kind<{ ... }>>>::Types`.
pub trait TypesOf<K> {
    /// Its types.
    type Types: Typed;
}

impl<T> TypesOf<Kind<0>> for T {
    type Types = Untyped;
}

impl<T> TypesOf<Kind<1>> for T {
    type Types = Untyped;
}

impl<T: Typed> TypesOf<Kind<2>> for T {
    type Types = T;
}

impl<T: Typed> TypesOf<Kind<3>> for T {
    type Types = T;
}

/// The type of a writer, by its number. A workflow implements it on a type of its own.
pub trait At<const NUMBER: usize> {
    /// [`Is`], or [`Nothing`].
    type Key;
}

/// The type of a key with that many lists around it.
pub trait Lists<const DEPTH: usize> {
    /// The list.
    type List;
}

impl Lists<0> for Nothing {
    type List = Self;
}

impl<T> Lists<0> for Is<T> {
    type List = Self;
}

macro_rules! depths {
    ($($depth:literal = $less:literal + 1;)*) => {$(
        impl<T> Lists<$depth> for Is<T> {
            type List = <Is<Vec<T>> as Lists<$less>>::List;
        }
    )*};
}

// As many as `check::LISTS`.
depths! {
    1 = 0 + 1; 2 = 1 + 1; 3 = 2 + 1; 4 = 3 + 1; 5 = 4 + 1; 6 = 5 + 1; 7 = 6 + 1; 8 = 7 + 1;
}

/// Whether what agents say fits the types of keys: `Fits::<K, T>::YES`, with [`Otherwise`] in scope. Both may be tuples.
#[derive(Debug)]
pub struct Fits<K, T>(PhantomData<(K, T)>);

impl<T, K: Takes<T>> Fits<K, T> {
    /// They do.
    pub const YES: bool = true;
}

/// The same for a step whose own type says what it reads and writes, by the numbers of those keys: of most steps this is
/// asked, and rustc takes less time for one type with numbers than for tuples of what they stand for.
#[derive(Debug)]
pub struct FitsStep<K, T, const A: usize, const B: usize, const C: usize, const W: usize>(
    PhantomData<(K, T)>,
);

impl<K, T, const A: usize, const B: usize, const C: usize, const W: usize> FitsStep<K, T, A, B, C, W>
where
    K: At<A> + At<B> + At<C> + At<W>,
    T: Typed,
    (<K as At<A>>::Key, <K as At<B>>::Key, <K as At<C>>::Key): Takes<T::Reads>,
    <K as At<W>>::Key: Takes<<T::Writes as First>::T0>,
{
    /// They do.
    pub const YES: bool = true;
}

impl<K, T, const A: usize, const B: usize, const C: usize, const W: usize> Otherwise
    for FitsStep<K, T, A, B, C, W>
{
}

macro_rules! tuples {
    ($(($($key:ident $ty:ident),*))*) => {$(
        impl<$($ty, $key: Takes<$ty>),*> Takes<($($ty,)*)> for ($($key,)*) {}
    )*};
}

// As long as the longest of `Typed`, and those.
tuples! {
    ()
    (A S)
    (A S, B T)
    (A S, B T, C U)
    (A S, B T, C U, D V)
}

/// Asks about a type: `Of::<T>::LIST`, with [`Otherwise`] in scope.
#[derive(Debug)]
pub struct Of<T: ?Sized>(PhantomData<T>);

/// What holds where nothing else is said.
pub trait Otherwise {
    /// What agents say fits.
    const YES: bool = false;
    /// 1 for a reference, 2 for one to text, 3 for one to a list.
    const REF: usize = 0;
    /// It is `serde_json::Value`.
    const VALUE: bool = false;
    /// 1 for a list, 2 for an array, 3 for a `VecDeque`, 4 and 5 for sets, 6 for what is not known.
    const LIST: usize = 0;
    /// Its types are known.
    const TYPED: bool = false;
    /// Its number as the type of a key; 1 is none.
    const NUMBER: u64 = NONE;
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

impl<T: Numbered + ?Sized> Of<T> {
    /// Its number as the type of a key.
    pub const NUMBER: u64 = T::NUMBER;
}

impl<T: Typed> Of<T> {
    /// Its types are known.
    pub const TYPED: bool = true;
}

/// Takes the `Option` off: `<T as OfOption<{ Probe::<T>::OPTIONAL }>>::Value`.
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
    type Read<K> = K;
    type Own = T;
}

/// A parameter whose key may be absent.
#[derive(Debug)]
pub struct Optional<T>(PhantomData<T>);

impl<T> Parameter for Optional<T> {
    type Value = T;
    type Read<K> = Perhaps<K>;
    type Own = Perhaps<T>;
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

/// The element of a list: `<T as Element<{ Of::<T>::LIST }>>::Key`.
pub trait Element<const LIST: usize> {
    /// [`Is`] the element; [`Nothing`] for a type that is no list, which is reported.
    type Key;
}

impl<T> Element<0> for T {
    type Key = Nothing;
}

macro_rules! lists {
    ($($number:literal: $list:ty => $key:ty $(, $type:ident)? $(; $size:ident)?)*) => {$(
        impl<$($type,)? $(const $size: usize)?> Of<$list> {
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
    6: Absent => Nothing
}
