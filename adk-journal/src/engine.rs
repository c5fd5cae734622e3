//! The [`Engine`] trait: durable storage for runs, split into roles.
//!
//! | role | trait | engines with this role |
//! |---|---|---|
//! | journal | [`Journal`] | every engine: it commits events, records steps and looks up answers |
//! | registry of runs | [`RunRegistry`] | engines whose runs can be listed and resumed |
//! | waits | [`WaitRegistry`] | engines whose runs can be answered from outside |
//! | request keys | [`RequestKeys`] | engines of servers whose clients repeat requests |
//! | driver of runs | [`RunDriver`] | engines that let another process drive whole runs |
//! | remote branches | [`RemoteBranches`] | engines that execute branches in another process |
//! | timers | [`Timers`] | engines whose pauses and limits outlive the process |
//!
//! [`MemoryEngine`] has only the first role; [`MemoryJournal`], SQLite and Postgres have the first
//! four.
//!
//! Each entry of a journal has a key. The key is the same when the run is executed again:
//!
//! | call | key | record |
//! |---|---|---|
//! | [`commit`] | (run, path with rounds, nth) of a [`Slot`] | the event and its place in the log |
//! | [`step`] | (run, path with rounds, kind, name, number): a [`StepKey`] | the work's result |
//! | [`answer`] | a [`StepKey`] | the value given from outside |
//!
//! [`commit`]: Journal::commit
//! [`step`]: Journal::step
//! [`answer`]: Journal::answer
//!
//! The mark of a finished agent has the agent's path as its key. Marks are stored with the next
//! commit, in [`Slot::done`], so they need no commit of their own; [`RunRegistry::finished`] stores
//! the marks after the last commit.
//!
//! A run is resumed by executing it again, from the state with which it began.
//! [`RunRegistry::claim`] returns the recorded journal. The runtime replays the journal, and calls
//! the engine only for new entries. A distributed engine that re-executes runs by itself returns no
//! journal ([`ClaimedRun::starting_over`]) and answers every call again.
//!
//! **One process drives a run.** Each claim of a run has a number, [`ClaimId`], that every write
//! carries. A store refuses the writes of a claim that is not the current one ([`refuse::fenced`]).
//! A dropped [`Claim`] releases only itself, never a later claim.
//!
//! **An engine may be above a store** and decide itself which process executes a run. Such an
//! engine keeps the results of steps and the turns of sessions; the store keeps the events, the
//! registry and the waits. In the store no single process drives the run: its writes carry the
//! claim [`ClaimId::driven_above`], and no process can claim it. The session of its slots is not a
//! session of the store: the store delivers an event to it even if an earlier attempt stored the
//! event.
//!
//! Arguments of an engine do not borrow from the run, so an engine may send them to another thread.

mod answerer;
pub(crate) mod call;
mod claim;
pub(crate) mod clock;
mod driven;
mod filter;
mod journal;
mod keys;
mod memory;
pub(crate) mod nested;
pub(crate) mod parts;
pub(crate) mod record;
pub mod refuse;
mod registry;
mod remote;
mod rows;
mod run_error;
mod runs;
pub(crate) mod slot;
mod stored_run;
mod table;
pub(crate) mod update;

pub use answerer::Answerer;
pub use call::{CallInputs, CallKind, Digest, StepKey};
pub use claim::{Claim, ClaimCheck, ClaimId};
pub use driven::{DrivenRun, RunReport, RunTask, error_from_value, error_to_value};
pub use filter::{RunFilter, RunState};
pub use journal::MemoryJournal;
pub use keys::{KeyBinding, RequestKey, RequestKeys};
pub use memory::MemoryEngine;
pub use record::is_failure;
pub use registry::{ClaimedRun, Done, DueWaits, RunInfo, RunRecord, RunStatus, Wait, Waiting};
pub use remote::{BranchEnd, BranchReport, BranchTask};
pub use rows::{Pairs, RunRows, from_text, to_text};
pub use run_error::RunError;
pub use runs::Runs;
pub use slot::{Body, Draft, Slot, Stored};
pub use stored_run::StoredRun;
pub use table::RunTable;
pub use update::Update;

use clock::now_micros;

use crate::model::UsageByAgent;
use crate::session::Location;
use crate::{BoxFuture, Error, ErrorKind, Result, RunId};
use serde_json::Value;
use std::any::Any;
use std::time::Duration;

/// A result that is ready, or a future of it. An engine in memory never waits, so it never
/// allocates.
#[allow(missing_debug_implementations)]
pub enum Reply<'a, T> {
    /// The result.
    Ready(T),
    /// The future of the result.
    Later(BoxFuture<'a, T>),
}

/// Stores the events, results of steps and answers of runs. Every engine implements it.
///
/// The runtime calls it in the middle of a run. An engine in memory answers at once; a store
/// answers when its transaction is durable.
pub trait Journal: Send + Sync + 'static {
    /// Stores the event of a slot once, and assigns its id, time and place in the log. If the slot
    /// is filled already, this returns the stored event and writes nothing.
    ///
    /// One transaction writes the event, the state that it changes, [`Draft::temp`],
    /// [`Slot::done`], and for the first event of a run its record, [`Slot::begins`]. That record
    /// enters the run in the registry, or replaces the record of a run that was
    /// [queued](RunRegistry::enqueue) with this claim. For a [`Body::Call`] the engine first awaits
    /// the call, unless the slot is filled already: the event is the record of the call.
    ///
    /// For a [`Body::Update`] the event is made inside the transaction, from the stored value of
    /// the key. No other write of that key, by any session or process, may come in between. If
    /// [`Update::apply`] fails, nothing is stored and its error is returned.
    ///
    /// The engine reports a stored event with [`Slot::append`] or [`Slot::deliver`], in the order
    /// of the log, even if the caller has been cancelled in the meantime: a committed event is
    /// always delivered.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`] when [`Slot::claim`] is not the current claim;
    /// errors of the call. An error is not recorded.
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>>;

    /// Returns the record, or does the work and records its result. The first record wins, with one
    /// exception: the record of a failed call ([`is_failure`]) does not count. The work is done
    /// again, and its result replaces that record.
    ///
    /// # Errors
    /// Errors of the work, which are not recorded; [`refuse::fenced`].
    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>>;

    /// Makes the call of [`step`](Self::step) with the inputs of the call, for an engine that
    /// compares them with a record. The default ignores them. An engine that wraps another passes
    /// them on.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn step_with_inputs<'a>(
        &'a self,
        claim: ClaimId,
        key: StepKey,
        inputs: &'a CallInputs,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'a, Result<Value>> {
        let _ = inputs;
        self.step(claim, key, work)
    }

    /// Returns whether the runtime gives [`CallInputs::value`] to
    /// [`step_with_inputs`](Self::step_with_inputs). Default `false`: only the digest is made.
    fn reads_inputs(&self) -> bool {
        false
    }

    /// Returns the value given from outside. `None` opens the wait and parks the run, which is
    /// executed again after the answer. An engine that suspends runs by itself keeps the future
    /// pending instead.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>>;
}

/// How long the records of a [`Journal`] last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retention {
    /// Nothing is recorded. No result is turned into JSON, no run is registered, and no agent is
    /// marked as finished.
    None,
    /// Records end with the process.
    Process,
    /// Records outlive the process. A runner without an artifact store then refuses to save
    /// artifacts.
    Durable,
}

/// Decides whether runs survive their process: each event, each side effect and each wait passes
/// through the engine.
///
/// An engine is a [`Journal`], and lists its other roles.
pub trait Engine: Journal + Any {
    /// Returns how long records last.
    fn retention(&self) -> Retention;

    /// Returns the location of the sessions whose events the engine commits.
    fn location(&self) -> Location;

    /// Returns the other roles of the engine.
    fn roles(&self) -> Roles<'_>;

    /// Returns [`Roles::registry`].
    fn registry(&self) -> Option<&dyn RunRegistry> {
        self.roles().registry
    }

    /// Returns [`Roles::waits`].
    fn waits(&self) -> Option<&dyn WaitRegistry> {
        self.roles().waits
    }

    /// Returns [`Roles::keys`].
    fn keys(&self) -> Option<&dyn RequestKeys> {
        self.roles().keys
    }

    /// Returns [`Roles::driver`].
    fn driver(&self) -> Option<&dyn RunDriver> {
        self.roles().driver
    }

    /// Returns [`Roles::remote`].
    fn remote(&self) -> Option<&dyn RemoteBranches> {
        self.roles().remote
    }

    /// Returns [`Roles::timers`].
    fn timers(&self) -> Option<&dyn Timers> {
        self.roles().timers
    }
}

/// The roles of an [`Engine`] besides its [`Journal`]. An engine names all of them, so that it
/// cannot lack a role by oversight.
#[allow(missing_debug_implementations)]
#[derive(Clone, Copy)]
pub struct Roles<'a> {
    /// The registry of runs. Without one, runs are neither listed nor resumed.
    pub registry: Option<&'a dyn RunRegistry>,
    /// The registry of waits. Without one, `Runner::answer` is an error.
    pub waits: Option<&'a dyn WaitRegistry>,
    /// The keys of requests. Without them, repeated requests are not recognized.
    pub keys: Option<&'a dyn RequestKeys>,
    /// The driver that lets other processes drive runs. Without one, the process that requests a
    /// run drives it.
    pub driver: Option<&'a dyn RunDriver>,
    /// The way to execute branches in other processes. Without one, every branch runs in the
    /// process of its block.
    pub remote: Option<&'a dyn RemoteBranches>,
    /// The timers for pauses and limits that outlive the process. Without them, the clock of the
    /// process counts.
    pub timers: Option<&'a dyn Timers>,
}

/// Lists runs, and decides which process drives each of them. An engine implements it to make runs
/// resumable.
pub trait RunRegistry: Send + Sync {
    /// Stores a run that waits for the turn of its session, with the status [`RunStatus::Queued`],
    /// a record that [is queued](RunRecord::is_queued), and this claim. The run begins with the
    /// commit that brings [`Slot::begins`]; the store replaces the record then.
    ///
    /// The engine creates the returned [`Claim`] in the same step in which it stores the claim, as
    /// [`claim`](Self::claim) does. For a run that an [engine above](ClaimId::driven_above) drives,
    /// a second call changes nothing.
    ///
    /// # Errors
    /// [`refuse::run_exists`] when the store has a run of that id; when the store fails or has no
    /// such session.
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>>;

    /// Claims a run for this process, and returns its stored journal. Runs `check` on the record
    /// first: a refused run keeps its status, and a waiting run still waits.
    ///
    /// For a failed run, the claim removes the waits whose answer is a failure ([`is_failure`]),
    /// because they have expired: a retry asks again.
    ///
    /// The engine creates the returned [`Claim`] in the same step in which it stores the claim. The
    /// claim is then released even if the caller is dropped before it reads this answer.
    ///
    /// A run whose record [is queued](RunRecord::is_queued) stays queued until its first commit,
    /// and has no events.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`]; the error of `check`; [`refuse::cancelled`];
    /// [`ErrorKind::RunBusy`] when another claim is held.
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>>;

    /// Stores the agents that have finished since the last commit of a run that now waits or has
    /// failed: the marks that [`Slot::done`] of the next commit would carry. Called before
    /// [`close`](Self::close). If the call is lost, the agents are executed again, without
    /// repeating a recorded call.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>>;

    /// Stores the status and the usage of a run that has ended or waits, and ends its claim. If the
    /// call is lost, the run is executed again, without repeating a recorded call; so the write may
    /// be late.
    ///
    /// For a run that was [cancelled](Self::cancel) while this claim was the current one, the call
    /// stores only the usage, and is refused. For a run that an engine above drives, the call
    /// stores the status, which may be [`RunStatus::Running`] again, and the claim lasts until the
    /// run has ended.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>>;

    /// Cancels a run of an app that runs or waits, and removes its open waits. Its claim is no
    /// longer the current one, so that further writes of its process are refused. Returns the
    /// status of the run, which is unchanged if the run had ended before.
    ///
    /// # Errors
    /// [`refuse::unknown_run`], also for a run of another app; when the store fails.
    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>>;

    /// Deletes those of these runs of an app that have ended before a time, in microseconds
    /// since 1970, with their journals and waits. Returns their number. A run that has not ended
    /// stays, and so do the events of all runs, which belong to their sessions. A deleted run is
    /// unknown from then on: a failed run cannot be resumed. The call also removes some request
    /// keys whose lifetime is over.
    ///
    /// Engines that keep their runs in another engine may leave the deletion to that engine: the
    /// default refuses it.
    ///
    /// # Errors
    /// When the store fails.
    fn delete_ended<'a>(
        &'a self,
        app: &'a str,
        runs: &'a [RunId],
        before: u64,
    ) -> BoxFuture<'a, Result<u64>> {
        let _ = (app, runs, before);
        Box::pin(std::future::ready(Err(role_missing("delete runs"))))
    }

    /// Releases a claim of a run that has not ended, because its stream was dropped or its store
    /// failed. Does nothing for a claim that is not the current one. Called from `Drop`, so it must
    /// not block.
    fn release(&self, claim: ClaimId);

    /// Returns the runs of an app that a filter selects, in the order of their ids, which is the
    /// order in which the runs began, or [by change](RunFilter::by_change). The store reads no
    /// other runs: the whole filter is in its query.
    ///
    /// # Errors
    /// When the store fails.
    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>>;

    /// Returns the number of runs that a filter selects. The default lists them; a store that can
    /// counts them in its query.
    ///
    /// # Errors
    /// When the store fails.
    fn count_runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<usize>> {
        let runs = self.runs(app, filter);
        Box::pin(async move { Ok(runs.await?.len()) })
    }

    /// Returns the runs of all [tenants](RunRecord::tenant_of) of an app that a filter selects.
    /// Runners poll this method for [ready](RunFilter::ready) runs.
    ///
    /// # Errors
    /// When the store fails.
    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>>;

    /// Returns the stored data of a run that another engine drives on top of this store, as Restate
    /// does, with its events from an index of the log on. Returns `None` before its first event,
    /// and for stores that do not support such engines.
    ///
    /// # Errors
    /// When the store fails; [`refuse::run_busy`] for a run that a process has claimed.
    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>>;
}

/// Keeps the waits of paused runs, and their answers. An engine implements it to make runs
/// answerable.
pub trait WaitRegistry: Send + Sync {
    /// Returns the open waits of the runs that a filter selects, in the order in which they began.
    ///
    /// # Errors
    /// When the store fails.
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>>;

    /// Returns an open wait of an app by its id.
    ///
    /// # Errors
    /// [`refuse::unknown_wait`], also for a wait of another app; [`refuse::answered`] when it has
    /// an answer.
    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>>;

    /// Returns the time that deadlines are computed from and compared with, in microseconds
    /// since 1970. A store that several machines share returns the time of its server, because the
    /// clocks of the machines may differ. The default is the clock of this process.
    ///
    /// # Errors
    /// When the store fails.
    fn now(&self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(std::future::ready(Ok(now_micros())))
    }

    /// Returns at most `most` open waits of an app whose deadline is not after `now`, in
    /// microseconds since 1970, and the next deadline. Waits of runs that an engine above drives
    /// are left out: that engine keeps their deadlines.
    ///
    /// # Errors
    /// When the store fails.
    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>>;

    /// Returns the due waits of all [tenants](RunRecord::tenant_of) of an app, as
    /// [`due`](Self::due) does for one app.
    ///
    /// # Errors
    /// When the store fails.
    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>>;

    /// Removes open waits that no agent awaits any more: an answer is refused from now on. A wait
    /// with an answer stays, and its run is no longer ready because of that answer.
    ///
    /// # Errors
    /// When the store fails; [`refuse::fenced`].
    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>>;

    /// Answers an open wait of an app. The first answer wins.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownWait`], also for a wait of another app; [`ErrorKind::Answered`] when the
    /// wait has an answer. Nothing has changed then.
    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>>;
}

/// Lets other processes drive runs. A runner with such an engine hands its runs over and follows
/// them in the store: its stream yields committed events, without pieces of answers, and does not
/// slow the run.
pub trait RunDriver: Send + Sync {
    /// Hands a run over exactly once, even if the connection breaks or the run was handed over
    /// before. The future returns how the run has ended; `None` when the run waits for values from
    /// outside, or when only the store has the end.
    ///
    /// # Errors
    /// When the run cannot be handed over. Events that it has stored before stay.
    fn begin(&self, task: RunTask) -> BoxFuture<'static, Result<Option<RunReport>>>;

    /// Follows a run that was handed over before, and returns how it has ended, as
    /// [`begin`](Self::begin) does.
    ///
    /// # Errors
    /// When the driver cannot be asked.
    fn follow(&self, run: RunInfo) -> BoxFuture<'static, Result<Option<RunReport>>>;
}

/// Makes the pauses and limits of a run. An engine that re-executes runs by itself implements it,
/// so that a second execution finds them unchanged.
pub trait Timers: Send + Sync {
    /// Returns a future that is ready when `time` has passed since the first call with this key.
    fn sleep(&self, key: StepKey, time: Duration, kind: TimerKind) -> BoxFuture<'static, ()>;
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimerKind {
    /// A pause: the run continues when the timer ends.
    Pause,
    /// A time limit: the limited work is stopped when the timer ends.
    Limit,
}

/// Runs branches of a parallel block and elements of an `each` in another process. A distributed
/// engine implements it.
pub trait RemoteBranches: Send + Sync {
    /// Offers a branch; `None` declines it, and the branch runs here. The other process runs it
    /// with `Runner::branch`, and may be any process that knows the
    /// workflow.
    ///
    /// When `cancelled` resolves, the result is no longer needed. The branch ends soon, and its
    /// report still has the events that it committed until then. A branch that waits for a value
    /// from outside has not ended: the future stays pending. The runtime offers no branch while a
    /// resumed run replays its record.
    ///
    /// # Errors
    /// When the branch could not be run. The failure of the branch itself is in
    /// [`BranchReport::end`].
    fn offer(
        &self,
        task: BranchTask,
        cancelled: BoxFuture<'static, ()>,
    ) -> Option<BoxFuture<'static, Result<BranchReport>>>;
}

impl dyn Engine {
    /// Returns whether a commit is only an append to the session in memory.
    pub fn is_memory(&self) -> bool {
        (self as &dyn Any).is::<MemoryEngine>()
    }

    /// Returns whether the engine records anything.
    pub fn records(&self) -> bool {
        self.retention() > Retention::None
    }

    /// Returns the registry of runs, for an action that is an error without one.
    pub fn registry_for(&self, action: impl FnOnce() -> String) -> Result<&dyn RunRegistry> {
        self.registry().ok_or_else(|| role_missing(&action()))
    }

    /// Returns the registry of waits, for an action that is an error without one.
    pub fn waits_for(&self, action: impl FnOnce() -> String) -> Result<&dyn WaitRegistry> {
        self.waits().ok_or_else(|| role_missing(&action()))
    }

    /// Returns the runs that a filter selects; an empty list without a registry.
    pub async fn runs(&self, app: &str, filter: &RunFilter) -> Result<Vec<RunInfo>> {
        match self.registry() {
            Some(registry) => registry.runs(app, filter).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the number of runs that a filter selects; 0 without a registry.
    pub async fn count_runs(&self, app: &str, filter: &RunFilter) -> Result<usize> {
        match self.registry() {
            Some(registry) => registry.count_runs(app, filter).await,
            None => Ok(0),
        }
    }

    /// Returns the open waits of the runs that a filter selects; an empty list without a registry
    /// of waits.
    pub async fn waiting(&self, app: &str, filter: &RunFilter) -> Result<Vec<Waiting>> {
        match self.waits() {
            Some(waits) => waits.waiting(app, filter).await,
            None => Ok(Vec::new()),
        }
    }
}

fn role_missing(action: &str) -> Error {
    Error::new(
        ErrorKind::Config,
        format!("cannot {action}: the engine of this runner keeps no runs"),
    )
    .with_help(
        "give the runner a store that keeps runs, such as \
             `Runner::builder().store(InMemoryStore::new())`",
    )
}
