//! Values that a user writes in a workflow, and agents that a caller supplies: each bound says what was expected.

use crate::agents::llm::Retry;
use crate::models::model::ModelRef;
use crate::runtime::agent::{Agent, DynAgent};
use crate::spec::AgentMeta;

/// What may be written as the value of a key of type `K`.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be the value of a key of type `{K}`",
    label = "expected `{K}` or `&str`"
)]
pub trait ValueOf<K> {
    /// The value.
    fn value(self) -> K;
}

#[diagnostic::do_not_recommend]
impl<K, T: Into<K>> ValueOf<K> for T {
    fn value(self) -> K {
        self.into()
    }
}

/// A value that a user wrote for a `String`, of any type.
#[derive(Debug)]
pub struct UserValue<T>(T);

/// Holds such a value.
pub fn user_value<T>(value: T) -> UserValue<T> {
    UserValue(value)
}

/// Where nothing says a type, as in `"x".into()`, rustc takes the one method that is no trait's, and so a `String`: a bound
/// such as [`ValueOf`] says none.
impl UserValue<String> {
    /// The value.
    pub fn __itself(self) -> String {
        self.0
    }
}

/// Any other value.
pub trait Itself {
    /// Its type.
    type Value;
    /// The value.
    fn __itself(self) -> Self::Value;
}

impl<T> Itself for UserValue<T> {
    type Value = T;
    fn __itself(self) -> T {
        self.0
    }
}

/// What may be written where a number with a fraction is wanted.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is not a number",
    label = "expected a number, such as `0.7`"
)]
pub trait Float {
    /// The number.
    fn float(self) -> f64;
}

// A `bool` becomes a number as well, but nothing can be added to it.
#[diagnostic::do_not_recommend]
impl<T: Into<f64> + std::ops::Add> Float for T {
    fn float(self) -> f64 {
        self.into()
    }
}

/// What may be written where a text is wanted.
#[diagnostic::on_unimplemented(message = "syntax: `{Self}` is no text", label = "expected a text in quotes")]
pub trait IntoText {
    /// The text.
    fn text(self) -> String;
}

#[diagnostic::do_not_recommend]
impl<T: Into<String>> IntoText for T {
    fn text(self) -> String {
        self.into()
    }
}

/// What may be written as the retries of an agent.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` does not say how often a call is made again",
    label = "expected a whole number, such as `3`, or a `Retry`"
)]
pub trait IntoRetry {
    /// The retries.
    fn retry(self) -> Retry;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Retry>> IntoRetry for T {
    fn retry(self) -> Retry {
        self.into()
    }
}

/// What may be written as the model of an agent.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is not a model",
    label = "expected the name of a model in quotes, or a value that implements `Model`"
)]
pub trait IntoModel {
    /// The model.
    fn model(self) -> ModelRef;
}

#[diagnostic::do_not_recommend]
impl<T: Into<ModelRef>> IntoModel for T {
    fn model(self) -> ModelRef {
        self.into()
    }
}

/// The type of `agent NAME: TYPE;`.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` is not an agent",
    label = "does not implement `Agent`, so what it reads and writes is not known",
    note = "for an agent that is known at run time only, say it: `agent NAME(READS: TYPE) -> KEY: TYPE as Arc<dyn DynAgent>;`"
)]
pub trait Supplied {
    /// It is an agent.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Agent> Supplied for T {}

/// The type of `agent NAME(...) -> ... as TYPE;`.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` is not an agent",
    label = "expected a type such as `Arc<dyn DynAgent>`",
    note = "it implements neither `Agent` nor `DynAgent`"
)]
pub trait IsDynAgent {
    /// It is one.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DynAgent> IsDynAgent for T {}

/// An agent of a type that may be no agent, which [`IsDynAgent`] reports.
pub trait SuppliedAgent<const DYN: bool> {
    /// As what the walk runs.
    fn agent(&self) -> Option<&dyn DynAgent>;
    /// Its description.
    fn meta(&self) -> Option<&AgentMeta<'_>> {
        self.agent().map(DynAgent::meta)
    }
}

impl<T: DynAgent> SuppliedAgent<true> for T {
    fn agent(&self) -> Option<&dyn DynAgent> {
        Some(self)
    }
}

impl<T> SuppliedAgent<false> for T {
    fn agent(&self) -> Option<&dyn DynAgent> {
        None
    }
}
