//! The types of keys, compared at compile time across modules and crates: what `key-type` asks.
//!
//! Each agent that a macro made says by `Typed` what it reads and writes. A workflow gives each of its steps, of its declared keys
//! and of its outputs a number by [`TypeSource`]. Const evaluation says which two types are compared, by the numbers of whose
//! they are and by their [places](PlacedType), and [`Pair`] compares them. All of this works on known types only, which is what
//! the macros have. Nothing here exists at run time.

mod key_facts;
mod numbered;

use crate::spec::{AgentMeta, KeySpec};
pub use adk_spec::number::{UNKNOWN, listed, number_of, with};
pub use key_facts::*;
pub use numbered::Numbered;
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

/// The type of a key that is not known or not asked for: everything fits it.
#[derive(Debug)]
pub struct UnknownType;

/// Whether a type that an agent says fits that of the key.
pub trait Takes<T> {}

/// A key that is read only where it is there: it may be a `T`, or an `Option` of one.
#[derive(Debug)]
pub struct Perhaps<T>(PhantomData<T>);

impl<T> Takes<Is<T>> for Is<T> {}
impl<T> Takes<Perhaps<T>> for Is<T> {}
impl<T> Takes<Perhaps<T>> for Is<Option<T>> {}
impl<T> Takes<UnknownType> for Is<T> {}
impl<T> Takes<T> for UnknownType {}

/// The type of a key as itself.
pub trait KnownType {
    /// [`Absent`] where it is not known.
    type Type;
}

impl<T> KnownType for Is<T> {
    type Type = T;
}

impl KnownType for UnknownType {
    type Type = Absent;
}

/// What can be a field of `#[adk::data]`.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be a part of data; help: put `#[adk::data]` on it, or derive `Clone`, `Debug`, `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`; if it is of another crate, hold a type of your own that says the same; a `Secret` is a key of its own",
    label = "no model knows what this is"
)]
pub trait DataField {
    /// It can.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema + ?Sized> DataField for T {}

/// The place of a type without one, as `key` takes it; what is an `Option` under another name is not spelled without.
pub const fn no_place(optional: bool) -> u8 {
    if optional { 0 } else { 0x80 }
}

/// What an agent reads and writes, as types. Made by the macros.
pub trait Typed {
    /// The keys that it reads, by the places that its description gives them: `(Is<A>, (Perhaps<B>, ()))`, of
    /// `adk_spec::__private::READS` at most.
    type Reads;
    /// The keys that it writes, of `adk_spec::__private::WRITES` at most.
    type Writes;
}

/// The types of a key that is declared, of an output, and of an agent that is declared where it is placed.
#[derive(Debug)]
pub struct DeclaredTypes<R, W>(PhantomData<(R, W)>);

impl<R, W> Typed for DeclaredTypes<R, W> {
    type Reads = R;
    type Writes = W;
}

/// A type in a list of `Typed`, by its place, counted from 1; after the end comes [`UnknownType`].
pub trait Nth<const PLACE: usize> {
    /// [`Is`], [`Perhaps`] or [`UnknownType`].
    type Key;
}

/// A type that an agent says: 0 is none, up to `READS` are the keys that it reads, then those that it writes.
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

// As many as `READS`, which are more than `WRITES`.
places! {
    2 = 1 + 1; 3 = 2 + 1; 4 = 3 + 1; 5 = 4 + 1; 6 = 5 + 1; 7 = 6 + 1; 8 = 7 + 1; 9 = 8 + 1;
    10 = 9 + 1; 11 = 10 + 1; 12 = 11 + 1; 13 = 12 + 1; 14 = 13 + 1; 15 = 14 + 1; 16 = 15 + 1;
}
places! { Reads: 1 1, 2 2, 3 3, 4 4, 5 5, 6 6, 7 7, 8 8, 9 9, 10 10, 11 11, 12 12, 13 13, 14 14, 15 15, 16 16, }
places! { Writes: 17 1, 18 2, 19 3, 20 4, 21 5, 22 6, 23 7, 24 8, }

/// The keys of an agent that is written by hand, as `#[agent(reads(...), writes(...))]` says them.
pub trait Keyed {
    /// The keys that it reads.
    const READS: &'static [KeySpec<'static>];
    /// The keys that it writes.
    const WRITES: &'static [KeySpec<'static>];
    /// The module in which their types are spelled.
    const MODULE: (&'static str, u64);
}

/// A description with these keys, so that there is one place that says them.
#[track_caller]
pub const fn describe<A: Keyed + ?Sized>(meta: AgentMeta<'static>) -> AgentMeta<'static> {
    adk_spec::__private::raise_keys(&meta);
    let mut meta = meta.reads(A::READS).writes(A::WRITES);
    meta.module = A::MODULE;
    meta
}

/// An agent with only a description.
#[derive(Debug)]
pub struct Untyped;

impl Typed for Untyped {
    type Reads = ();
    type Writes = ();
}

/// What the type of a step is: 1 for an agent, and 2 more where its types are known. One number for all that depends on it:
/// each question about a type costs time in the user's crate.
#[derive(Debug)]
pub struct TypeKind<const KIND: u8>;

/// Its number.
pub const fn kind(agent: bool, typed: bool) -> u8 {
    agent as u8 + 2 * typed as u8
}

/// The types of an agent, or [`Untyped`]: `<T as TypesOf<TypeKind<{ ... }>>>::Types`.
pub trait TypesOf<K> {
    /// Its types.
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

/// Who says a type, by its number: a step, a declared key, an output. A workflow implements it on a type of its own.
pub trait TypeSource<const NUMBER: usize> {
    /// The agent.
    type Agent: Typed;
}

/// Where some of the numbers of a large workflow are looked up.
pub trait Chunk<const WHICH: usize> {
    /// What has [`TypeSource`] for them.
    type Keys;
}

/// The type of a key with that many lists around it.
pub trait NestedList<const DEPTH: usize> {
    /// The list.
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

// As many as `check::LISTS`.
depths! {
    1 = 0 + 1; 2 = 1 + 1; 3 = 2 + 1; 4 = 3 + 1; 5 = 4 + 1; 6 = 5 + 1; 7 = 6 + 1; 8 = 7 + 1;
}

/// The type of a key: whose it is, its place there, and how many lists are around it.
pub type KeyOf<K, const NUMBER: usize, const PLACE: usize, const LISTS: usize> =
    <<<K as TypeSource<NUMBER>>::Agent as PlacedType<PLACE>>::Key as NestedList<LISTS>>::List;

/// Whether what is said fits the type of a key: `Fits::<K, T>::YES`, with [`KeyFactDefaults`] in scope.
#[derive(Debug)]
pub struct Fits<K, T>(PhantomData<(K, T)>);

impl<T, K: Takes<T>> Fits<K, T> {
    /// It does.
    pub const YES: bool = true;
}

/// The same for a key and for what a step or an output says of it, both by number and place: `Pair::<...>::YES`.
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

impl<K, S, const KEY: usize, const PLACE: usize, const SAYS: usize, const SAID: usize, const LISTS: usize>
    Pair<K, S, KEY, PLACE, SAYS, SAID, LISTS>
where
    K: TypeSource<KEY>,
    S: TypeSource<SAYS>,
    <K as TypeSource<KEY>>::Agent: PlacedType<PLACE>,
    <S as TypeSource<SAYS>>::Agent: PlacedType<SAID>,
    <<K as TypeSource<KEY>>::Agent as PlacedType<PLACE>>::Key: NestedList<LISTS>,
    KeyOf<K, KEY, PLACE, LISTS>: Takes<<<S as TypeSource<SAYS>>::Agent as PlacedType<SAID>>::Key>,
{
    /// It does.
    pub const YES: bool = true;
}
