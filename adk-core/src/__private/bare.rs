//! Types that no attribute makes data, as the macros ask about them: once each, by a const that they give to the type.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Asks about a type, with [`Otherwise`] in scope.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

/// What holds for a type of which nothing else is said.
pub trait Otherwise {
    /// It can be read.
    const READ: bool = false;
    /// It can be written.
    const WRITTEN: bool = false;
    /// Models can be told what it is.
    const SCHEMA: bool = false;
    /// It has `Clone`.
    const CLONE: bool = false;
    /// It has `Debug`.
    const DEBUG: bool = false;
}

impl<T> Otherwise for Probe<T> {}

impl<T: DeserializeOwned> Probe<T> {
    /// It can be read.
    pub const READ: bool = true;
}

impl<T: Serialize> Probe<T> {
    /// It can be written.
    pub const WRITTEN: bool = true;
}

impl<T: JsonSchema> Probe<T> {
    /// Models can be told what it is.
    pub const SCHEMA: bool = true;
}

impl<T: Clone> Probe<T> {
    /// It has `Clone`.
    pub const CLONE: bool = true;
}

impl<T: Debug> Probe<T> {
    /// It has `Debug`.
    pub const DEBUG: bool = true;
}

/// The type itself, where it is data.
pub trait Same<const DATA: bool> {
    /// It.
    type Type;
}

impl<T> Same<true> for T {
    type Type = T;
}

/// What stands in the place of an item that was refused. Its argument is the error that says so, and of what has to do with an
/// error rustc says nothing more.
#[derive(Debug)]
pub struct Torn<const REFUSED: usize>;

/// What an agent reads or writes. One that is data in one way is asked for more by the traits of its uses.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be held by a state key; help: put `#[adk::data]` on it, or derive `serde::Serialize` and `serde::Deserialize`",
    label = "has no form in JSON",
    note = "a parameter is `T`, `&T`, `&str`, `&[T]`, an `Option` of these or any JSON value, where `T` owns what it holds; the context of the run is `cx: &mut Context`"
)]
pub trait OfAgent<const DATA: bool> {
    /// It is.
    const YES: bool = true;
}

/// A part of `#[data]`.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be a part of data; help: put `#[adk::data]` on it, or derive `Clone`, `Debug`, `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`",
    label = "lacks one of these traits"
)]
pub trait OfData<const DATA: bool> {
    /// It is.
    const YES: bool = true;
}

/// What a tool takes or gives.
#[diagnostic::on_unimplemented(
    message = "tool-argument: `{Self}` cannot be exchanged with a model; help: put `#[adk::data]` on it, or derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`",
    label = "has no form in JSON",
    note = "state, artifacts and the call itself come with a `cx: &mut ToolContext` parameter"
)]
pub trait OfTool<const DATA: bool> {
    /// It is.
    const YES: bool = true;
}

/// What a workflow declares.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be the type of a key; help: put `#[adk::data]` on it, or derive `serde::Serialize` and `serde::Deserialize`",
    label = "cannot be stored in the state"
)]
pub trait OfWorkflow<const DATA: bool> {
    /// It is.
    const YES: bool = true;
}

impl<T> OfAgent<true> for T {}
impl<T> OfData<true> for T {}
impl<T> OfTool<true> for T {}
impl<T> OfWorkflow<true> for T {}
