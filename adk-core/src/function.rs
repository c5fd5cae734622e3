//! Functions as agents: what `#[agent]` expands to.
//!
//! The macro knows only how types are spelled, so the types themselves choose here: by inherent methods, which win
//! over those of traits, and by methods on `&Arg`, which come last.

mod output;
mod param;

pub use output::{AnyOutput, Done, Tag, tag};
pub use param::{
    Arg, Borrowed, Held, Json, Lend, LoadMaybe, LoadPlain, Maybe, MaybeText, Misplaced, Owned, Text,
};

use crate::spec::KeySpec;
use crate::{Context, Error, ErrorKind, Path, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What may be read from a state key.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be read from a state key; help: put `#[adk::data]` on it, or derive `serde::Deserialize`",
    label = "no parameter of an agent",
    note = "a parameter is `T`, `&T`, `&str`, `&[T]`, `Option<T>` or any JSON value, where `T` owns what it holds"
)]
pub trait StateRead: DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> StateRead for T {}

/// What may be written to a state key.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be written to a state key; help: put `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait StateWrite: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> StateWrite for T {}

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
