//! Parameters of agents and tools.
//!
//! The macro sees only how types are spelled, so method resolution selects the [`Shape`] for the
//! type of a parameter: inherent methods win over trait methods, and methods on `&Param` come last.
//! Agents and tools share the shapes. They differ in the [`Source`] of the values, and in the
//! traits of `readers`, which decide what may be a parameter and word the refusal.

mod readers;
mod source;

pub use readers::{ContextLike, ContextRead, LentArg, LentRead, StateRead, ToolArg, ToolDefault};
pub use source::{Raw, Source};

use super::holder::{Borrowed, Lent, Maybe, MaybeDeref, Owned};
use crate::runtime::tool::schema;
use crate::{Context, ToolContext};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Borrow as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The kind of a parameter that reads a key of the state.
#[derive(Debug)]
pub enum KeyParam {}

/// The kind of a parameter that a model fills in.
#[derive(Debug)]
pub enum ArgumentParam {}

/// A parameter of type `P`, whose kind is [`KeyParam`] or [`ArgumentParam`]. The expansion calls
/// `READER::handle(Param::<P, KIND>::NEW.__shape())`, then `.__load(source, "name")?`, and then
/// `.__give()` on what this returns.
#[derive(Debug)]
pub struct Param<P, Kind>(PhantomData<fn() -> (P, Kind)>);

impl<P, Kind> Param<P, Kind> {
    /// The parameter.
    pub const NEW: Self = Self(PhantomData);
}

/// A function that makes the handle `H` of a parameter from the codecs of its type `T`. Only a type
/// that may be a parameter has codecs.
#[derive(Debug)]
pub struct Shape<T, H>(fn(Codecs<T>) -> H);

/// A function that makes the schema of a type. The flag makes it the schema of an `Option`.
pub type ParamSchema = fn(&mut SchemaGenerator, bool) -> Schema;

/// How a value of type `V` is decoded and, if a model fills it in, described.
#[derive(Debug)]
pub struct Codec<V> {
    decode: fn(Raw<'_>) -> serde_json::Result<V>,
    schema: ParamSchema,
    is_text: bool,
}

impl<V> Codec<V> {
    fn new(decode: fn(Raw<'_>) -> serde_json::Result<V>, schema: ParamSchema) -> Self {
        Self {
            decode,
            schema,
            is_text: false,
        }
    }
}

/// The codecs of the parameters that a type `T` allows. They are functions, so a type that is not
/// allowed gives one error instead of one per use.
#[derive(Debug)]
pub struct Codecs<T> {
    pub(super) one: Codec<T>,
    many: Codec<Vec<T>>,
}

impl<T: DeserializeOwned> Codecs<T> {
    /// Returns the codecs of a value in a key of the state.
    pub(super) fn key() -> Self {
        Self {
            one: Codec::new(decode_owned, no_schema),
            many: Codec::new(decode_owned, no_schema),
        }
    }

    /// Returns the codecs of an argument that a model fills in.
    fn argument() -> Self
    where
        T: JsonSchema,
    {
        Self {
            one: Codec::new(decode_owned, make_schema::<T>),
            many: Codec::new(decode_owned, make_schema::<Vec<T>>),
        }
    }
}

impl Codecs<String> {
    pub(super) fn text(self) -> Codec<Lent<String>> {
        Codec {
            is_text: true,
            ..Codec::new(decode_text, self.one.schema)
        }
    }
}

impl Codecs<Value> {
    fn json(self) -> Codec<Lent<Value>> {
        let decode = |raw: Raw<'_>| {
            Ok(match raw {
                Raw::Shared(value) => Lent::Shared(value.clone()),
                Raw::Own(value) => Lent::Own(value.clone()),
            })
        };
        Codec::new(decode, self.one.schema)
    }
}

fn decode_owned<T: DeserializeOwned>(raw: Raw<'_>) -> serde_json::Result<T> {
    T::deserialize(raw.value())
}

fn decode_text(raw: Raw<'_>) -> serde_json::Result<Lent<String>> {
    match raw {
        Raw::Shared(value) if value.is_string() => Ok(Lent::Shared(value.clone())),
        raw => decode_owned(raw).map(Lent::Own),
    }
}

fn no_schema(_: &mut SchemaGenerator, _: bool) -> Schema {
    Schema::default()
}

fn make_schema<T: JsonSchema + DeserializeOwned>(
    generator: &mut SchemaGenerator,
    optional: bool,
) -> Schema {
    if optional {
        schema::for_type::<Option<T>>(generator)
    } else {
        schema::for_type::<T>(generator)
    }
}

/// How a parameter is read: as a `V`, with a default of type `D`, into the holder `H`.
#[derive(Debug)]
pub struct Handle<V, D, H> {
    codec: Codec<V>,
    present: fn(V) -> D,
    /// Makes the value of an absent parameter, or is `None` if the value must be present.
    absent: Option<fn() -> D>,
    hold: fn(D) -> H,
}

/// How a parameter is read that needs a value.
pub type Required<V, H> = Handle<V, V, H>;

/// How a parameter is read that is an `Option`.
pub type Optional<V, H> = Handle<V, Option<V>, H>;

impl<V, H> Required<V, H> {
    pub(super) fn required(codec: Codec<V>, hold: fn(V) -> H) -> Self {
        Self {
            codec,
            present: |value| value,
            absent: None,
            hold,
        }
    }
}

impl<V, H> Optional<V, H> {
    fn optional(codec: Codec<V>, hold: fn(Option<V>) -> H) -> Self {
        Self {
            codec,
            present: Some,
            absent: Some(|| None),
            hold,
        }
    }
}

impl<V, D, H> Handle<V, D, H> {
    /// Reads the value.
    ///
    /// # Errors
    /// Fails if the value is missing or has another type.
    pub fn __load<S: Source>(&self, source: &mut S, name: &'static str) -> Result<H, S::Error> {
        match (
            self.value(source, name, self.absent.is_some())?,
            self.absent,
        ) {
            (Some(value), _) => Ok((self.hold)(value)),
            (None, Some(absent)) => Ok((self.hold)(absent())),
            (None, None) => Err(source.missing(name)),
        }
    }

    /// Reads the value, or returns the default if it is absent.
    ///
    /// # Errors
    /// Fails if the value has another type.
    pub fn __load_or<S: Source>(
        &self,
        source: &mut S,
        name: &'static str,
        default: impl FnOnce() -> D,
    ) -> Result<H, S::Error> {
        let value = self.value(source, name, true)?;
        Ok((self.hold)(value.unwrap_or_else(default)))
    }

    fn value<S: Source>(
        &self,
        source: &mut S,
        name: &'static str,
        null_is_absent: bool,
    ) -> Result<Option<D>, S::Error> {
        match source.take(name) {
            Some(value) if !(null_is_absent && value.borrow().is_null()) => source
                .decode(name, value, &self.codec)
                .map(|value| Some((self.present)(value))),
            _ => Ok(None),
        }
    }
}

/// A parameter as the declaration of a tool shows it.
pub trait DeclaredParam {
    /// The type of the default.
    type Default;

    /// Returns the schema and whether the argument may be absent, or `None` for a parameter that is
    /// not an argument.
    fn declared(&self) -> Option<(ParamSchema, bool)>;
}

impl<V, D, H> DeclaredParam for Handle<V, D, H> {
    type Default = D;

    fn declared(&self) -> Option<(ParamSchema, bool)> {
        Some((self.codec.schema, self.absent.is_some()))
    }
}

/// The handle of a context, which is not read by name.
#[derive(Debug)]
pub struct ContextHandle;

impl ContextHandle {
    /// Takes the context.
    ///
    /// # Errors
    /// Fails if another parameter has taken the context. A const check rejects such a tool first.
    pub fn __load<S: Source>(&self, source: &mut S, _: &str) -> Result<S::Context, S::Error> {
        source.context()
    }
}

impl DeclaredParam for ContextHandle {
    type Default = ();

    fn declared(&self) -> Option<(ParamSchema, bool)> {
        None
    }
}

macro_rules! shapes {
    ($(
        [$($generic:ident)*] $param:ty, $kind:ty:
            $value:ty => $handle:ty, |$codecs:pat_param| $made:expr;
    )+) => {$(
        impl<$($generic),*> Param<$param, $kind> {
            /// Returns the shape of the parameter.
            pub fn __shape(self) -> Shape<$value, $handle> {
                Shape(|$codecs| $made)
            }
        }
    )+};
}

shapes! {
    [] &mut Context, KeyParam: () => ContextHandle, |_| ContextHandle;
    [] &mut ToolContext, ArgumentParam: () => ContextHandle, |_| ContextHandle;
    [] &ToolContext, ArgumentParam: () => ContextHandle, |_| ContextHandle;
    [K] &str, K: String => Required<Lent<String>, Lent<String>>,
        |codecs| Handle::required(codecs.text(), |text| text);
    [K] &Value, K: Value => Required<Lent<Value>, Lent<Value>>,
        |codecs| Handle::required(codecs.json(), |value| value);
    [K] &Path, K: PathBuf => Required<PathBuf, Borrowed<PathBuf>>,
        |codecs| Handle::required(codecs.one, Borrowed::new);
    [T K] &[T], K: T => Required<Vec<T>, Borrowed<Vec<T>>>,
        |codecs| Handle::required(codecs.many, Borrowed::new);
    [K] Option<&str>, K: String => Optional<Lent<String>, MaybeDeref<Lent<String>>>,
        |codecs| Handle::optional(codecs.text(), MaybeDeref::new);
    [K] Option<&Path>, K: PathBuf => Optional<PathBuf, MaybeDeref<PathBuf>>,
        |codecs| Handle::optional(codecs.one, MaybeDeref::new);
    [T K] Option<&[T]>, K: T => Optional<Vec<T>, MaybeDeref<Vec<T>>>,
        |codecs| Handle::optional(codecs.many, MaybeDeref::new);
    [T K] Option<&T>, K: T => Optional<T, Maybe<T>>,
        |codecs| Handle::optional(codecs.one, Maybe::new);
}

/// The parameter types `Option<T>` and `&T`. Method resolution tries them after the inherent
/// methods and before [`ParamPlain`].
pub trait ParamMaybe<T> {
    /// The handle of the parameter.
    type Handle;

    /// Returns the shape of the parameter.
    fn __shape(self) -> Shape<T, Self::Handle>;
}

impl<T, K> ParamMaybe<T> for Param<Option<T>, K> {
    type Handle = Optional<T, Owned<Option<T>>>;

    fn __shape(self) -> Shape<T, Self::Handle> {
        Shape(|codecs| Handle::optional(codecs.one, Owned::new))
    }
}

impl<T, K> ParamMaybe<T> for Param<&T, K> {
    type Handle = Required<T, Borrowed<T>>;

    fn __shape(self) -> Shape<T, Self::Handle> {
        Shape(|codecs| Handle::required(codecs.one, Borrowed::new))
    }
}

/// Any other parameter type `T`. Method resolution tries it last, because the method takes a
/// reference to [`Param`].
pub trait ParamPlain<T> {
    /// Returns the shape of the parameter.
    fn __shape(self) -> Shape<T, Required<T, Owned<T>>>;
}

impl<T, K> ParamPlain<T> for &Param<T, K> {
    fn __shape(self) -> Shape<T, Required<T, Owned<T>>> {
        Shape(|codecs| Handle::required(codecs.one, Owned::new))
    }
}
