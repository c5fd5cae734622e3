//! Parameters of function agents. The type of a parameter selects the value that it holds while the
//! function runs.

use super::{DirectWork, RecordedWork};
use crate::__private::holder::{Borrowed, Maybe, MaybeDeref, Owned};
use crate::{Context, Error, ErrorKind, Result, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parameter of type `P`. The expansion calls
/// `StateRead::load(FunctionParam::<P>::NEW.__loader(), cx, "key")?` and then `.__give()`.
#[derive(Debug)]
pub struct FunctionParam<P>(PhantomData<fn() -> P>);

impl<P> FunctionParam<P> {
    /// The parameter.
    pub const NEW: Self = Self(PhantomData);
}

/// A text of the state, shared and not copied.
#[derive(Debug)]
pub struct BorrowedText(Arc<Value>);

/// An optional text of the state, shared and not copied.
#[derive(Debug)]
pub struct MaybeText(Option<Arc<Value>>);

/// A value of the state, shared and not copied.
#[derive(Debug)]
pub struct BorrowedJson(Arc<Value>);

/// A placeholder for the context.
#[derive(Debug)]
pub struct Lend;

/// The context, lent to a parameter.
#[derive(Debug)]
pub struct LentContext<'a>(&'a mut Context);

/// A context in a position where a const check rejects it.
#[derive(Debug)]
pub struct Misplaced(Infallible);

impl BorrowedText {
    /// Returns the argument.
    pub fn __give(&self) -> &str {
        self.0.as_str().unwrap_or_default()
    }
}

impl MaybeText {
    /// Returns the argument.
    pub fn __give(&self) -> Option<&str> {
        self.0.as_deref().and_then(Value::as_str)
    }
}

impl BorrowedJson {
    /// Returns the argument.
    pub fn __give(&self) -> &Value {
        &self.0
    }
}

impl<'a> LentContext<'a> {
    /// Returns the argument.
    pub fn __give(self) -> &'a mut Context {
        self.0
    }
}

impl Misplaced {
    /// Is never called.
    pub fn __give(self) -> &'static mut Context {
        match self.0 {}
    }
}

/// The way in which a function runs. The type of its first parameter selects it.
pub trait Held: Sized {
    /// Runs a function without a context as one recorded step.
    fn __begin(self, _: &mut Context) -> (Self, RecordedWork) {
        (self, RecordedWork)
    }

    /// Runs a blocking function without a context as one recorded step.
    fn __begin_blocking(self, _: &mut Context) -> (Self, RecordedWork) {
        (self, RecordedWork)
    }
}

impl<T> Held for Owned<T> {}
impl<T> Held for Borrowed<T> {}
impl<T> Held for Maybe<T> {}
impl<T> Held for MaybeDeref<T> {}
impl Held for BorrowedText {}
impl Held for MaybeText {}
impl Held for BorrowedJson {}

impl Lend {
    /// Lends the context to the function, which records its own steps.
    pub fn __begin(self, cx: &mut Context) -> (LentContext<'_>, DirectWork) {
        (LentContext(cx), DirectWork)
    }

    /// Is never called, because a const check rejects the function. The method exists so that rustc
    /// reports only that error.
    #[allow(clippy::missing_panics_doc, reason = "never called")]
    pub fn __begin_blocking(self, _: &mut Context) -> (Misplaced, RecordedWork) {
        unreachable!("`blocking` with a context does not compile")
    }

    /// Is never called, because a const check rejects the function. The method exists so that rustc
    /// reports only that error.
    #[allow(clippy::missing_panics_doc, reason = "never called")]
    pub fn __give(self) -> &'static mut Context {
        unreachable!("a context that is not the first parameter does not compile")
    }
}

/// A function that loads the holder `H` of a parameter with the decoders of its type `T`. Only
/// readable types have decoders.
#[derive(Debug)]
pub struct ParamLoader<T, H>(fn(Decode<T>, &mut State<'_>, &'static str) -> Result<H>);

impl<T, H> ParamLoader<T, H> {
    pub(super) fn load(
        self,
        decode: Decode<T>,
        state: &mut State<'_>,
        key: &'static str,
    ) -> Result<H> {
        (self.0)(decode, state, key)
    }
}

/// The decoders of the parameters that a readable type `T` allows.
#[derive(Debug)]
pub struct Decode<T> {
    one: fn(&mut State<'_>, &str, &Value) -> Result<T>,
    many: fn(&mut State<'_>, &str, &Value) -> Result<Vec<T>>,
}

impl<T: DeserializeOwned> Decode<T> {
    pub(super) fn new() -> Self {
        Self {
            one: decode,
            many: decode,
        }
    }
}

impl FunctionParam<&mut Context> {
    /// Returns the loader of the context, which reads no key.
    pub fn __loader(self) -> ParamLoader<(), Lend> {
        ParamLoader(|_, _, _| Ok(Lend))
    }
}

impl FunctionParam<&str> {
    /// Returns the loader of a text.
    pub fn __loader(self) -> ParamLoader<String, BorrowedText> {
        ParamLoader(|_, state, key| read_text(state, key))
    }
}

impl FunctionParam<Option<&str>> {
    /// Returns the loader of an optional text.
    pub fn __loader(self) -> ParamLoader<String, MaybeText> {
        ParamLoader(|_, state, key| match optional(state, key) {
            Some(value) if !value.is_string() => Err(not_text_error(state, key, &value)),
            value => Ok(MaybeText(value)),
        })
    }
}

impl FunctionParam<&Path> {
    /// Returns the loader of a path.
    pub fn __loader(self) -> ParamLoader<PathBuf, Borrowed<PathBuf>> {
        ParamLoader(|decode, state, key| {
            let value = required(state, key)?;
            (decode.one)(state, key, &value).map(Borrowed::new)
        })
    }
}

impl FunctionParam<Option<&Path>> {
    /// Returns the loader of an optional path.
    pub fn __loader(self) -> ParamLoader<PathBuf, MaybeDeref<PathBuf>> {
        ParamLoader(|decode, state, key| {
            let value = optional(state, key);
            value
                .map(|value| (decode.one)(state, key, &value))
                .transpose()
                .map(MaybeDeref::new)
        })
    }
}

impl FunctionParam<&Value> {
    /// Returns the loader of any JSON value.
    pub fn __loader(self) -> ParamLoader<Value, BorrowedJson> {
        ParamLoader(|_, state, key| required(state, key).map(BorrowedJson))
    }
}

impl<T> FunctionParam<&[T]> {
    /// Returns the loader of a list.
    pub fn __loader(self) -> ParamLoader<T, Borrowed<Vec<T>>> {
        ParamLoader(|decode, state, key| {
            let value = required(state, key)?;
            (decode.many)(state, key, &value).map(Borrowed::new)
        })
    }
}

impl<T> FunctionParam<Option<&[T]>> {
    /// Returns the loader of an optional list.
    pub fn __loader(self) -> ParamLoader<T, MaybeDeref<Vec<T>>> {
        ParamLoader(|decode, state, key| {
            let value = optional(state, key);
            value
                .map(|value| (decode.many)(state, key, &value))
                .transpose()
                .map(MaybeDeref::new)
        })
    }
}

impl<T> FunctionParam<Option<&T>> {
    /// Returns the loader of an optional reference.
    pub fn __loader(self) -> ParamLoader<T, Maybe<T>> {
        ParamLoader(|decode, state, key| {
            let value = optional(state, key);
            value
                .map(|value| (decode.one)(state, key, &value))
                .transpose()
                .map(Maybe::new)
        })
    }
}

/// The parameter types `Option<T>` and `&T`. Method resolution tries them after the inherent
/// methods and before [`LoadPlain`].
pub trait LoadMaybe<T> {
    /// The holder of the parameter.
    type Held;

    /// Returns the loader of the key.
    fn __loader(self) -> ParamLoader<T, Self::Held>;
}

impl<T> LoadMaybe<T> for FunctionParam<Option<T>> {
    type Held = Owned<Option<T>>;

    fn __loader(self) -> ParamLoader<T, Self::Held> {
        ParamLoader(|decode, state, key| {
            let value = optional(state, key);
            value
                .map(|value| (decode.one)(state, key, &value))
                .transpose()
                .map(Owned::new)
        })
    }
}

impl<T> LoadMaybe<T> for FunctionParam<&T> {
    type Held = Borrowed<T>;

    fn __loader(self) -> ParamLoader<T, Self::Held> {
        ParamLoader(|decode, state, key| {
            let value = required(state, key)?;
            (decode.one)(state, key, &value).map(Borrowed::new)
        })
    }
}

/// Any other parameter type `T`. Method resolution tries it last, because the method takes a
/// reference to [`FunctionParam`].
pub trait LoadPlain<T> {
    /// Returns the loader of the key.
    fn __loader(self) -> ParamLoader<T, Owned<T>>;
}

impl<T> LoadPlain<T> for &FunctionParam<T> {
    fn __loader(self) -> ParamLoader<T, Owned<T>> {
        ParamLoader(|decode, state, key| {
            let value = required(state, key)?;
            (decode.one)(state, key, &value).map(Owned::new)
        })
    }
}

/// Returns the value of a key; null counts as absent.
fn optional(state: &State<'_>, key: &str) -> Option<Arc<Value>> {
    state.value(key).filter(|value| !value.is_null())
}

pub(super) fn read_text(state: &mut State<'_>, key: &str) -> Result<BorrowedText> {
    let value = required(state, key)?;
    if value.is_string() {
        Ok(BorrowedText(value))
    } else {
        Err(not_text_error(state, key, &value))
    }
}

pub(super) fn required(state: &mut State<'_>, key: &str) -> Result<Arc<Value>> {
    match state.value(key) {
        Some(value) => Ok(value),
        None => Err(missing_key_error(state, key)),
    }
}

pub(super) fn decode<T: DeserializeOwned>(
    state: &mut State<'_>,
    key: &str,
    value: &Value,
) -> Result<T> {
    crate::runtime::run::decode(key, value).map_err(|error| key_type_error(state, error))
}

#[cold]
fn missing_key_error(state: &mut State<'_>, key: &str) -> Error {
    let around = state.scope.map_or(key, |scope| scope.name_around(key));
    let message = if key == around {
        format!("the parameter `{key}` reads a state key that holds no value")
    } else {
        format!("the parameter `{key}` reads the state key `{around}`, which holds no value")
    };
    let error = Error::new(ErrorKind::KeyMissing, message).with_help(format!(
        "let an earlier step write `{around}`, pass it as an input, or make the parameter an \
         `Option`"
    ));
    state.refuse(error.at(state.writer.path))
}

#[cold]
fn not_text_error(state: &mut State<'_>, key: &str, value: &Value) -> Error {
    let message = format!(
        "state key `{key}` does not hold a text: it holds {}",
        crate::runtime::tool::schema::describe_value(value)
    );
    key_type_error(state, Error::new(ErrorKind::KeyType, message))
}

#[cold]
fn key_type_error(state: &mut State<'_>, error: Error) -> Error {
    let error = error.with_help("give the parameter the type that the key is written as");
    state.refuse(error.at(state.writer.path))
}
