//! Functions as agents: what `#[agent]` expands to.
//!
//! The macro knows only how types are spelled, so the types themselves choose here: by inherent methods, which win
//! over those of traits, and by methods on `&Arg`, which come last.

mod agent;
mod output;
mod param;
mod plain;

pub use agent::AgentFunction;
pub use output::{AnyOutput, Done, Tag, tag};
pub use param::{
    Arg, Borrowed, Held, Json, Lend, LoadMaybe, LoadPlain, Maybe, MaybeText, Misplaced, Owned, Slot, Text,
};

pub use plain::{
    About, AgentResult, Blocks, KeyName, Output, Param, Params, ParamsOf, PlainFunction, PlainType, Returned,
    Waits,
};

pub use adk_spec::__private::function_meta as meta;

use crate::spec::{AgentMeta, KeySpec};
use crate::store::engine::{CallInputs, CallKind};
use crate::{BoxError, BoxFuture, Context, Error, ErrorKind, Flow, Name, Result, State, secret};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What may be read from a state key.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be read from a state key; help: put `#[adk::data]` on it, or derive `serde::Deserialize`",
    label = "no parameter of an agent",
    note = "a parameter is `T`, `&T`, `&str`, `&[T]`, an `Option` of these or any JSON value, where `T` owns what it holds; the context of the run is `cx: &mut Context`; what the program has, such as a pool, is a resource: `#[resource] db: &Pool`"
)]
pub trait StateRead: Sized {
    /// Reads a parameter. The one place where its type has to be one.
    ///
    /// # Errors
    /// When the key does not hold what is wanted.
    fn load<H>(slot: Slot<Self, H>, state: &mut State<'_>, key: &'static str) -> Result<H>;
}

// The bounds are here and not on the trait: so a path `<T as StateRead>` that does not hold is one error, said under the
// type, with the text above and no note about ours. The same for the traits below.
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> StateRead for T {
    fn load<H>(slot: Slot<Self, H>, state: &mut State<'_>, key: &'static str) -> Result<H> {
        slot.load(param::Decode::new(), state, key)
    }
}

/// What may be borrowed to be changed.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` is borrowed to be changed, and the context alone can be; help: take it by value or by `&`, and return what it becomes",
    label = "no parameter of an agent",
    note = "what an agent writes is what it returns, as `#[agent(writes = KEY)]` says"
)]
pub trait LentRead: Sized {
    /// Reads a parameter, as [`StateRead::load`] does.
    ///
    /// # Errors
    /// When the key does not hold what is wanted.
    fn load<H>(slot: Slot<Self, H>, state: &mut State<'_>, key: &'static str) -> Result<H>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> LentRead for T {
    fn load<H>(slot: Slot<Self, H>, state: &mut State<'_>, key: &'static str) -> Result<H> {
        slot.load(param::Decode::new(), state, key)
    }
}

/// What may be read from a state key, or be borrowed to be changed, where it is called as a context is.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` is no parameter of an agent; help: take the context of the run as `cx: &mut Context`, in front; a function that takes a `ToolContext` is a `#[tool]`; if this is data of your own, take it by value or by `&`, and put `#[adk::data]` on it",
    label = "no parameter of an agent"
)]
pub trait ContextRead: Sized {
    /// Reads a parameter, as [`StateRead::load`] does.
    ///
    /// # Errors
    /// When the key does not hold what is wanted.
    fn load<H>(slot: Slot<Self, H>, state: &mut State<'_>, key: &'static str) -> Result<H>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> ContextRead for T {
    fn load<H>(slot: Slot<Self, H>, state: &mut State<'_>, key: &'static str) -> Result<H> {
        slot.load(param::Decode::new(), state, key)
    }
}

/// What may be written to a state key.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be written to a state key; help: put `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait StateWrite: Sized {
    /// The JSON of the value that is written to `key`, if one is.
    ///
    /// # Errors
    /// When the value has no form in JSON.
    fn json(value: Option<Self>, key: &'static str) -> Result<Option<Arc<Value>>>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> StateWrite for T {
    fn json(value: Option<Self>, key: &'static str) -> Result<Option<Arc<Value>>> {
        value.map(|value| crate::runtime::run::encode(key, value)).transpose()
    }
}

/// What an agent may fail with.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be the error of an agent; help: implement `std::error::Error` for it, or return an `adk::Error`; for a `Box<dyn Error>` write `Box<dyn Error + Send + Sync>`",
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

/// What a function does once its parameters are read. Boxed, so that no future of the library depends on the function:
/// otherwise rustc proves for each that all of them are `Send`, which took most of the time of compiling it.
#[allow(missing_debug_implementations, reason = "work has no form")]
pub enum Work<'a> {
    /// A function that has no context owns all it works with, and is one recorded step.
    Step(Step),
    /// A function that has the context takes its own steps.
    Direct(BoxFuture<'a, Result<Done>>),
}

/// A function as one step.
#[allow(missing_debug_implementations, reason = "work has no form")]
pub enum Step {
    /// It is called, and never waits.
    Call(BoxFuture<'static, Result<Done>>),
    /// It waits.
    Wait(BoxFuture<'static, Result<Done>>),
    /// It runs on the pool for work that blocks.
    Block(BoxFuture<'static, Result<Done>>),
}

/// Runs a function that has no context.
#[derive(Debug)]
pub struct Recorded;

impl Recorded {
    /// A function that is called.
    pub fn call(self, work: impl FnOnce() -> Result<Done> + Send + 'static) -> Work<'static> {
        Work::Step(Step::Call(Box::pin(async move { work() })))
    }

    /// A function that waits.
    pub fn wait(self, work: impl Future<Output = Result<Done>> + Send + 'static) -> Work<'static> {
        Work::Step(Step::Wait(Box::pin(work)))
    }

    /// A function that blocks: on the pool for work that does.
    pub fn block(self, work: impl FnOnce() -> Result<Done> + Send + 'static) -> Work<'static> {
        Work::Step(Step::Block(Box::pin(blocking(Box::new(work)))))
    }
}

/// Runs a function that has the context.
#[derive(Debug)]
pub struct Direct;

impl Direct {
    /// A function that is called.
    pub fn call<'a>(self, work: impl FnOnce() -> Result<Done> + Send + 'a) -> Work<'a> {
        Work::Direct(Box::pin(async move { work() }))
    }

    /// A function that waits.
    pub fn wait<'a>(self, work: impl Future<Output = Result<Done>> + Send + 'a) -> Work<'a> {
        Work::Direct(Box::pin(work))
    }
}

/// Reads the parameters of a function.
pub type Begin = for<'a> fn(&'a mut Context) -> Result<Work<'a>>;

/// Runs a function, whose value goes to `key`.
pub(crate) fn run<'a>(
    cx: &'a mut Context,
    key: &'static str,
    meta: &'static AgentMeta<'static>,
    begin: Begin,
) -> BoxFuture<'a, Result<Flow>> {
    Box::pin(async move {
        let limit = meta.timeout;
        // Two matches: the context is free again once it is known that the work does not hold it.
        let done = match begin(cx)? {
            Work::Step(step) => Err(step),
            Work::Direct(work) => Ok(match limit {
                None => guarded(work).await,
                Some(limit) => {
                    let done = Box::pin(tokio::time::timeout(limit, guarded(work))).await;
                    done.unwrap_or_else(|_| Err(timed_out(limit, "")))
                }
            }),
        };
        let done = match done {
            Ok(done) => done,
            Err(step) => {
                let (limit, work, left) = match step {
                    Step::Call(work) => (None, work, ""),
                    Step::Wait(work) => (limit, work, ""),
                    Step::Block(work) => {
                        (limit, work, "; it still runs on its thread, and its result is dropped")
                    }
                };
                let (kind, name) = (CallKind::Function, Name::literal("function"));
                let inputs = cx.inputs(|| parameters(meta, cx));
                cx.recorded_call(kind, name, inputs, within(limit, work, left)).await
            }
        };
        let done = done.map_err(|error| error.at(cx.path()))?;
        done.commit(cx, key).await
    })
}

/// The values of the keys that a function reads. All secrets count as one.
fn parameters(meta: &AgentMeta<'_>, cx: &Context) -> CallInputs {
    let value = |key: &str| cx.committed_value(key).map(|value| secret::shown(&value));
    let values: Vec<_> = meta.reads.iter().map(|read| (read.name, value(read.name))).collect();
    CallInputs::of(&values)
}

/// Runs work that waits, for at most so long.
async fn within(
    limit: Option<Duration>,
    work: BoxFuture<'static, Result<Done>>,
    left: &'static str,
) -> Result<Done> {
    let Some(limit) = limit else { return guarded(work).await };
    let done = Box::pin(crate::task::limited(limit, guarded(work))).await;
    done.unwrap_or_else(|| Err(timed_out(limit, left)))
}

fn timed_out(limit: Duration, left: &str) -> Error {
    let message = format!("the function gave no result in {limit:?}, its `timeout`{left}");
    Error::new(ErrorKind::Timeout, message)
        .with_help("give it a longer `timeout`, or look for what it waits for")
}

async fn blocking(work: Box<dyn FnOnce() -> Result<Done> + Send>) -> Result<Done> {
    crate::panic::blocking(work).await.unwrap_or_else(|message| Err(panicked(&message)))
}

async fn guarded(work: impl Future<Output = Result<Done>>) -> Result<Done> {
    crate::panic::caught(work).await.unwrap_or_else(|message| Err(panicked(&message)))
}

fn panicked(message: &str) -> Error {
    Error::new(ErrorKind::Panic, format!("the function panicked: {message}"))
        .with_help("return an `Err` for what can go wrong; a panic is a fault in the function")
}
