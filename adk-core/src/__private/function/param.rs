//! Parameters of a function agent: what they hold while the function runs, chosen by their type.

use super::{Direct, Recorded};
use crate::{Context, Error, ErrorKind, Result, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parameter of type `P`: `StateRead::load(Arg::<P>::NEW.__slot(), cx, "key")?`, then `.__give()`.
#[derive(Debug)]
pub struct Arg<P>(PhantomData<fn() -> P>);

impl<P> Arg<P> {
    /// The parameter.
    pub const NEW: Self = Self(PhantomData);
}

/// The value of `T` itself.
#[derive(Debug)]
pub struct Owned<T>(T);

/// A `T` to lend.
#[derive(Debug)]
pub struct Borrowed<T>(T);

/// A `T` to lend, perhaps.
#[derive(Debug)]
pub struct Maybe<T>(Option<T>);

/// A `T` whose target is lent, perhaps: a list, a path.
#[derive(Debug)]
pub struct MaybeDeref<T>(Option<T>);

/// A text of the state, not copied.
#[derive(Debug)]
pub struct Text(Arc<Value>);

/// A text of the state, if it is there.
#[derive(Debug)]
pub struct MaybeText(Option<Arc<Value>>);

/// A value of the state, not copied.
#[derive(Debug)]
pub struct Json(Arc<Value>);

/// The place of the context.
#[derive(Debug)]
pub struct Lend;

/// The context itself.
#[derive(Debug)]
pub struct Lent<'a>(&'a mut Context);

/// A context where none can be, which a const has refused.
#[derive(Debug)]
pub struct Misplaced(Infallible);

impl<T> Owned<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }

    /// The argument.
    pub fn __give(self) -> T {
        self.0
    }
}

impl<T> Borrowed<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }

    /// The argument.
    pub fn __give(&self) -> &T {
        &self.0
    }
}

impl<T> Maybe<T> {
    /// The argument.
    pub fn __give(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T: Deref> MaybeDeref<T> {
    /// The argument.
    pub fn __give(&self) -> Option<&T::Target> {
        self.0.as_deref()
    }
}

impl Text {
    /// The argument.
    pub fn __give(&self) -> &str {
        self.0.as_str().unwrap_or_default()
    }
}

impl MaybeText {
    /// The argument.
    pub fn __give(&self) -> Option<&str> {
        self.0.as_deref().and_then(Value::as_str)
    }
}

impl Json {
    /// The argument.
    pub fn __give(&self) -> &Value {
        &self.0
    }
}

impl<'a> Lent<'a> {
    /// The argument.
    pub fn __give(self) -> &'a mut Context {
        self.0
    }
}

impl Misplaced {
    /// Never called.
    pub fn __give(self) -> &'static mut Context {
        match self.0 {}
    }
}

/// What the first parameter says about how the function runs.
pub trait Held: Sized {
    /// Without a context it is one step.
    fn __begin(self, _: &mut Context) -> (Self, Recorded) {
        (self, Recorded)
    }

    /// The same for a function that blocks.
    fn __begin_blocking(self, _: &mut Context) -> (Self, Recorded) {
        (self, Recorded)
    }
}

impl<T> Held for Owned<T> {}
impl<T> Held for Borrowed<T> {}
impl<T> Held for Maybe<T> {}
impl<T> Held for MaybeDeref<T> {}
impl Held for Text {}
impl Held for MaybeText {}
impl Held for Json {}

impl Lend {
    /// With a context the function takes its own steps.
    pub fn __begin(self, cx: &mut Context) -> (Lent<'_>, Direct) {
        (Lent(cx), Direct)
    }

    /// Refused by a const; here so that there is one message only.
    #[allow(clippy::missing_panics_doc, reason = "never called")]
    pub fn __begin_blocking(self, _: &mut Context) -> (Misplaced, Recorded) {
        unreachable!("`blocking` with a context does not compile")
    }

    /// Refused by a const; here so that there is one message only.
    #[allow(clippy::missing_panics_doc, reason = "never called")]
    pub fn __give(self) -> &'static mut Context {
        unreachable!("a context that is not the first parameter does not compile")
    }
}

/// The place of a parameter: `T` is what has to be readable, `H` what the parameter holds.
#[derive(Debug)]
pub struct Slot<T, H>(fn(Decode<T>, &mut State<'_>, &'static str) -> Result<H>);

impl<T, H> Slot<T, H> {
    pub(super) fn load(self, decode: Decode<T>, state: &mut State<'_>, key: &'static str) -> Result<H> {
        (self.0)(decode, state, key)
    }
}

/// How to read, once it is known that `T` can be read.
#[derive(Debug)]
pub struct Decode<T> {
    one: fn(&mut State<'_>, &str, &Value) -> Result<T>,
    many: fn(&mut State<'_>, &str, &Value) -> Result<Vec<T>>,
}

impl<T: DeserializeOwned> Decode<T> {
    pub(super) fn new() -> Self {
        Self { one: decode, many: decode }
    }
}

impl Arg<&mut Context> {
    /// Nothing is read.
    pub fn __slot(self) -> Slot<(), Lend> {
        Slot(|_, _, _| Ok(Lend))
    }
}

impl Arg<&str> {
    /// Reads a text.
    pub fn __slot(self) -> Slot<String, Text> {
        Slot(|_, state, key| read_text(state, key))
    }
}

impl Arg<Option<&str>> {
    /// Reads a text, if there is one.
    pub fn __slot(self) -> Slot<String, MaybeText> {
        Slot(|_, state, key| match optional(state, key) {
            Some(value) if !value.is_string() => Err(not_text(state, key, &value)),
            value => Ok(MaybeText(value)),
        })
    }
}

impl Arg<&Path> {
    /// Reads a path.
    pub fn __slot(self) -> Slot<PathBuf, Borrowed<PathBuf>> {
        Slot(|decode, state, key| {
            let value = required(state, key)?;
            (decode.one)(state, key, &value).map(Borrowed)
        })
    }
}

impl Arg<Option<&Path>> {
    /// Reads a path, if there is one.
    pub fn __slot(self) -> Slot<PathBuf, MaybeDeref<PathBuf>> {
        Slot(|decode, state, key| {
            let value = optional(state, key);
            value.map(|value| (decode.one)(state, key, &value)).transpose().map(MaybeDeref)
        })
    }
}

impl Arg<&Value> {
    /// Reads any value.
    pub fn __slot(self) -> Slot<Value, Json> {
        Slot(|_, state, key| required(state, key).map(Json))
    }
}

impl<T> Arg<&[T]> {
    /// Reads a list.
    pub fn __slot(self) -> Slot<T, Borrowed<Vec<T>>> {
        Slot(|decode, state, key| {
            let value = required(state, key)?;
            (decode.many)(state, key, &value).map(Borrowed)
        })
    }
}

impl<T> Arg<Option<&[T]>> {
    /// Reads a list, if there is one.
    pub fn __slot(self) -> Slot<T, MaybeDeref<Vec<T>>> {
        Slot(|decode, state, key| {
            let value = optional(state, key);
            value.map(|value| (decode.many)(state, key, &value)).transpose().map(MaybeDeref)
        })
    }
}

impl<T> Arg<Option<&T>> {
    /// Reads a value, if there is one.
    pub fn __slot(self) -> Slot<T, Maybe<T>> {
        Slot(|decode, state, key| {
            let value = optional(state, key);
            value.map(|value| (decode.one)(state, key, &value)).transpose().map(Maybe)
        })
    }
}

/// `Option<T>` and `&T`: after the special cases, before any other `T`.
pub trait LoadMaybe<T> {
    /// What the parameter holds.
    type Held;

    /// Reads the key.
    fn __slot(self) -> Slot<T, Self::Held>;
}

impl<T> LoadMaybe<T> for Arg<Option<T>> {
    type Held = Owned<Option<T>>;

    fn __slot(self) -> Slot<T, Self::Held> {
        Slot(|decode, state, key| {
            let value = optional(state, key);
            value.map(|value| (decode.one)(state, key, &value)).transpose().map(Owned)
        })
    }
}

impl<T> LoadMaybe<T> for Arg<&T> {
    type Held = Borrowed<T>;

    fn __slot(self) -> Slot<T, Self::Held> {
        Slot(|decode, state, key| {
            let value = required(state, key)?;
            (decode.one)(state, key, &value).map(Borrowed)
        })
    }
}

/// Any other `T`, found last since it takes a reference.
pub trait LoadPlain<T> {
    /// Reads the key.
    fn __slot(self) -> Slot<T, Owned<T>>;
}

impl<T> LoadPlain<T> for &Arg<T> {
    fn __slot(self) -> Slot<T, Owned<T>> {
        Slot(|decode, state, key| {
            let value = required(state, key)?;
            (decode.one)(state, key, &value).map(Owned)
        })
    }
}

/// The value of a key, where null is none.
fn optional(state: &State<'_>, key: &str) -> Option<Arc<Value>> {
    state.value(key).filter(|value| !value.is_null())
}

pub(super) fn read_text(state: &mut State<'_>, key: &str) -> Result<Text> {
    let value = required(state, key)?;
    if value.is_string() { Ok(Text(value)) } else { Err(not_text(state, key, &value)) }
}

pub(super) fn required(state: &mut State<'_>, key: &str) -> Result<Arc<Value>> {
    match state.value(key) {
        Some(value) => Ok(value),
        None => Err(missing(state, key)),
    }
}

pub(super) fn decode<T: DeserializeOwned>(state: &mut State<'_>, key: &str, value: &Value) -> Result<T> {
    crate::runtime::run::decode(key, value).map_err(|error| typed(state, error))
}

#[cold]
fn missing(state: &mut State<'_>, key: &str) -> Error {
    let around = state.scope.map_or(key, |scope| scope.name_around(key));
    let message = if key == around {
        format!("the parameter `{key}` reads a state key that holds no value")
    } else {
        format!("the parameter `{key}` reads the state key `{around}`, which holds no value")
    };
    let error = Error::new(ErrorKind::KeyMissing, message).with_help(format!(
        "let an earlier step write `{around}`, pass it as an input, or make the parameter an `Option`"
    ));
    state.refuse(error.at(state.writer.path))
}

#[cold]
fn not_text(state: &mut State<'_>, key: &str, value: &Value) -> Error {
    let message = format!(
        "state key `{key}` does not hold a text: it holds {}",
        crate::runtime::tool::schema::describe_value(value)
    );
    typed(state, Error::new(ErrorKind::KeyType, message))
}

#[cold]
fn typed(state: &mut State<'_>, error: Error) -> Error {
    let error = error.with_help("give the parameter the type that the key is written as");
    state.refuse(error.at(state.writer.path))
}
