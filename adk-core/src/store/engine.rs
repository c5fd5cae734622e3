//! The [`Engine`] trait: durable storage for runs, split into roles.
//!
//! | role | trait | who has it |
//! |---|---|---|
//! | journal | [`Journal`] | every engine: it commits events, records steps and looks up answers |
//! | registry of runs | [`RunRegistry`] | engines whose runs can be listed and resumed |
//! | waits | [`WaitRegistry`] | engines whose runs can be answered from outside |
//! | keys of requests | [`RequestKeys`] | engines of servers whose clients repeat requests |
//! | driver of runs | [`RunDriver`] | engines that have whole runs driven in another process |
//! | remote branches | [`RemoteBranches`] | engines that run branches of a block in another process |
//! | timers | [`Timers`] | engines whose pauses and limits outlive the process |
//!
//! [`MemoryEngine`] has only the first role, [`MemoryJournal`], SQLite and Postgres have the first four.
//!
//! Each entry of a journal has a key. The key is the same when the run is executed again:
//!
//! | call | key | record |
//! |---|---|---|
//! | [`commit`](Journal::commit) | (run, path with rounds, nth) of a [`Slot`] | the event, with its place in the log |
//! | [`step`](Journal::step) | (run, path with rounds, kind, name, number): a [`StepKey`] | the result of the work |
//! | [`answer`](Journal::answer) | a [`StepKey`] | the value given from outside |
//!
//! Marks of finished agents have the agent's path as their key. They ride in [`Slot::done`], so they cost no commit of
//! their own; [`RunRegistry::finished`] brings the last ones.
//!
//! A run is resumed by executing it again, from the state it began with. [`RunRegistry::claim`] returns the recorded
//! journal. The runtime answers from it what it can, and asks the engine only for what is new. An engine that re-executes
//! runs by itself (a distributed one) returns no journal ([`ClaimedRun::starting_over`]) and answers every call again.
//!
//! **One process drives a run.** Each claim of a run has a number, [`ClaimId`], that every write carries. A store refuses
//! the writes of a claim that is not the current one ([`refuse::fenced`]). A dropped [`Claim`] releases only itself, never
//! a later claim.
//!
//! **An engine may be above a store** and decide itself which process executes a run. It keeps the results of steps and
//! the turns of sessions, and the store the events, the registry and the waits. To the store such a run is driven by nobody
//! and everybody: its writes carry the claim [`ClaimId::driven_above`], and no process can claim it. The session of its slots
//! is no session of the store: the store delivers an event there also when it was stored by an earlier attempt.
//!
//! Nothing that is passed to an engine borrows from the run, so an engine may send it to another thread.

mod answerer;
mod call;
mod claim;
mod clock;
mod elsewhere;
mod filter;
mod journal;
mod keys;
mod memory;
mod parts;
pub(crate) mod record;
pub mod refuse;
mod registry;
mod remote;
mod rows;
mod slot;
mod update;
mod within;

pub use answerer::Answerer;
pub(crate) use call::{CallInputs, CallLabel};
pub use call::{CallKind, StepKey};
pub use claim::{Claim, ClaimCheck, ClaimId};
pub use elsewhere::{DrivenRun, RunReport, RunTask, error_from_value, error_to_value};
pub use filter::{RunFilter, RunState};
pub use journal::MemoryJournal;
pub use keys::{KeyBinding, RequestKey, RequestKeys};
pub use memory::MemoryEngine;
pub use record::is_failure;
pub use registry::{ClaimedRun, Done, DueWaits, RunInfo, RunRecord, RunStatus, Wait, Waiting};
pub use remote::{BranchEnd, BranchReport, BranchTask};
pub use rows::{Pairs, RunRows, from_text, to_text};
pub use slot::{Body, Draft, Slot, Stored};
pub use update::Update;

pub(crate) use clock::now_micros;
pub(crate) use parts::{BlockPart, BlockScope};
pub(crate) use slot::Delivery;
pub(crate) use update::Change;
pub(crate) use within::Within;

use crate::models::model::Usage;
use crate::store::session::Location;
use crate::{BoxFuture, Error, ErrorKind, Result, RunId};
use serde_json::Value;
use std::any::Any;
use std::time::Duration;

/// A result that is ready, or a future of it. An engine in memory never waits, so it never allocates.
#[allow(missing_debug_implementations)]
pub enum Reply<'a, T> {
    /// The result.
    Ready(T),
    /// The future of the result.
    Later(BoxFuture<'a, T>),
}

/// Stores the events, results of steps and answers of runs. Every engine implements it.
///
/// The runtime calls it in the middle of a run. An engine in memory answers at once; a store answers when its
/// transaction is durable.
pub trait Journal: Send + Sync + 'static {
    /// Stores the event of a slot once, and gives it an id, a time and a place in the log. If the slot is filled already,
    /// the stored event is the answer and nothing is written.
    ///
    /// One transaction writes the event, the state that it changes, [`Draft::temp`], [`Slot::done`], and for the first
    /// event of a run its record, [`Slot::begins`]. That record enters the run in the registry, or replaces the record of a
    /// run that was [queued](RunRegistry::enqueue) with this claim. For a [`Body::Call`] the engine first awaits the call, unless the slot
    /// is filled already: the event is the record of the call.
    ///
    /// For a [`Body::Update`] the event is made inside the transaction, from the stored value of the key. No other write of
    /// that key, by any session or process, may come in between. When [`Update::apply`] fails, nothing is stored and its
    /// error is the answer.
    ///
    /// The engine reports a stored event with [`Slot::append`] or [`Slot::deliver`], in the order of the log, even when
    /// the caller has been cancelled in the meantime: a committed event is always delivered.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`] when [`Slot::claim`] is not the current claim; errors of the call. An
    /// error is not recorded.
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>>;

    /// Answers from the record, or does the work and records its result. The first record wins, with one exception: the
    /// record of a failed call ([`is_failure`]) is no answer. The work is done again, and its result replaces that record.
    ///
    /// # Errors
    /// Errors of the work, which are not recorded; [`refuse::fenced`].
    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>>;

    /// The value given from outside. `None` opens the wait and parks the run, which is executed again after the answer. An
    /// engine that suspends runs by itself keeps the future pending instead.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>>;
}

/// How long the records of a [`Journal`] last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retention {
    /// Nothing is recorded. No result is turned into JSON, no run is registered, and no agent is marked as finished.
    None,
    /// Records end with the process.
    Process,
    /// Records outlive the process. A runner without a store for artifacts then refuses to save any.
    Durable,
}

/// Makes a run survive, or not: each event, each side effect and each wait goes through it.
///
/// It is a [`Journal`], and says which other roles it has. All methods are required, so that an engine cannot lack a role
/// by oversight.
pub trait Engine: Journal + Any {
    /// How long records last.
    fn retention(&self) -> Retention;

    /// Where the engine commits events: to sessions of this location, and of no other.
    fn location(&self) -> Location;

    /// The registry of runs. Without one, runs are neither listed nor resumed.
    fn registry(&self) -> Option<&dyn RunRegistry>;

    /// The open waits. Without them, [`Runner::answer`](crate::Runner::answer) is an error.
    fn waits(&self) -> Option<&dyn WaitRegistry>;

    /// The keys of requests. Without them, no repeated request is recognized.
    fn keys(&self) -> Option<&dyn RequestKeys>;

    /// Who drives runs elsewhere. Without it, each run is driven by the process that asks for it.
    fn driver(&self) -> Option<&dyn RunDriver>;

    /// The way to other processes. Without one, every branch runs in the process of its block.
    fn remote(&self) -> Option<&dyn RemoteBranches>;

    /// Pauses and limits that outlive the process. Without them, the clock of the process counts.
    fn timers(&self) -> Option<&dyn Timers>;
}

/// Lists runs, and decides which process drives each of them. An engine implements it to make runs resumable.
pub trait RunRegistry: Send + Sync {
    /// Stores a run that waits for the turn of its session: as [`RunStatus::Queued`], with a record that
    /// [says so](RunRecord::is_queued), and with this claim. The run begins with the commit that brings [`Slot::begins`]. The
    /// store replaces the record then.
    ///
    /// The [`Claim`] is made together with the stored claim, as by [`claim`](Self::claim). A run that an engine above drives
    /// may be stored again, which changes nothing.
    ///
    /// # Errors
    /// [`refuse::run_exists`] when the store has a run of that id; when the store fails or has no such session.
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>>;

    /// Claims a run for this process, and returns what is stored of it. Runs `check` on the record first: a refused run
    /// stays as it was, and one that waits still waits.
    ///
    /// Of a run that has failed, it removes the waits whose answer is a failure ([`is_failure`]), since they have expired: a
    /// retry asks again.
    ///
    /// The [`Claim`] is made together with the stored claim, so that it is released even when the caller is gone before it
    /// reads this answer.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`]; the error of `check`; [`refuse::cancelled`]; [`ErrorKind::RunBusy`] when another claim is
    /// held.
    ///
    /// A run whose record [is queued](RunRecord::is_queued) stays queued until its first commit, and has no events.
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>>;

    /// Stores the agents that have finished since the last commit of a run that now waits or has failed: the marks that
    /// would ride in [`Slot::done`] of the next commit. Called before [`close`](Self::close). If it is lost, the agents are
    /// executed again, without repeating a recorded call.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>>;

    /// Stores that a run has ended or waits, and what it has used, and ends its claim. If it is lost, the run is executed
    /// again, without repeating a recorded call; so it may be written late. Of a run that was [cancelled](Self::cancel)
    /// while this claim was the current one, it stores what it has used, and is refused.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    ///
    /// Of a run that an engine above drives, the status is stored, which may be [`RunStatus::Running`] again, and the claim
    /// goes on until the run has ended.
    fn close(&self, claim: ClaimId, status: RunStatus, usage: Usage) -> BoxFuture<'_, Result<()>>;

    /// Cancels a run of an app that runs or waits, and removes its open waits. Its claim is no longer the current one, so that
    /// whatever its process still writes is refused. Returns the status of the run, which has not changed if it had ended
    /// before.
    ///
    /// # Errors
    /// [`refuse::unknown_run`], also for a run of another app; when the store fails.
    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>>;

    /// Releases a claim without an end of its run: its stream was dropped, or its store failed. Does nothing for a claim
    /// that is not the current one. Called from `Drop`, so it must not block.
    fn release(&self, claim: ClaimId);

    /// The runs of an app that a filter selects, in the order of their ids: those are in the order in which runs began.
    ///
    /// # Errors
    /// When the store fails.
    fn runs<'a>(&'a self, app: &'a str, filter: &'a RunFilter) -> BoxFuture<'a, Result<Vec<RunInfo>>>;

    /// The same of all [tenants](RunRecord::tenant_of) of an app. Those that are [ready](RunFilter::ready) are asked for again and
    /// again.
    ///
    /// # Errors
    /// When the store fails.
    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>>;

    /// What is stored of a run that an engine above drives, with its events from a place of the log on; `None` before its
    /// first event, and where no engine can be above.
    ///
    /// # Errors
    /// When the store fails; [`refuse::run_busy`] for a run that a process has claimed.
    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>>;
}

/// Keeps the values that paused runs wait for. An engine implements it to make runs answerable.
pub trait WaitRegistry: Send + Sync {
    /// The open waits of the runs that a filter selects, in the order in which they began.
    ///
    /// # Errors
    /// When the store fails.
    fn waiting<'a>(&'a self, app: &'a str, filter: &'a RunFilter) -> BoxFuture<'a, Result<Vec<Waiting>>>;

    /// An open wait of an app by its id.
    ///
    /// # Errors
    /// [`refuse::unknown_wait`], also for a wait of another app; [`refuse::answered`] when it has an answer.
    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>>;

    /// The time that deadlines are made of and compared with, in microseconds since 1970. A store that several machines share
    /// gives that of its server, since the clocks of the machines may differ. The default is the clock of this process.
    ///
    /// # Errors
    /// When the store fails.
    fn now(&self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(std::future::ready(Ok(now_micros())))
    }

    /// At most `most` open waits of an app whose deadline is not after `now`, in microseconds since 1970, and the next
    /// deadline. Not those of runs that an engine above drives: it keeps their deadlines.
    ///
    /// # Errors
    /// When the store fails.
    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>>;

    /// The same for the waits of all [tenants](RunRecord::tenant_of) of an app.
    ///
    /// # Errors
    /// When the store fails.
    fn due_of_tenants<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>>;

    /// Removes open waits that no agent awaits any more: an answer is refused from now on. A wait with an answer stays, and
    /// its run is no longer ready because of that answer.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>>;

    /// Answers an open wait of an app. The first answer wins.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownWait`], also for a wait of another app; [`ErrorKind::Answered`] when there is an answer. Nothing
    /// has changed then.
    fn resolve<'a>(&'a self, app: &'a str, wait: &'a str, answer: Value) -> BoxFuture<'a, Result<()>>;
}

/// Has runs driven by other processes. A runner with such an engine hands its runs over and follows them in the store: its
/// stream gives what is committed, without pieces of answers, and does not slow the run.
pub trait RunDriver: Send + Sync {
    /// Hands a run over, once: also when the way there breaks, and when it was handed over before. The future gives how the
    /// run has ended; `None` when it waits for values from outside, or when only the store knows.
    ///
    /// # Errors
    /// When it cannot be handed over. What is stored of it goes on all the same.
    fn begin(&self, task: RunTask) -> BoxFuture<'static, Result<Option<RunReport>>>;

    /// The same for a run that was handed over before.
    ///
    /// # Errors
    /// When the driver cannot be asked.
    fn follow(&self, run: RunInfo) -> BoxFuture<'static, Result<Option<RunReport>>>;
}

/// Makes the pauses and limits of a run. An engine that executes runs by itself implements it, so that a run that is executed
/// again finds them as they were.
pub trait Timers: Send + Sync {
    /// Ready when so much time has passed since it was first asked for under this key.
    fn sleep(&self, key: StepKey, time: Duration, kind: TimerKind) -> BoxFuture<'static, ()>;
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimerKind {
    /// The run goes on when it is over.
    Pause,
    /// What runs meanwhile ends when it is over.
    Limit,
}

/// Runs branches of a parallel block and elements of an `each` in another process. A distributed engine implements it.
pub trait RemoteBranches: Send + Sync {
    /// Offers a branch; `None` declines it, and the branch runs here. The other process runs it with
    /// [`Runner::branch`](crate::Runner::branch), and may be any process that knows the workflow.
    ///
    /// When `cancelled` resolves, the result is no longer needed. The branch ends soon, and its report still has the events
    /// that it committed until then. A branch that waits for a value from outside has not ended: the future stays pending.
    /// No branch is offered while a resumed run replays its record.
    ///
    /// # Errors
    /// When the branch could not be run. The failure of the branch itself is in [`BranchReport::end`].
    fn offer(
        &self,
        task: BranchTask,
        cancelled: BoxFuture<'static, ()>,
    ) -> Option<BoxFuture<'static, Result<BranchReport>>>;
}

impl dyn Engine {
    /// True if a commit is nothing but an append to the session in memory.
    pub(crate) fn is_memory(&self) -> bool {
        (self as &dyn Any).is::<MemoryEngine>()
    }

    /// True if anything is recorded.
    pub(crate) fn records(&self) -> bool {
        self.retention() > Retention::None
    }

    /// The registry of runs, for an action that is an error without one.
    pub(crate) fn registry_for(&self, action: impl FnOnce() -> String) -> Result<&dyn RunRegistry> {
        self.registry().ok_or_else(|| role_missing(&action()))
    }

    /// The waits, for an action that is an error without them.
    pub(crate) fn waits_for(&self, action: impl FnOnce() -> String) -> Result<&dyn WaitRegistry> {
        self.waits().ok_or_else(|| role_missing(&action()))
    }

    /// The runs that a filter selects; none without a registry.
    pub(crate) async fn runs(&self, app: &str, filter: &RunFilter) -> Result<Vec<RunInfo>> {
        match self.registry() {
            Some(registry) => registry.runs(app, filter).await,
            None => Ok(Vec::new()),
        }
    }

    /// The open waits of the runs that a filter selects; none without a registry of waits.
    pub(crate) async fn waiting(&self, app: &str, filter: &RunFilter) -> Result<Vec<Waiting>> {
        match self.waits() {
            Some(waits) => waits.waiting(app, filter).await,
            None => Ok(Vec::new()),
        }
    }
}

fn role_missing(action: &str) -> Error {
    Error::new(ErrorKind::Config, format!("cannot {action}: the engine of this runner keeps no runs"))
        .with_help(
            "give the runner a store that does, such as `Runner::builder().store(InMemoryStore::new())`",
        )
}
