//! [`QueuedRun`]: a run that is in the registry and waits for the turn of its session.

use super::RunnerShared;
use super::cancel::DriveGuard;
use super::opened::{Execution, OpenedRun};
use super::place::{find_session, missing_session};
use super::root::Start;
use crate::model::UsageByAgent;
use crate::runtime::live::LiveInput;
use crate::runtime::run::{NewRun, Run, RunConfig, RunIdentity, RunKind, RunLimits};
use crate::store::engine::{Claim, RunFilter, RunInfo, RunRecord, RunStatus, now_micros, refuse};
use crate::store::session::{Session, SessionKey, SessionTurn};
use crate::{BoxFuture, Error, ErrorKind, Result, RunId, StoreErrorKind};
use futures_util::future::{Either, FutureExt as _, select};
use std::collections::{BTreeMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Queued run of the registry that this process has claimed.
pub(super) struct QueuedRun {
    pub(super) shared: Arc<RunnerShared>,
    pub(super) session: Arc<Session>,
    pub(super) claim: Claim,
    pub(super) record: RunRecord,
    pub(super) config: RunConfig,
    pub(super) live: Option<LiveInput>,
    pub(super) trace: Option<Box<str>>,
}

impl QueuedRun {
    /// Begins the run in its turn, with the current state of the session.
    pub(super) async fn begin(
        self,
        turn: Option<SessionTurn>,
        wait: TurnWait,
    ) -> Result<OpenedRun> {
        if let Err(error) = self.check().await {
            return Err(self.fail(error).await);
        }
        let Self {
            shared,
            session,
            claim,
            mut record,
            config,
            live,
            trace,
        } = self;
        let mut identity = RunIdentity::new(claim.id(), trace);
        if let Some(turn) = &turn {
            turn.set_holder(identity.claim.run_id);
        }
        let start = Start {
            message: record.message.clone(),
            delta: record.delta.clone(),
        };
        record.time = now_micros();
        identity.begin(&mut record, &session);
        let mut new = NewRun {
            live,
            is_registered: true,
            ..NewRun::default()
        };
        new.attach(record);
        let limits = RunLimits::after(Duration::ZERO, config);
        let run = shared.create_run(RunKind::New(new), identity, session, limits);
        let guard = Some(DriveGuard::new(&shared, &run));
        wait.pass_on(&run);
        Ok(OpenedRun {
            run,
            claim: Some(claim),
            turn,
            guard,
            execution: Execution::Local(start),
        })
    }

    /// Checks that the run is still queued and that its session still exists. Also reads events of
    /// other processes into the session.
    async fn check(&self) -> Result<()> {
        let (id, key) = (self.record.run_id, &self.record.session);
        let runs = self
            .shared
            .engine
            .runs(&key.app, &RunFilter::of_run(id))
            .await?;
        match runs.first().map(|run| &run.status) {
            Some(RunStatus::Queued) => {}
            Some(RunStatus::Cancelled) => return Err(refuse::cancelled(id)),
            Some(_) => return Err(refuse::fenced(id)),
            None => return Err(refuse::unknown_run(id)),
        }
        let session = find_session(&self.shared, key, id).await?;
        // The turn belongs to the session that was open when the run was queued.
        if Arc::ptr_eq(&session, &self.session) {
            Ok(())
        } else {
            Err(missing_session(key, id))
        }
    }

    /// Stores the failure of a run that can never begin, because its session was deleted.
    async fn fail(self, error: Error) -> Error {
        if error.kind() == ErrorKind::Store(StoreErrorKind::Missing)
            && let Some(registry) = self.shared.engine.registry()
        {
            let status = RunStatus::Failed((&error).into());
            if registry
                .close(self.claim.id(), status, UsageByAgent::default())
                .await
                .is_ok()
            {
                self.claim.close();
            }
        }
        error
    }
}

/// Wait of a run for its turn. [`Runner::cancel`](super::Runner::cancel) ends the run immediately.
pub(super) struct TurnWait {
    run: RunId,
    cancelled: Arc<Notify>,
    _guard: DriveGuard,
}

impl TurnWait {
    /// Starts the wait. Call it before the run is queued or claimed, so that no cancellation is
    /// missed.
    pub(super) fn new(shared: &Arc<RunnerShared>, run: RunId) -> Self {
        let cancelled = Arc::new(Notify::new());
        let guard = DriveGuard::for_queued(shared, run, cancelled.clone());
        Self {
            run,
            cancelled,
            _guard: guard,
        }
    }

    pub(super) async fn until(&self, turn: BoxFuture<'static, SessionTurn>) -> Result<SessionTurn> {
        match select(turn, pin!(self.cancelled.notified())).await {
            Either::Left((turn, _)) => Ok(turn),
            Either::Right(_) => Err(refuse::cancelled(self.run)),
        }
    }

    /// Ends the wait, because the run has its turn and can be cancelled itself. If a cancellation
    /// came during the wait, cancels the run.
    pub(super) fn pass_on(self, run: &Run) {
        if self.cancelled.notified().now_or_never().is_some() {
            run.cancel();
        }
    }
}

/// Sorts runs into lines for resuming. The runs of one line execute in sequence. A queued run comes
/// after the other runs of its session, in queue order; every other run has its own line.
pub(super) fn lines(runs: Vec<RunInfo>) -> Vec<Vec<RunInfo>> {
    let mut lines = Vec::new();
    let mut sessions: BTreeMap<SessionKey, Vec<RunInfo>> = BTreeMap::new();
    for run in &runs {
        if run.status == RunStatus::Queued {
            sessions.entry(run.session.clone()).or_default();
        }
    }
    for run in runs {
        match sessions.get_mut(&run.session) {
            Some(line) => line.push(run),
            None => lines.push(vec![run]),
        }
    }
    lines.extend(sessions.into_values().map(|mut line| {
        line.sort_by_key(|run| (run.status == RunStatus::Queued, run.created, run.run_id));
        line
    }));
    lines
}

/// Returns the first run of the queue of each session. A run that still waits for its turn is left
/// out if its session is busy.
pub(super) fn heads(runs: Vec<RunInfo>, busy: &HashSet<SessionKey>) -> Vec<RunInfo> {
    let first = lines(runs)
        .into_iter()
        .filter_map(|line| line.into_iter().next());
    first
        .filter(|run| run.status != RunStatus::Queued || !busy.contains(&run.session))
        .collect()
}
