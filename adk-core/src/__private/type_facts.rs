//! [`TypeFacts`]: facts about types as consts, so that aliases and renamed imports count. An
//! inherent associated const wins over a const of a trait. This works for concrete types only, and
//! the macros use only those.

use crate::spec::{Accepts, accepts_own};
use crate::{Context, Flow, ToolContext};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// The facts about a type. Use `TypeFacts::<T>::OPTIONAL` with [`TypeFactDefaults`] in scope.
#[derive(Debug)]
pub struct TypeFacts<T: ?Sized>(PhantomData<T>);

/// The facts about all other types.
pub trait TypeFactDefaults {
    /// Whether the type is an `Option`.
    const OPTIONAL: bool = false;
    /// Whether the type is `&mut Context`.
    const CONTEXT: bool = false;
    /// Whether the type is `&mut ToolContext` or `&ToolContext`.
    const TOOL_CONTEXT: bool = false;
    /// Whether the type is `()`.
    const UNIT: bool = false;
    /// 1 for a `Result`.
    const RESULT: usize = 0;
    /// 1 for `Flow`, 2 for `(T, Flow)`.
    const FLOW: usize = 0;
    /// The function that checks whether a JSON value is a `T`.
    const ACCEPTS: Option<Accepts> = None;
}

impl<T: ?Sized> TypeFactDefaults for TypeFacts<T> {}

impl<T: DeserializeOwned + Serialize> TypeFacts<T> {
    /// The function that checks whether a JSON value is a `T`.
    pub const ACCEPTS: Option<Accepts> = Some(accepts_own::<T>);
}

impl<T> TypeFacts<Option<T>> {
    /// `true` for an `Option`.
    pub const OPTIONAL: bool = true;
}

impl<T, E> TypeFacts<Result<T, E>> {
    /// 1 for a `Result`.
    pub const RESULT: usize = 1;
}

impl TypeFacts<()> {
    /// `true` for `()`.
    pub const UNIT: bool = true;
}

impl TypeFacts<Flow> {
    /// 1 for `Flow`.
    pub const FLOW: usize = 1;
}

impl<T> TypeFacts<(T, Flow)> {
    /// 2 for a value with a `Flow`.
    pub const FLOW: usize = 2;
}

impl TypeFacts<&mut Context> {
    /// `true` for the context of an agent.
    pub const CONTEXT: bool = true;
}

impl TypeFacts<&mut ToolContext> {
    /// `true` for the context of a tool.
    pub const TOOL_CONTEXT: bool = true;
}

impl TypeFacts<&ToolContext> {
    /// `true` for the shared context of a tool.
    pub const TOOL_CONTEXT: bool = true;
}

/// The value type of a `Result`, or the type itself:
/// `<R as OfResult<{ TypeFacts::<R>::RESULT }>>::Value`. The const selects the impl, so the impls
/// do not overlap.
pub trait OfResult<const RESULT: usize> {
    /// The value type, or the type itself.
    type Value;
}

impl<T> OfResult<0> for T {
    type Value = T;
}

impl<T, E> OfResult<1> for Result<T, E> {
    type Value = T;
}

/// The value type next to a `Flow`, or the type itself:
/// `<R as OfFlow<{ TypeFacts::<R>::FLOW }>>::Value`.
pub trait OfFlow<const FLOW: usize> {
    /// The value type; `()` for `Flow` only.
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

/// Fails const evaluation with `message` if `wrong` is set.
#[track_caller]
pub const fn refuse(wrong: bool, message: &'static str) {
    if wrong {
        panic!("{}", message);
    }
}
