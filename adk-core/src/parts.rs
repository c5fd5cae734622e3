//! What `#[adk::data]` expands to: whether its fields are data is asked in one place.
//!
//! Each derive asks that of each field, and rustc tells each answer. So a const asks first, and a type that is chosen by it
//! stands in what the derives get: where the const is an error so is that type, and rustc says nothing more of what has to
//! do with it.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What can be a field of `#[adk::data]`.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be a part of data; help: put `#[adk::data]` on it, or derive `Clone`, `Debug`, `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`",
    label = "no model knows what this is"
)]
pub trait Part {
    /// It can.
    const YES: () = ();
}

// The derive of this trait looks at types alone, which can be errors. The impls of the others have `Every` as a condition,
// and would be asked in a circle by a type that contains itself.
#[diagnostic::do_not_recommend]
impl<T: JsonSchema + ?Sized> Part for T {}

/// Chooses by the answer.
#[derive(Debug)]
pub struct Fits<const YES: bool>;

/// The type of a field, when all of them fit.
pub trait Pick<T> {
    /// It.
    type Field;
}

impl<T> Pick<T> for Fits<true> {
    type Field = T;
}

/// A type that has all traits which derives ask of fields: a condition that always holds. Of an error it is assumed, and
/// rustc takes that for an answer to whatever a derive asks.
pub trait Every: Clone + Debug + Serialize + DeserializeOwned {}

impl Every for () {}

/// A field that is told to be no data: what derives ask of it instead, since nothing of that type is ever read.
pub mod left_out {
    use serde::{Deserializer, Serializer};

    /// The value.
    ///
    /// # Panics
    /// Always: a type with such a field does not compile.
    pub fn value<T>() -> T {
        unreachable!("such a field does not compile")
    }

    /// How it is written.
    ///
    /// # Errors
    /// When there is no room for nothing.
    pub fn serialize<T, S: Serializer>(_: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }

    /// How it is read.
    ///
    /// # Errors
    /// None.
    pub fn deserialize<'de, T, D: Deserializer<'de>>(_: D) -> Result<T, D::Error> {
        Ok(value())
    }
}
