//! Values that a user writes in a workflow, and agents that a caller supplies. The message of each
//! bound names the expected value.

use crate::agents::llm::Retry;
use crate::model::ModelRef;
use crate::runtime::agent::{Agent, DynAgent};
use crate::spec::AgentMeta;

/// A type that a user may write as the value of a key of type `K`.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be the value of a key of type `{K}`",
    label = "expected `{K}` or `&str`"
)]
pub trait ValueOf<K> {
    /// Returns the value.
    fn value(self) -> K;
}

#[diagnostic::do_not_recommend]
impl<K, T: Into<K>> ValueOf<K> for T {
    fn value(self) -> K {
        self.into()
    }
}

/// A value that a user wrote for a `String`.
#[derive(Debug)]
pub struct UserValue<T>(T);

/// Wraps a value that a user wrote for a `String`.
pub fn user_value<T>(value: T) -> UserValue<T> {
    UserValue(value)
}

/// If the type of the value is unknown, as in `"x".into()`, rustc selects the only inherent method
/// and infers `String`. A bound such as [`ValueOf`] would leave the type unknown.
impl UserValue<String> {
    /// Returns the value.
    pub fn __itself(self) -> String {
        self.0
    }
}

/// Any other value.
pub trait Itself {
    /// The type of the value.
    type Value;
    /// Returns the value.
    fn __itself(self) -> Self::Value;
}

impl<T> Itself for UserValue<T> {
    type Value = T;
    fn __itself(self) -> T {
        self.0
    }
}

/// A type that a user may write for a number with a fraction.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is not a number",
    label = "expected a number, such as `0.7`"
)]
pub trait Float {
    /// Returns the number.
    fn float(self) -> f64;
}

// The bound `Add` excludes `bool`, which converts to a number as well.
#[diagnostic::do_not_recommend]
impl<T: Into<f64> + std::ops::Add> Float for T {
    fn float(self) -> f64 {
        self.into()
    }
}

/// A type that a user may write for a text.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is no text",
    label = "expected a text in quotes"
)]
pub trait IntoText {
    /// Returns the text.
    fn text(self) -> String;
}

#[diagnostic::do_not_recommend]
impl<T: Into<String>> IntoText for T {
    fn text(self) -> String {
        self.into()
    }
}

/// A type that a user may write for the retries of an agent.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` does not say how often a call is made again",
    label = "expected a whole number, such as `3`, or a `Retry`"
)]
pub trait IntoRetry {
    /// Returns the retries.
    fn retry(self) -> Retry;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Retry>> IntoRetry for T {
    fn retry(self) -> Retry {
        self.into()
    }
}

/// A type that a user may write for the model of an agent.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is not a model",
    label = "expected the name of a model in quotes, or a value that implements `Model`"
)]
pub trait IntoModel {
    /// Returns the model.
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
    note = "declare an agent that is known only at run time as `agent \
        NAME(READS: TYPE) -> KEY: TYPE as Arc<dyn DynAgent>;`"
)]
pub trait Supplied {
    /// The unit value: an expansion names this constant to require the trait of a type.
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
    /// The unit value: an expansion names this constant to require the trait of a type.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DynAgent> IsDynAgent for T {}

/// A supplied agent. A type that is not an agent, which [`IsDynAgent`] reports, has none.
pub trait SuppliedAgent<const DYN: bool> {
    /// Returns the agent that runs the step.
    fn agent(&self) -> Option<&dyn DynAgent>;
    /// Returns the description of the agent.
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
