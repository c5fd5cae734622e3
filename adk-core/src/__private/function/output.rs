//! What a function agent returns, chosen by its type, as one event and a flow.

use crate::flow::Flowing;
use crate::{Context, Event, Flow, Result, StateDelta};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a function has done, as it is recorded.
#[derive(Debug, Serialize, Deserialize)]
pub struct FunctionOutcome {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_present")]
    value: Option<Arc<Value>>,
    #[serde(default)]
    flow: Flow,
    /// The keys that parameters have set.
    #[serde(default, skip_serializing_if = "StateDelta::is_empty")]
    set: StateDelta,
}

/// A value that is there, also when it is null.
fn deserialize_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<Value>>, D::Error> {
    Arc::deserialize(deserializer).map(Some)
}

impl FunctionOutcome {
    /// A function that may have written its key.
    pub fn new(value: Option<Arc<Value>>, flow: Flow) -> Self {
        Self { value, flow, set: StateDelta::default() }
    }

    /// Takes what a parameter has set, if it has.
    #[must_use]
    pub fn set(mut self, key: &'static str, value: Option<Arc<Value>>) -> Self {
        value.into_iter().for_each(|value| self.set.insert(key, value));
        self
    }

    /// Emits what there is to say.
    ///
    /// # Errors
    /// When the store fails.
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

/// The type of what was returned.
#[derive(Debug)]
pub struct FunctionTag<R>(PhantomData<fn() -> R>);

/// The type of what was returned.
pub fn tag<R>(_: &R) -> FunctionTag<R> {
    FunctionTag(PhantomData)
}

impl<T, E> FunctionTag<Result<T, E>> {
    /// It is a `Result` already.
    ///
    /// # Errors
    /// The function's own.
    pub fn __ok(self, output: Result<T, E>) -> Result<T, E> {
        output
    }
}

impl<R: Flowing> FunctionTag<R> {
    /// Takes the `Flow` off.
    pub fn __flow(self, output: R) -> (R::Value, Flow) {
        output.split()
    }
}

/// What may be nothing. One bound, as with [`Flowing`].
pub trait OptionalOutput {
    /// What is written, if it is.
    type Value;
    /// As an `Option`.
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
    /// It is written, perhaps.
    pub fn __value(self, output: R) -> Option<R::Value> {
        output.maybe()
    }
}

/// The defaults for all types.
pub trait FunctionOutputDefaults<T>: Sized {
    /// It cannot fail.
    ///
    /// # Errors
    /// None.
    fn __ok(self, output: T) -> Result<T, Infallible> {
        Ok(output)
    }

    /// It has no `Flow`.
    fn __flow(self, output: T) -> (T, Flow) {
        (output, Flow::Continue)
    }

    /// It is written.
    fn __value(self, output: T) -> Option<T> {
        Some(output)
    }
}

impl<T> FunctionOutputDefaults<T> for FunctionTag<T> {}
