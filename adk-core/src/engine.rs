//! The [`Engine`] trait: durable storage for runs (event commits, recorded calls, external answers) and their registry.
//!
//! An [`Engine`] makes runs survive. A run asks it for four things, and each has a key that is the same when the run is
//! executed once more:
//!
//! | what | key | record |
//! |---|---|---|
//! | [`commit`](Engine::commit) | (run, path with rounds, nth) of a [`Slot`] | the event, with its place in the log |
//! | [`step`](Engine::step) | (run, path with rounds, name, index): a [`StepKey`] | what the work gave |
//! | [`answer`](Engine::answer) | a [`StepKey`] | the value given from outside |
//! | marks of finished agents | the path | they ride in [`Slot::done`], so they cost no commit of their own; the last come with [`finished`](Engine::finished) |
//!
//! A run is resumed by executing it once more, from the state it began with. An engine that keeps a journal hands
//! it over in [`claim`](Engine::claim), and the runtime answers everything from it that is in there; the engine is asked
//! only for what is new. An engine that re-executes by itself (a distributed one) gives none
//! ([`ClaimedRun::starting_over`]), is asked for everything again, and answers from its own.
//!
//! **One process drives a run.** Each claim of a run has a number, [`ClaimId`], that every write carries. A store refuses
//! the writes of a claim that is not the current one ([`refuse::fenced`]), and a [`Claim`] that is dropped gives back
//! itself and no later one.
//!
//! Nothing that is handed to an engine borrows from the run, so that an engine may post it to the thread or the handler
//! that does the work.

mod claim;
mod clock;
mod filter;
mod fork;
mod journal;
mod memory;
pub(crate) mod record;
pub mod refuse;
mod registry;
mod rows;
mod slot;
mod update;
mod within;

pub use claim::{Claim, ClaimCheck, ClaimId};
pub use filter::{RunFilter, RunState};
pub use fork::{BranchEnd, Fork, Joined};
pub use journal::MemoryJournal;
pub use memory::MemoryEngine;
pub use record::is_failure;
pub use registry::{ClaimedRun, Done, DueWaits, RunInfo, RunRecord, RunStatus, Wait, Waiting};
pub use rows::{Pairs, RunRows, from_text, to_text};
pub use slot::{Body, Draft, Slot, Stored};
pub use update::Update;

pub(crate) use clock::now_micros;
pub(crate) use slot::Delivery;
pub(crate) use update::Change;
pub(crate) use within::Within;

use crate::{BoxFuture, Error, ErrorKind, Name, Path, Result, RunId};
use serde_json::Value;
use std::fmt;
use std::future::ready;

/// An answer that is there, or one that comes later. An engine in memory never waits, so it never allocates.
#[allow(missing_debug_implementations)]
pub enum Reply<'a, T> {
    /// It is there.
    Ready(T),
    /// It comes later.
    Later(BoxFuture<'a, T>),
}

/// Where in a run a call is made; `writing/refinement#2/critic:model@0` as text, which is what it is stored by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepKey {
    /// The run.
    pub run_id: RunId,
    /// The path of the agent that calls.
    pub path: Path,
    /// What is called.
    pub name: Name,
    /// How many calls this agent has made before in this turn.
    pub index: u32,
}

impl StepKey {
    /// The key with its run, unique over all runs: `e-0190.../writing/critic:model@0`. The id of a wait, and what makes
    /// a side effect idempotent.
    pub fn id(&self) -> String {
        format!("{}/{self}", self.run_id)
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}@{}", self.path, self.name, self.index)
    }
}

/// Makes a run survive, or not: each event, each side effect and each wait goes through it.
///
/// The first four methods are what a run needs; the rest is the registry of runs, which a store keeps. Without it runs
/// can be neither resumed nor answered, and the defaults say so.
pub trait Engine: Send + Sync + 'static {
    /// Stores the event of a slot once, and gives it id, time and place; the event of an earlier attempt wins.
    ///
    /// In one transaction: the event, the state that it changes, [`Draft::temp`], [`Slot::done`], and for the first
    /// event of a run its record, [`Slot::begins`]. For a [`Body::Call`] the work is done first, unless the slot is
    /// stored already: then the event is the record of the call.
    ///
    /// For a [`Body::Update`] the event is made in the transaction, from the value that the store holds. No other write of
    /// that key, of any session and any process, may come in between. When the slot is stored already, nothing is made.
    /// When [`Update::apply`] fails, nothing is stored, and its error is the answer.
    ///
    /// The slot is told of what is stored with [`Slot::append`] or [`Slot::deliver`], in the order of the log, also
    /// when the caller has been cancelled in the meantime: what is committed is delivered.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`] when [`Slot::claim`] is not the current one; those of the call. An
    /// error is not recorded.
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>>;

    /// Answers from the record, or does the work and records the result. The first record wins, except that a record of
    /// a failed call ([`is_failure`]) is no answer: the work is done again, and what it gives takes its place.
    ///
    /// # Errors
    /// Those of the work, which are not recorded; [`refuse::fenced`].
    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>>;

    /// The value given from outside. `None`: the wait is now [open](Engine::waiting), the runtime parks, and the run
    /// comes back by re-execution. An engine that suspends runs by itself keeps the future pending instead.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>>;

    /// Whether branches may run elsewhere: only then is it put together what [`fork`](Self::fork) is given.
    fn forks(&self) -> bool {
        false
    }

    /// Takes a branch of a parallel block, or an element of an `each`, elsewhere; `None` runs it here. There it is run by
    /// [`Runner::branch`](crate::Runner::branch), which may be in any process that knows the workflow.
    ///
    /// When `cancelled` comes, nobody needs the branch any more. It is to end soon, and what it has committed until then
    /// comes back all the same; how it ended does not matter. A branch that waits for a value from outside is one that
    /// has not ended: the engine keeps the future pending. While the record of a run is given back, branches run here.
    ///
    /// # Errors
    /// When the branch could not be run. That it failed is told by [`Joined::end`].
    fn fork(&self, fork: Fork, cancelled: BoxFuture<'static, ()>) -> Option<BoxFuture<'_, Result<Joined>>> {
        let _ = (fork, cancelled);
        None
    }

    /// Whether records are kept. Where they are not, no result is turned into JSON, no run is entered in a registry, and
    /// no agent is marked as finished.
    fn records(&self) -> bool {
        true
    }

    /// Whether records outlive the process. Then a runner that was given no store for artifacts refuses to save any. The
    /// default is `true`: an engine in memory that forgets to say so costs an error and loses nothing.
    fn is_durable(&self) -> bool {
        true
    }

    /// Claims a run for this process, and gives what is stored of it. Runs `check` on its record first: a run that is
    /// refused is left as it was, and one that waits still waits.
    ///
    /// The [`Claim`] is made together with the stored claim, so that it is given back also when the caller is gone
    /// before it reads this answer.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`]; that of `check`; [`ErrorKind::RunBusy`] when another claim of it is held.
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        let _ = check;
        Box::pin(ready(Err(no_registry(&format!("take up run `{run}`")))))
    }

    /// Agents that have finished since the last commit of a run, which waits now or has failed: what would ride in
    /// [`Slot::done`] of the next. Called before [`close`](Self::close); losing this costs a re-execution and no call.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        let _ = (claim, done);
        Box::pin(ready(Ok(())))
    }

    /// A run has ended, or waits; its claim is given back. Losing this costs a re-execution and no call, so it may be
    /// written late.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn close(&self, claim: ClaimId, status: RunStatus) -> BoxFuture<'_, Result<()>> {
        let _ = (claim, status);
        Box::pin(ready(Ok(())))
    }

    /// Gives a claim back without an end of its run: its stream was dropped, or its store failed. Does nothing for a
    /// claim that is not the current one. Called from `Drop`, so it must not block.
    fn release(&self, claim: ClaimId) {
        let _ = claim;
    }

    /// The runs of an app that a filter selects, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    fn runs<'a>(&'a self, app: &'a str, filter: &'a RunFilter) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let _ = (app, filter);
        Box::pin(ready(Ok(Vec::new())))
    }

    /// The runs of an app that have not ended, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    fn unfinished<'a>(&'a self, app: &'a str) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async move { self.runs(app, &RunFilter::unfinished()).await })
    }

    /// The open waits of the runs that a filter selects, in the order in which they began.
    ///
    /// # Errors
    /// When the store fails.
    fn waiting<'a>(&'a self, app: &'a str, filter: &'a RunFilter) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let _ = (app, filter);
        Box::pin(ready(Ok(Vec::new())))
    }

    /// An open wait of an app by its id.
    ///
    /// # Errors
    /// [`refuse::unknown_wait`], also for a wait of another app; [`refuse::answered`] when it has an answer.
    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        let _ = app;
        Box::pin(ready(Err(no_registry(&format!("answer `{wait}`")))))
    }

    /// At most `most` open waits of an app whose deadline is not after `now`, in microseconds since 1970, and the next
    /// deadline.
    ///
    /// # Errors
    /// When the store fails.
    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        let _ = (app, now, most);
        Box::pin(ready(Ok(DueWaits::default())))
    }

    /// Removes waits of branches that were cancelled. Those with an answer stay.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        let _ = (claim, waits);
        Box::pin(ready(Ok(())))
    }

    /// Answers an open wait of an app. The first answer wins.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownWait`], also for a wait of another app; [`ErrorKind::Answered`] when there is an answer. Nothing
    /// has changed then.
    fn resolve<'a>(&'a self, app: &'a str, wait: &'a str, answer: Value) -> BoxFuture<'a, Result<()>> {
        let _ = (app, answer);
        Box::pin(ready(Err(no_registry(&format!("answer `{wait}`")))))
    }
}

fn no_registry(what: &str) -> Error {
    Error::new(ErrorKind::Config, format!("cannot {what}: the engine of this runner keeps no runs"))
        .with_help("give the runner one that does, such as `Runner::builder().engine(MemoryJournal::new())`")
}
