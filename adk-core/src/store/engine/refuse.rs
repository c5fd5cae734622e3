//! What every engine says when it cannot do what it is asked for: one kind and one wording, whatever the store.

use crate::{Error, ErrorKind, RunId, StoreErrorKind};

/// There is no such run. Of kind [`ErrorKind::UnknownRun`].
pub fn unknown_run(run: RunId) -> Error {
    Error::new(ErrorKind::UnknownRun, format!("there is no run `{run}`")).with_help(
        "the id of a run is `Outcome::run_id`, and the `invocation_id` of its events; was its session deleted?",
    )
}

/// A run of that id has begun before. Of kind [`StoreErrorKind::Exists`].
pub fn run_exists(run: RunId) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Exists), format!("run `{run}` has begun already"))
        .with_help("follow it, or resume it; another run needs another id")
}

/// Somebody drives the run. Of kind [`ErrorKind::RunBusy`].
pub fn run_busy(run: RunId) -> Error {
    Error::new(ErrorKind::RunBusy, format!("run `{run}` is driven already"))
        .with_help("wait until it ends or pauses; a stream of this process is read to its end, or dropped")
}

/// The run was cancelled. Of kind [`ErrorKind::Cancelled`].
pub fn cancelled(run: RunId) -> Error {
    Error::new(ErrorKind::Cancelled, format!("run `{run}` was cancelled"))
        .with_help("what it has committed stays in its session; begin another run")
}

/// Somebody else has taken the run since. Of kind [`StoreErrorKind::Fenced`].
pub fn fenced(run: RunId) -> Error {
    let message = format!("run `{run}` is driven by another process by now");
    Error::new(ErrorKind::Store(StoreErrorKind::Fenced), message)
        .with_help("nothing more is written for it here; follow it there")
}

/// Nobody waits under that id. Of kind [`ErrorKind::UnknownWait`].
pub fn unknown_wait(id: &str) -> Error {
    Error::new(ErrorKind::UnknownWait, format!("nobody waits under the id `{id}`"))
        .with_help("`runner.waiting()` lists who waits")
}

/// The wait has an answer. Of kind [`ErrorKind::Answered`].
pub fn answered(id: &str) -> Error {
    Error::new(ErrorKind::Answered, format!("`{id}` was answered before"))
        .with_help("the first answer counts")
}
