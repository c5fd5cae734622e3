//! Return values of function agents. The type of a value selects how it becomes a
//! [`FunctionOutcome`].

use crate::__private::flowing::Flowing;
use crate::{Context, Event, Flow, Result, StateDelta};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

/// The recorded outcome of a function.
#[derive(Debug, Serialize, Deserialize)]
pub struct FunctionOutcome {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    value: Option<Arc<Value>>,
    #[serde(default)]
    flow: Flow,
    /// Values of keys that the function has set through its parameters, such as an `Out`.
    #[serde(default, skip_serializing_if = "StateDelta::is_empty")]
    set: StateDelta,
}

/// Deserializes a value that is present, even if the value is null.
fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Arc<Value>>, D::Error> {
    Arc::deserialize(deserializer).map(Some)
}

impl FunctionOutcome {
    /// Creates the outcome of a function that returned `flow` and perhaps wrote `value`.
    pub fn new(value: Option<Arc<Value>>, flow: Flow) -> Self {
        Self {
            value,
            flow,
            set: StateDelta::default(),
        }
    }

    /// Adds the value that a parameter has set, if any.
    #[must_use]
    pub fn set(mut self, key: &'static str, value: Option<Arc<Value>>) -> Self {
        value
            .into_iter()
            .for_each(|value| self.set.insert(key, value));
        self
    }

    /// Emits an event if the function has written a key or ends a loop, and returns the flow.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub async fn commit(self, cx: &mut Context, key: &'static str) -> Result<Flow> {
        let (event, flow) = self.event(key);
        match event {
            Some(event) => cx.emit(event).await.map(|_| flow),
            None => Ok(flow),
        }
    }

    fn event(self, key: &'static str) -> (Option<Event>, Flow) {
        let exit = self.flow == Flow::Exit;
        if self.value.is_none() && self.set.is_empty() && !exit {
            return (None, self.flow);
        }
        let mut event = Event::new();
        event.actions.state_delta = self.set;
        if let Some(value) = self.value {
            event.actions.state_delta.insert(key, value);
        }
        if exit {
            event.actions.escalate = Some(true);
        }
        (Some(event), self.flow)
    }
}

/// The type of a value that a function returned.
#[derive(Debug)]
pub struct FunctionTag<R>(PhantomData<fn() -> R>);

/// Returns the type of a value that a function returned.
pub fn tag<R>(_: &R) -> FunctionTag<R> {
    FunctionTag(PhantomData)
}

impl<T, E> FunctionTag<Result<T, E>> {
    /// Returns the `Result` unchanged.
    ///
    /// # Errors
    /// Returns the error of the function.
    pub fn __ok(self, output: Result<T, E>) -> Result<T, E> {
        output
    }
}

impl<R: Flowing> FunctionTag<R> {
    /// Separates the value from its `Flow`.
    pub fn __flow(self, output: R) -> (R::Value, Flow) {
        output.split()
    }
}

/// A return type that may hold no value. The trait is a single bound, as [`Flowing`] is.
pub trait OptionalOutput {
    /// The type of the written value.
    type Value;
    /// Returns the value as an `Option`.
    fn maybe(self) -> Option<Self::Value>;
}

impl OptionalOutput for () {
    type Value = ();
    fn maybe(self) -> Option<()> {
        None
    }
}

impl<T> OptionalOutput for Option<T> {
    type Value = T;
    fn maybe(self) -> Self {
        self
    }
}

impl<R: OptionalOutput> FunctionTag<R> {
    /// Returns the value to write, if any.
    pub fn __value(self, output: R) -> Option<R::Value> {
        output.maybe()
    }
}

/// Defaults for types without a more specific method.
pub trait FunctionOutputDefaults<T>: Sized {
    /// Wraps a value that is not a `Result`.
    ///
    /// # Errors
    /// Never fails.
    fn __ok(self, output: T) -> Result<T, Infallible> {
        Ok(output)
    }

    /// Pairs a value without a `Flow` with `Flow::Continue`.
    fn __flow(self, output: T) -> (T, Flow) {
        (output, Flow::Continue)
    }

    /// Returns the value, which is always written.
    fn __value(self, output: T) -> Option<T> {
        Some(output)
    }
}

impl<T> FunctionOutputDefaults<T> for FunctionTag<T> {}
