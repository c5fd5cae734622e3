//! Types of keys, compared at compile time across modules and crates for the check `key-type`.
//!
//! Each generated agent implements [`Typed`] with the lists of types that it reads and writes. A
//! workflow numbers the sources of its types: its steps, declared keys and outputs. [`TypeSource`]
//! maps such a number to the types of the source. The [place](PlacedType) of a type is its index in
//! the lists. Const evaluation finds the pairs of types to compare, each type by source number and
//! place, and [`Pair`] compares them. This works for concrete types only, and the macros use only
//! those. Nothing here exists at run time.

mod key_facts;
mod numbered;

use crate::spec::{AgentMeta, KeySpec};
pub use adk_spec::number::{UNKNOWN, closed_if, listed, number_of, with};
pub use key_facts::*;
pub use numbered::Numbered;
use std::marker::PhantomData;

/// A missing key.
#[derive(Debug)]
pub struct Absent;

/// A known type of a key.
#[derive(Debug)]
pub struct Is<T>(PhantomData<T>);

/// An unknown type of a key, or a type that is not checked. Every type fits it.
#[derive(Debug)]
pub struct UnknownType;

/// A marker of a key's type that accepts an agent's type `T`, such as [`Is<T>`](Is).
pub trait Takes<T> {}

/// The type of an optional read: the key may hold a `T` or an `Option<T>`.
#[derive(Debug)]
pub struct Perhaps<T>(PhantomData<T>);

impl<T> Takes<Is<T>> for Is<T> {}
impl<T> Takes<Perhaps<T>> for Is<T> {}
impl<T> Takes<Perhaps<T>> for Is<Option<T>> {}
impl<T> Takes<UnknownType> for Is<T> {}
impl<T> Takes<T> for UnknownType {}

/// The type inside of a marker such as [`Is`].
pub trait KnownType {
    /// The type, or [`Absent`] if it is unknown.
    type Type;
}

impl<T> KnownType for Is<T> {
    type Type = T;
}

impl KnownType for UnknownType {
    type Type = Absent;
}

/// A type that can be a field of `#[adk::data]`.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be a part of data; help: put `#[adk::data]` on it, or \
        derive `Clone`, `Debug`, `serde::Serialize`, `serde::Deserialize` and \
        `schemars::JsonSchema`; if it is of another crate, use a type of your own with the same \
        content; put a `Secret` into a key of its own",
    label = "a model can neither read nor write this type"
)]
pub trait DataField {
    /// The unit value: an expansion names this constant to require the trait of a type.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema + ?Sized> DataField for T {}

/// Returns the `place` argument of `__private::key` for a type that has no place in [`Typed`]. An
/// `optional` type is an `Option` under another name; the spelled type of any other key omits the
/// `Option`.
pub const fn no_place(optional: bool) -> u8 {
    if optional { 0 } else { 0x80 }
}

/// The types of an agent's keys. The macros implement this trait.
pub trait Typed {
    /// The types of the read keys in the order of their places: `(Is<A>, (Perhaps<B>, ()))`, at
    /// most `adk_spec::__private::READS`.
    type Reads;
    /// The types of the written keys, at most `adk_spec::__private::WRITES`.
    type Writes;
}

/// The types of a declared key, of an output, or of an agent that is declared as a step.
#[derive(Debug)]
pub struct DeclaredTypes<R, W>(PhantomData<(R, W)>);

impl<R, W> Typed for DeclaredTypes<R, W> {
    type Reads = R;
    type Writes = W;
}

/// The entry with index `PLACE`, counted from 1, in a list of [`Typed`]. Indexes after the end of
/// the list give [`UnknownType`].
pub trait Nth<const PLACE: usize> {
    /// [`Is`], [`Perhaps`] or [`UnknownType`].
    type Key;
}

/// The type of an agent's key by its place: one numbering of [`Typed::Reads`] and
/// [`Typed::Writes`]. Place 0 has no type, the read keys have the places from 1 to `READS`, and the
/// written keys follow.
pub trait PlacedType<const PLACE: usize> {
    /// [`Is`], [`Perhaps`] or [`UnknownType`].
    type Key;
}

impl<T: Typed> PlacedType<0> for T {
    type Key = UnknownType;
}

macro_rules! places {
    ($($place:literal = $before:literal + 1;)*) => {$(
        impl<A, B: Nth<$before>> Nth<$place> for (A, B) {
            type Key = B::Key;
        }

        impl Nth<$place> for () {
            type Key = UnknownType;
        }
    )*};
    ($list:ident: $($said:literal $place:literal,)*) => {$(
        impl<T: Typed<$list: Nth<$place>>> PlacedType<$said> for T {
            type Key = <T::$list as Nth<$place>>::Key;
        }
    )*};
}

impl<A, B> Nth<1> for (A, B) {
    type Key = A;
}

impl Nth<1> for () {
    type Key = UnknownType;
}

// `Nth` is implemented up to `READS`, which is larger than `WRITES`.
places! {
    2 = 1 + 1; 3 = 2 + 1; 4 = 3 + 1; 5 = 4 + 1; 6 = 5 + 1; 7 = 6 + 1; 8 = 7 + 1; 9 = 8 + 1;
    10 = 9 + 1; 11 = 10 + 1; 12 = 11 + 1; 13 = 12 + 1; 14 = 13 + 1; 15 = 14 + 1; 16 = 15 + 1;
}
places! {
    Reads: 1 1, 2 2, 3 3, 4 4, 5 5, 6 6, 7 7, 8 8, 9 9, 10 10, 11 11, 12 12, 13 13, 14 14, 15 15,
    16 16,
}
places! { Writes: 17 1, 18 2, 19 3, 20 4, 21 5, 22 6, 23 7, 24 8, }

/// The keys of a handwritten agent, from `#[agent(reads(...), writes(...))]`.
pub trait Keyed {
    /// The read keys.
    const READS: &'static [KeySpec<'static>];
    /// The written keys.
    const WRITES: &'static [KeySpec<'static>];
    /// The module in which the types of the keys are spelled.
    const MODULE: (&'static str, u64);
}

/// Returns the description with the keys that `A` declares in its `#[agent(...)]`.
#[track_caller]
pub const fn describe<A: Keyed + ?Sized>(meta: AgentMeta<'static>) -> AgentMeta<'static> {
    adk_spec::__private::raise_keys(&meta);
    let mut meta = meta.reads(A::READS).writes(A::WRITES);
    meta.module = A::MODULE;
    meta
}

/// An agent without known types.
#[derive(Debug)]
pub struct Untyped;

impl Typed for Untyped {
    type Reads = ();
    type Writes = ();
}

/// The kind of a step's type: 1 for an agent, plus 2 if the types of its keys are known. One number
/// holds both facts, because each question about a type costs compile time in the user's crate.
#[derive(Debug)]
pub struct TypeKind<const KIND: u8>;

/// Returns the number of a kind.
pub const fn kind(agent: bool, typed: bool) -> u8 {
    agent as u8 + 2 * typed as u8
}

/// The types of an agent, or [`Untyped`]: `<T as TypesOf<TypeKind<{ ... }>>>::Types`.
pub trait TypesOf<K> {
    /// The types.
    type Types: Typed;
}

impl<T> TypesOf<TypeKind<0>> for T {
    type Types = Untyped;
}

impl<T> TypesOf<TypeKind<1>> for T {
    type Types = Untyped;
}

impl<T: Typed> TypesOf<TypeKind<2>> for T {
    type Types = T;
}

impl<T: Typed> TypesOf<TypeKind<3>> for T {
    type Types = T;
}

/// The types of one source, by the number of the source. A source is a step, a declared key or an
/// output. Each workflow implements this trait for a helper type of its own.
pub trait TypeSource<const NUMBER: usize> {
    /// The agent of the step, or [`DeclaredTypes`].
    type Agent: Typed;
}

/// The helper types of a large workflow, one per range of source numbers: rustc searches all impls
/// of a type for each lookup.
pub trait Chunk<const WHICH: usize> {
    /// The type that implements [`TypeSource`] for the range.
    type Keys;
}

/// The list type that an element type has after `DEPTH` enclosing lists, as around the body of an
/// `each`.
pub trait NestedList<const DEPTH: usize> {
    /// The type of the list.
    type List;
}

impl<const DEPTH: usize> NestedList<DEPTH> for UnknownType {
    type List = Self;
}

impl<T> NestedList<0> for Is<T> {
    type List = Self;
}

macro_rules! depths {
    ($($depth:literal = $less:literal + 1;)*) => {$(
        impl<T> NestedList<$depth> for Is<T> {
            type List = <Is<Vec<T>> as NestedList<$less>>::List;
        }
    )*};
}

// `NestedList` is implemented up to `check::LISTS`.
depths! {
    1 = 0 + 1; 2 = 1 + 1; 3 = 2 + 1; 4 = 3 + 1; 5 = 4 + 1; 6 = 5 + 1; 7 = 6 + 1; 8 = 7 + 1;
}

/// The type of a key: the type at a place of a source, inside of `LISTS` lists.
pub type KeyOf<K, const NUMBER: usize, const PLACE: usize, const LISTS: usize> =
    <<<K as TypeSource<NUMBER>>::Agent as PlacedType<PLACE>>::Key as NestedList<LISTS>>::List;

/// The comparison of two types: `Fits::<K, T>::YES` is `true` if `T` fits the key type `K`. Use it
/// with [`KeyFactDefaults`] in scope.
#[derive(Debug)]
pub struct Fits<K, T>(PhantomData<(K, T)>);

impl<T, K: Takes<T>> Fits<K, T> {
    /// `true` if the type fits.
    pub const YES: bool = true;
}

/// The comparison of a key with a type of a step or an output: `Pair::<...>::YES`. Each side is
/// given by the number of its source and its place.
#[derive(Debug)]
pub struct Pair<
    K,
    S,
    const KEY: usize,
    const PLACE: usize,
    const SAYS: usize,
    const SAID: usize,
    const LISTS: usize = 0,
>(PhantomData<(K, S)>);

impl<
    K,
    S,
    const KEY: usize,
    const PLACE: usize,
    const SAYS: usize,
    const SAID: usize,
    const LISTS: usize,
> Pair<K, S, KEY, PLACE, SAYS, SAID, LISTS>
where
    K: TypeSource<KEY>,
    S: TypeSource<SAYS>,
    <K as TypeSource<KEY>>::Agent: PlacedType<PLACE>,
    <S as TypeSource<SAYS>>::Agent: PlacedType<SAID>,
    <<K as TypeSource<KEY>>::Agent as PlacedType<PLACE>>::Key: NestedList<LISTS>,
    KeyOf<K, KEY, PLACE, LISTS>: Takes<<<S as TypeSource<SAYS>>::Agent as PlacedType<SAID>>::Key>,
{
    /// `true` if the type fits.
    pub const YES: bool = true;
}
