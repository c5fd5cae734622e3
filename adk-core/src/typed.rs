//! The types of keys, compared at compile time across modules and crates: what `key-type` asks.
//!
//! Each agent that a macro made says by [`Typed`] what it reads and writes. A workflow gives each of its writers a
//! number by [`At`]; const evaluation says which number the type of a key has, and [`Fits`] compares. All of this works
//! on known types only, which is what the macros have. Nothing here exists at run time.

mod of;

pub use crate::spec::number::{Numbered, UNKNOWN, of_name, with};
use crate::spec::{AgentMeta, KeySpec};
pub use of::*;
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

/// The type of the first key that an agent writes, as [`Is`]. It is looked up where somebody asks for it, which of most steps
/// nobody does, and not where the key gets its number.
#[derive(Debug)]
pub struct Own<W>(PhantomData<W>);

/// That type.
type FirstOf<W> = <<W as Typed>::Writes as First>::T0;

impl<T, W: Typed> Takes<T> for Own<W> where Is<FirstOf<W>>: Takes<T> {}

impl<W: Typed> Known for Own<W> {
    type Type = FirstOf<W>;
}

impl<W: Typed, const DEPTH: usize> Lists<DEPTH> for Own<W>
where
    Is<FirstOf<W>>: Lists<DEPTH>,
{
    type List = <Is<FirstOf<W>> as Lists<DEPTH>>::List;
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
    /// [`Is`], [`Own`], or [`Nothing`].
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
