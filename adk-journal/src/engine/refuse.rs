//! The errors of all engines for requests that they refuse: one kind and one message, for every
//! store.

use crate::{Error, ErrorKind, RunId, StoreErrorKind};

/// Returns the error for a run that does not exist, of kind [`ErrorKind::UnknownRun`].
pub fn unknown_run(run: RunId) -> Error {
    Error::new(ErrorKind::UnknownRun, format!("run `{run}` does not exist")).with_help(
        "take the id from `Outcome::run_id` or from the `invocation_id` of an event; was its \
         session deleted?",
    )
}

/// Returns the error for a requested run id that belongs to another run, of kind
/// [`ErrorKind::RunExists`].
pub fn run_exists(run: RunId) -> Error {
    Error::new(ErrorKind::RunExists, format!("run `{run}` exists already"))
        .with_help("follow that run, or ask for another one with a new `RunId`")
}

/// Returns the error for a run that a process or a stream drives already, of kind
/// [`ErrorKind::RunBusy`].
pub fn run_busy(run: RunId) -> Error {
    Error::new(ErrorKind::RunBusy, format!("run `{run}` is driven already")).with_help(
        "wait until it ends or pauses; read a stream of this process to its end, or drop it",
    )
}

/// Returns the error for a run that was cancelled, of kind [`ErrorKind::Cancelled`].
pub fn cancelled(run: RunId) -> Error {
    Error::new(ErrorKind::Cancelled, format!("run `{run}` was cancelled"))
        .with_help("begin another run; the committed events stay in the session")
}

/// Returns the error for a run that another process has claimed since, of kind
/// [`StoreErrorKind::Fenced`].
pub fn fenced(run: RunId) -> Error {
    let message = format!("run `{run}` is driven by another process by now");
    Error::new(ErrorKind::Store(StoreErrorKind::Fenced), message)
        .with_help("follow the run there; this process writes nothing more for it")
}

/// Returns the error for an id without an open wait, of kind [`ErrorKind::UnknownWait`].
pub fn unknown_wait(id: &str) -> Error {
    Error::new(
        ErrorKind::UnknownWait,
        format!("no open wait has the id `{id}`"),
    )
    .with_help("list the open waits with `runner.waiting()`")
}

/// Returns the error for a wait that has an answer, of kind [`ErrorKind::Answered`].
pub fn answered(id: &str) -> Error {
    Error::new(ErrorKind::Answered, format!("`{id}` was answered before"))
        .with_help("the first answer counts")
}
