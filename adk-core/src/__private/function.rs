//! Functions as agents, as the expansion of `#[agent]` runs them.

mod agent;
mod output;
mod plain;

pub use crate::__private::holder::{Borrowed, Lent, Owned};
pub use agent::AgentFunction;
pub use output::{FunctionOutcome, FunctionOutputDefaults, FunctionTag, tag};
pub use plain::{
    About, AgentResult, AsyncOutput, BlockingOutput, KeyName, Params, ParamsOf, PlainFunction,
    PlainOutput, PlainParam, PlainType, Returned,
};

pub use adk_spec::__private::function_meta as meta;

use super::holder::{Lend, LentContext};
use crate::spec::{AgentMeta, KeySpec};
use crate::store::engine::{CallInputs, CallKind};
use crate::{
    BoxError, BoxFuture, Context, Error, ErrorKind, Flow, Name, Path, Result, RunId, secret,
};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

// As in `param::readers`, the bounds are on the impls and not on the traits.

/// A type that a function writes to a state key.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be written to a state key; help: put `#[adk::data]` on \
        it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait StateWrite: Sized {
    /// Returns the JSON of the value for `key`, or `None` if there is no value.
    ///
    /// # Errors
    /// Fails if the value has no form in JSON.
    fn json(value: Option<Self>, key: &'static str) -> Result<Option<Arc<Value>>>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> StateWrite for T {
    fn json(value: Option<Self>, key: &'static str) -> Result<Option<Arc<Value>>> {
        value
            .map(|value| crate::runtime::run::encode(key, value))
            .transpose()
    }
}

/// A type that an agent may fail with.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` cannot be the error of an agent; help: implement \
        `std::error::Error` for it, or return an `adk::Error`; for a `Box<dyn Error>` write \
        `Box<dyn Error + Send + Sync>`",
    label = "is no error"
)]
pub trait AgentFailure: Sized {
    /// Unwraps the `Result` of a function. An error of this crate is passed on unchanged.
    ///
    /// # Errors
    /// Returns the error of the function.
    fn ok<T>(output: Result<T, Self>) -> Result<T>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> AgentFailure for E {
    fn ok<T>(output: Result<T, Self>) -> Result<T> {
        output.map_err(Error::other)
    }
}

/// Returns the keys that a function reads: all its parameters except a leading context.
pub const fn reads(
    context: bool,
    params: &'static [KeySpec<'static>],
) -> &'static [KeySpec<'static>] {
    match params {
        [_, keys @ ..] if context => keys,
        keys => keys,
    }
}

/// The work of a function whose parameters are read. The future is boxed, so no future of this
/// crate depends on the function. Otherwise rustc would prove for each function that all of them
/// are `Send`, which took most of the compile time.
#[allow(missing_debug_implementations, reason = "work has no form")]
pub enum Work<'a> {
    /// A function without a context owns its data and is one recorded step.
    Step(Step),
    /// A function with a context records its own steps.
    Direct(BoxFuture<'a, Result<FunctionOutcome>>),
}

/// A function as one recorded step.
#[allow(missing_debug_implementations, reason = "work has no form")]
pub enum Step {
    /// A function that never waits.
    Call(BoxFuture<'static, Result<FunctionOutcome>>),
    /// An `async` function.
    Wait(BoxFuture<'static, Result<FunctionOutcome>>),
    /// A function that runs on the blocking thread pool.
    Block(BoxFuture<'static, Result<FunctionOutcome>>),
}

/// Runs a function without a context.
#[derive(Debug)]
pub struct RecordedWork;

impl RecordedWork {
    /// Returns the work of a function that never waits.
    pub fn call(
        self,
        work: impl FnOnce() -> Result<FunctionOutcome> + Send + 'static,
    ) -> Work<'static> {
        Work::Step(Step::Call(Box::pin(async move { work() })))
    }

    /// Returns the work of an `async` function.
    pub fn wait(
        self,
        work: impl Future<Output = Result<FunctionOutcome>> + Send + 'static,
    ) -> Work<'static> {
        Work::Step(Step::Wait(Box::pin(work)))
    }

    /// Returns the work of a function that runs on the blocking thread pool.
    pub fn block(
        self,
        work: impl FnOnce() -> Result<FunctionOutcome> + Send + 'static,
    ) -> Work<'static> {
        Work::Step(Step::Block(Box::pin(run_blocking(Box::new(work)))))
    }
}

/// Runs a function with a context.
#[derive(Debug)]
pub struct DirectWork;

impl DirectWork {
    /// Returns the work of a function that never waits.
    pub fn call<'a>(self, work: impl FnOnce() -> Result<FunctionOutcome> + Send + 'a) -> Work<'a> {
        Work::Direct(Box::pin(async move { work() }))
    }

    /// Returns the work of an `async` function.
    pub fn wait<'a>(
        self,
        work: impl Future<Output = Result<FunctionOutcome>> + Send + 'a,
    ) -> Work<'a> {
        Work::Direct(Box::pin(work))
    }
}

/// The way in which a function runs. The type of its first parameter selects it: the methods of
/// `Lend` win over these.
pub trait Held: Sized {
    /// Runs a function without a context as one recorded step.
    fn __begin(self, _: &mut Context) -> (Self, RecordedWork) {
        (self, RecordedWork)
    }

    /// Runs a blocking function without a context as one recorded step.
    fn __begin_blocking(self, _: &mut Context) -> (Self, RecordedWork) {
        (self, RecordedWork)
    }
}

impl<H> Held for H {}

impl Lend {
    /// Lends the context to the function, which records its own steps.
    pub fn __begin(self, cx: &mut Context) -> (LentContext<&mut Context>, DirectWork) {
        (LentContext(cx), DirectWork)
    }

    /// Is never called, because a const check rejects the function. The method exists so that rustc
    /// reports only that error.
    pub fn __begin_blocking(self, _: &mut Context) -> (Self, RecordedWork) {
        (self, RecordedWork)
    }
}

/// A function that reads the parameters and returns the work.
pub type Begin = for<'a> fn(&'a mut Context) -> Result<Work<'a>>;

/// Runs a function and writes its value to `key`.
pub(crate) fn run<'a>(
    cx: &'a mut Context,
    key: &'static str,
    meta: &'static AgentMeta<'static>,
    begin: Begin,
) -> BoxFuture<'a, Result<Flow>> {
    Box::pin(async move {
        let limit = meta.timeout;
        let place = (cx.run_id(), cx.path().clone());
        // Two matches, because the work of a function with a context borrows `cx`, and the recorded
        // call of a step needs `cx` too. After the first match that borrow has ended.
        let done = match begin(cx)? {
            Work::Step(step) => Err(step),
            Work::Direct(work) => Ok(match limit {
                None => catch_panic(work, place.clone()).await,
                Some(limit) => {
                    let work = catch_panic(work, place.clone());
                    let done = Box::pin(tokio::time::timeout(limit, work)).await;
                    done.unwrap_or_else(|_| Err(timeout_error(limit, "")))
                }
            }),
        };
        let done = match done {
            Ok(done) => done,
            Err(step) => {
                let is_call = matches!(step, Step::Call(_));
                let (limit, work, left) = match step {
                    Step::Call(work) => (None, work, ""),
                    Step::Wait(work) => (limit, work, ""),
                    Step::Block(work) => (
                        limit,
                        work,
                        "; it still runs on its thread, and its result is dropped",
                    ),
                };
                let (kind, name) = (CallKind::Function, Name::literal("function"));
                // A function that waits or takes resources depends on more than its parameters.
                let is_plain = is_call && meta.resources.is_empty();
                let inputs = cx.inputs(|keeps| parameters(meta, cx, keeps).derived(is_plain));
                cx.recorded_call(kind, name, inputs, run_within(limit, work, left, place))
                    .await
            }
        };
        let done = done.map_err(|error| error.at(cx.path()))?;
        done.commit(cx, key).await
    })
}

/// Returns the values of the keys that a function reads, as inputs of its recorded call. Each
/// secret is replaced by one placeholder.
fn parameters(meta: &AgentMeta<'_>, cx: &Context, keeps: bool) -> CallInputs {
    let value = |key: &str| cx.committed_value(key).map(|value| secret::redact(&value));
    let values: Vec<_> = meta
        .reads
        .iter()
        .map(|read| (read.name, value(read.name)))
        .collect();
    CallInputs::new(&values, keeps)
}

/// Runs the work of a step with an optional time limit.
async fn run_within(
    limit: Option<Duration>,
    work: BoxFuture<'static, Result<FunctionOutcome>>,
    left: &'static str,
    place: (RunId, Path),
) -> Result<FunctionOutcome> {
    let work = catch_panic(work, place);
    let Some(limit) = limit else {
        return work.await;
    };
    let done = Box::pin(crate::task::spawn_with_timeout(limit, work)).await;
    done.unwrap_or_else(|| Err(timeout_error(limit, left)))
}

fn timeout_error(limit: Duration, left: &str) -> Error {
    let message = format!("the function gave no result in {limit:?}, its `timeout`{left}");
    Error::new(ErrorKind::Timeout, message)
        .with_help("give it a longer `timeout`, or look for what it waits for")
}

async fn run_blocking(
    work: Box<dyn FnOnce() -> Result<FunctionOutcome> + Send>,
) -> Result<FunctionOutcome> {
    // The work of the step catches this panic.
    let caught = crate::task::run_blocking(work).await;
    caught.unwrap_or_else(|panic| panic.resume())
}

async fn catch_panic(
    work: impl Future<Output = Result<FunctionOutcome>>,
    (run, path): (RunId, Path),
) -> Result<FunctionOutcome> {
    let caught = crate::panic::catch_panic(work).await;
    caught.unwrap_or_else(|panic| {
        let help = "return an `Err` for what can go wrong; a panic is a fault in the function";
        Err(panic.into_error("the function", run, &path).with_help(help))
    })
}
