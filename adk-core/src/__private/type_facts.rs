//! Facts about types as consts, so that aliases and renamed imports count: an inherent associated const wins over
//! one of a trait. This works on known types only, which is what the macros have.

use crate::spec::{Accepts, accepts};
use crate::{Context, Flow, ToolContext};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// Asks about a type: `TypeFacts::<T>::OPTIONAL`, with [`TypeFactDefaults`] in scope.
#[derive(Debug)]
pub struct TypeFacts<T: ?Sized>(PhantomData<T>);

/// The defaults for all types.
pub trait TypeFactDefaults {
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

impl<T: ?Sized> TypeFactDefaults for TypeFacts<T> {}

impl<T: DeserializeOwned> TypeFacts<T> {
    /// Says what is wrong with a value that is none of these.
    pub const ACCEPTS: Option<Accepts> = Some(accepts::<T>);
}

impl<T> TypeFacts<Option<T>> {
    /// It is an `Option`.
    pub const OPTIONAL: bool = true;
}

impl<T, E> TypeFacts<Result<T, E>> {
    /// It is a `Result`.
    pub const RESULT: usize = 1;
}

impl TypeFacts<()> {
    /// It is `()`.
    pub const UNIT: bool = true;
}

impl TypeFacts<Flow> {
    /// It is `Flow`.
    pub const FLOW: usize = 1;
}

impl<T> TypeFacts<(T, Flow)> {
    /// It is a value with `Flow`.
    pub const FLOW: usize = 2;
}

impl TypeFacts<&mut Context> {
    /// It is the context of an agent.
    pub const CONTEXT: bool = true;
}

impl TypeFacts<&mut ToolContext> {
    /// It is the context of a tool.
    pub const TOOL_CONTEXT: bool = true;
}

impl TypeFacts<&ToolContext> {
    /// It is the context of a tool.
    pub const TOOL_CONTEXT: bool = true;
}

/// Takes the `Result` off: `<R as OfResult<{ TypeFacts::<R>::RESULT }>>::Value`. The const chooses the impl, so there is
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

/// Takes the `Flow` off: `<R as OfFlow<{ TypeFacts::<R>::FLOW }>>::Value`.
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
