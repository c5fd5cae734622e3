//! Facts about types as consts, so that aliases and renamed imports count: an inherent associated const wins over
//! one of a trait. This works on known types only, which is what the macros have.

use crate::spec::{Accepts, accepts};
use crate::{Context, Flow, ToolContext};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// Asks about a type: `Probe::<T>::OPTIONAL`, with [`Otherwise`] in scope.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<T>);

/// The defaults for all types.
pub trait Otherwise {
    /// It is an `Option`.
    const OPTIONAL: bool = false;
    /// It is `&mut Context`.
    const CONTEXT: bool = false;
    /// It is `&mut ToolContext` or `&ToolContext`.
    const TOOL_CONTEXT: bool = false;
    /// It is `()`.
    const UNIT: bool = false;
    /// 1 for a `Result`.
    const RESULT: usize = 0;
    /// 1 for `Flow`, 2 for `(T, Flow)`.
    const FLOW: usize = 0;
    /// Says what is wrong with a value that is none of these.
    const ACCEPTS: Option<Accepts> = None;
}

impl<T: ?Sized> Otherwise for Probe<T> {}

impl<T: DeserializeOwned> Probe<T> {
    /// Says what is wrong with a value that is none of these.
    pub const ACCEPTS: Option<Accepts> = Some(accepts::<T>);
}

impl<T> Probe<Option<T>> {
    /// It is an `Option`.
    pub const OPTIONAL: bool = true;
}

impl<T, E> Probe<Result<T, E>> {
    /// It is a `Result`.
    pub const RESULT: usize = 1;
}

impl Probe<()> {
    /// It is `()`.
    pub const UNIT: bool = true;
}

impl Probe<Flow> {
    /// It is `Flow`.
    pub const FLOW: usize = 1;
}

impl<T> Probe<(T, Flow)> {
    /// It is a value with `Flow`.
    pub const FLOW: usize = 2;
}

impl Probe<&mut Context> {
    /// It is the context of an agent.
    pub const CONTEXT: bool = true;
}

impl Probe<&mut ToolContext> {
    /// It is the context of a tool.
    pub const TOOL_CONTEXT: bool = true;
}

impl Probe<&ToolContext> {
    /// It is the context of a tool.
    pub const TOOL_CONTEXT: bool = true;
}

/// Takes the `Result` off: `<R as OfResult<{ Probe::<R>::RESULT }>>::Value`. The const chooses the impl, so there is
/// no overlap.
pub trait OfResult<const RESULT: usize> {
    /// What is inside, or the type itself.
    type Value;
}

impl<T> OfResult<0> for T {
    type Value = T;
}

impl<T, E> OfResult<1> for Result<T, E> {
    type Value = T;
}

/// Takes the `Flow` off: `<R as OfFlow<{ Probe::<R>::FLOW }>>::Value`.
pub trait OfFlow<const FLOW: usize> {
    /// The value next to it; `()` for none.
    type Value;
}

impl<T> OfFlow<0> for T {
    type Value = T;
}

impl OfFlow<1> for Flow {
    type Value = ();
}

impl<T> OfFlow<2> for (T, Flow) {
    type Value = T;
}

/// Ends const evaluation with a message of ours when something is wrong.
#[track_caller]
pub const fn refuse(wrong: bool, message: &'static str) {
    if wrong {
        panic!("{}", message);
    }
}
