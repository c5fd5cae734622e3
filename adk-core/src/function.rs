//! Functions as agents: what `#[agent]` expands to.
//!
//! The macro knows only how types are spelled, so the types themselves choose here: by inherent methods, which win
//! over those of traits, and by methods on `&Arg`, which come last.

mod output;
mod param;

pub use output::{AnyOutput, Done, Tag, tag};
pub use param::{
    Arg, Borrowed, Held, Json, Lend, LoadMaybe, LoadPlain, Maybe, MaybeText, Misplaced, Owned, Slot, Text,
};

use crate::spec::KeySpec;
use crate::{BoxError, Context, Error, ErrorKind, Path, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// What may be read from a state key.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be read from a state key; help: put `#[adk::data]` on it, or derive `serde::Deserialize`",
    label = "no parameter of an agent",
    note = "a parameter is `T`, `&T`, `&str`, `&[T]`, `Option<T>` or any JSON value, where `T` owns what it holds"
)]
pub trait StateRead: Sized {
    /// Reads a parameter. The one place where its type has to be one.
    ///
    /// # Errors
    /// When the key does not hold what is wanted.
    fn load<H>(slot: Slot<Self, H>, cx: &mut Context, key: &'static str) -> Result<H>;
}

// The bounds stand here and not on the trait: so a path `<T as StateRead>` that does not hold is one error, said under the
// type, with the text above and no note about ours. The same for the traits below.
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> StateRead for T {
    fn load<H>(slot: Slot<Self, H>, cx: &mut Context, key: &'static str) -> Result<H> {
        slot.load(param::Decode::new(), cx, key)
    }
}

/// What may be written to a state key.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be written to a state key; help: put `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait StateWrite: Sized {
    /// What is written, if anything is.
    ///
    /// # Errors
    /// When the value has no form in JSON.
    fn json(value: Option<Self>) -> Result<Option<Arc<Value>>>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> StateWrite for T {
    fn json(value: Option<Self>) -> Result<Option<Arc<Value>>> {
        value.map(|value| crate::run::encode("the written key", value)).transpose()
    }
}

/// What an agent may fail with.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be the error of an agent; help: implement `std::error::Error` for it, or return an `adk::Error`",
    label = "is no error"
)]
pub trait AgentFailure: Sized {
    /// Takes the `Result` off. An error of ours stays what it is.
    ///
    /// # Errors
    /// The function's own.
    fn ok<T>(output: Result<T, Self>) -> Result<T>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> AgentFailure for E {
    fn ok<T>(output: Result<T, Self>) -> Result<T> {
        output.map_err(|error| match error.into().downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::other(error),
        })
    }
}

/// The keys that a function reads: all its parameters, without the context in front.
pub const fn reads(context: bool, params: &'static [KeySpec<'static>]) -> &'static [KeySpec<'static>] {
    match params {
        [_, keys @ ..] if context => keys,
        keys => keys,
    }
}

/// Runs a function that has no context: its work owns everything and is one recorded step.
#[derive(Debug)]
pub struct Recorded<'a>(&'a mut Context);

impl<'a> Recorded<'a> {
    /// A step of this agent.
    pub fn new(cx: &'a mut Context) -> Self {
        Self(cx)
    }

    /// Does it, or takes its result from the record.
    ///
    /// # Errors
    /// The error of the function, or its panic.
    pub async fn run<F>(self, work: F) -> Result<Done>
    where
        F: Future<Output = Result<Done>> + Send + 'static,
    {
        let step = self.0.step("call", guarded(work));
        step.await.map_err(|error| error.at(self.0.path()))
    }
}

/// Runs a function that has the context: it takes its own steps.
#[derive(Debug)]
pub struct Direct(Path);

impl Direct {
    /// Does it.
    ///
    /// # Errors
    /// The error of the function, or its panic.
    pub async fn run(self, work: impl Future<Output = Result<Done>>) -> Result<Done> {
        guarded(work).await.map_err(|error| error.at(&self.0))
    }
}

/// Work on the pool for work that blocks.
///
/// # Errors
/// The error of the function, or its panic.
pub async fn blocking(work: impl FnOnce() -> Result<Done> + Send + 'static) -> Result<Done> {
    crate::panic::blocking(work).await.unwrap_or_else(|message| Err(panicked(&message)))
}

async fn guarded(work: impl Future<Output = Result<Done>>) -> Result<Done> {
    crate::panic::caught(work).await.unwrap_or_else(|message| Err(panicked(&message)))
}

fn panicked(message: &str) -> Error {
    Error::new(ErrorKind::Panic, format!("the function panicked: {message}"))
        .with_help("return an `Err` for what can go wrong; a panic is a fault in the function")
}
