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
    message = "syntax: `{Self}` cannot be a part of data; help: put `#[adk::data]` on it, or derive `Clone`, `Debug`, `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`; if it is of another crate, hold a type of your own that says the same",
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

/// What can be a field of `#[adk::data]`, of which it is spelled that it may stay on its thread.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be a part of data, because it cannot be sent between threads; help: own the value, or write `Arc` for `Rc`",
    label = "stays on its thread"
)]
pub trait Sent {
    /// It can.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send> Sent for T {}

/// What can be a field of `#[adk::data]`, of which it is spelled that it may have no form.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be a part of data, because it has no form in JSON; help: hold a value of `#[adk::data]` that says the same, as an `enum` of what it may be",
    label = "no model knows what this is"
)]
pub trait Formed {
    /// It can.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + ?Sized> Formed for T {}

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
