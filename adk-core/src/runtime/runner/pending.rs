//! [`PendingRun`]: a run before it begins.

use super::RunnerShared;
use super::cancel::DriveGuard;
use super::claim::{check_run, check_run_new, claim_run};
use super::follow::{self, FollowedRun};
use super::opened::{Execution, OpenOutcome, OpenedRun, Opening};
use super::place::{SessionPlace, check_session_free, find_session, open_in_turn};
use super::queue::{QueuedRun, TurnWait};
use super::root::Start;
use crate::encode::to_json;
use crate::runtime::live::LiveInput;
use crate::runtime::run::{
    NewRun, Run, RunConfig, RunIdentity, RunKind, RunLimits, SessionTurns, TraceSpan,
};
use crate::runtime::workflow::Keys;
use crate::spec::Topology;
use crate::store::engine::{BranchTask, Claim, ClaimId, DrivenRun, RunRecord, RunStatus, RunTask};
use crate::store::event::StateDelta;
use crate::store::session::{Session, SessionKey, SessionTurn, TurnPlace};
use crate::{BoxFuture, Content, Error, ErrorKind, Result, RunId};
use std::sync::Arc;
use std::time::Duration;

/// Data of a run before it begins. The type does not depend on the workflow, so that its code is
/// compiled only once, not in each crate that runs workflows.
pub(super) struct PendingRun {
    shared: Arc<RunnerShared>,
    pub(super) key: SessionKey,
    /// Whether the session belongs only to this run.
    private: bool,
    pub(super) state: StateDelta,
    pub(super) config: RunConfig,
    pub(super) message: Option<Content>,
    pub(super) live: Option<LiveInput>,
    /// Claim of the run, if the caller has chosen its id.
    pub(super) claim: Option<ClaimId>,
    /// Inputs of the run, or the error of the request.
    pub(super) begin: Result<Keys>,
    pub(super) kind: PendingKind,
    /// Trace that the run continues.
    pub(super) trace: Option<Box<str>>,
    /// Name and shape of the workflow, if runs are kept.
    shape: Option<(String, Topology)>,
}

/// What a request executes.
pub(super) enum PendingKind {
    /// A run that begins.
    New,
    /// The rest of a run.
    Resumed(RunId),
    /// A branch of a run that another process drives.
    Branch(Arc<BranchTask>),
}

impl PendingRun {
    pub(super) fn new(
        shared: Arc<RunnerShared>,
        key: SessionKey,
        private: bool,
        shape: Option<(String, Topology)>,
        begin: Result<Keys>,
    ) -> Box<Self> {
        let config = shared.config.clone();
        Box::new(Self {
            shared,
            key,
            private,
            state: StateDelta::default(),
            config,
            message: None,
            live: None,
            claim: None,
            begin,
            kind: PendingKind::New,
            trace: None,
            shape,
        })
    }

    /// Opens or creates the session.
    // No `async fn`: each crate that awaits one would compile its body again.
    pub(super) fn into_opening(self: Box<Self>) -> Opening {
        Box::pin(self.open())
    }

    // Rarely used futures are boxed: each run begins here, and most runs only need a private
    // session.
    async fn open(mut self: Box<Self>) -> Result<OpenOutcome> {
        let is_branch = matches!(self.kind, PendingKind::Branch(_));
        if !is_branch && self.shared.engine.driver().is_some() {
            return Box::pin(self.follow()).await;
        }
        let keys = std::mem::replace(&mut self.begin, Ok(Keys::default()))?;
        if let PendingKind::Branch(task) = &self.kind {
            let run = Arc::new(Box::pin(branch_run(&self.shared, task)).await?);
            let execution = Execution::Local(Start::default());
            return Ok(OpenOutcome::Opened(OpenedRun {
                run,
                claim: None,
                turn: None,
                guard: None,
                execution,
            }));
        }
        if let PendingKind::Resumed(run) = self.kind {
            return Box::pin(claim_run(&self.shared, run, self.shape.take()))
                .await
                .map(OpenOutcome::Opened);
        }
        let (is_alone, is_kept) = (self.private && self.shape.is_none(), self.shape.is_some());
        if is_alone {
            let key = std::mem::replace(&mut self.key, SessionKey::new("", "", ""));
            let session = self.shared.sessions.create_private(key).await?;
            return Ok(OpenOutcome::Opened(
                self.into_opened(session, None, is_alone, keys),
            ));
        }
        let SessionPlace { session, place } = Box::pin(open_in_turn(
            &self.shared,
            &self.key,
            self.config.turns,
            is_kept,
        ))
        .await?;
        let turn = match place {
            Some(TurnPlace::Later(turn)) => {
                return Box::pin(self.enqueue(session, turn, keys)).await;
            }
            Some(TurnPlace::Now(turn)) => Some(turn),
            None => None,
        };
        Ok(OpenOutcome::Opened(
            self.into_opened(session, turn, is_alone, keys),
        ))
    }

    /// Adds the run to the registry as queued. The run begins when it has the turn of its session.
    async fn enqueue(
        self: Box<Self>,
        session: Arc<Session>,
        turn: BoxFuture<'static, SessionTurn>,
        keys: Keys,
    ) -> Result<OpenOutcome> {
        let Self {
            shared,
            state,
            config,
            message,
            live,
            claim,
            trace,
            shape,
            ..
        } = *self;
        let claim = claim.unwrap_or_else(|| ClaimId::first(RunId::new()));
        let registry = shared
            .engine
            .registry_for(|| format!("queue run `{}`", claim.run_id))?;
        let Start { message, delta } = run_start(message, live.is_some(), keys, state);
        let (workflow, topology) = shape.ok_or_else(already_awaited)?;
        let key = session.key().clone();
        let mut record = RunRecord::new(claim.run_id, key, workflow, topology);
        record.message = message;
        record.delta = delta;
        record.config = to_json(&config).unwrap_or_default();
        record.trace = trace
            .as_deref()
            .map(str::to_owned)
            .or_else(TraceSpan::current);
        record.is_queued = true;
        record.tenant_of = shared.tenant_of.clone();
        let wait = TurnWait::new(&shared, claim.run_id);
        let claim = registry.enqueue(claim, record.clone()).await?;
        let id = record.run_id;
        let queued = QueuedRun {
            shared,
            session,
            claim,
            record,
            config,
            live,
            trace,
        };
        let begin = async move {
            let turn = wait.until(turn).await?;
            queued
                .begin(Some(turn), wait)
                .await
                .map(OpenOutcome::Opened)
        };
        Ok(OpenOutcome::Queued(id, Box::pin(begin)))
    }

    /// Returns the run in an open session.
    fn into_opened(
        self,
        session: Arc<Session>,
        turn: Option<SessionTurn>,
        is_alone: bool,
        keys: Keys,
    ) -> OpenedRun {
        let Self {
            shared,
            state,
            config,
            message,
            live,
            claim,
            trace,
            shape,
            ..
        } = self;
        let mut identity = match claim {
            Some(claim) => RunIdentity::new(claim, trace),
            None => RunIdentity::first(trace),
        };
        let claim_id = identity.claim;
        if let Some(turn) = &turn {
            turn.set_holder(claim_id.run_id);
        }
        let Start { message, delta } = run_start(message, live.is_some(), keys, state);
        let mut new = NewRun {
            live,
            is_alone,
            ..NewRun::default()
        };
        let mut claim = None;
        if let Some((workflow, topology)) = shape {
            let key = session.key().clone();
            let mut record = RunRecord::new(claim_id.run_id, key, workflow, topology);
            record.tenant_of = shared.tenant_of.clone();
            (record.message, record.delta) = (message.clone(), delta.clone());
            record.config = to_json(&config).unwrap_or_default();
            identity.begin(&mut record, &session);
            new.attach(record);
            let engine = shared.engine.clone();
            claim = Some(Claim::new(claim_id, move |claim| {
                if let Some(registry) = engine.registry() {
                    registry.release(claim);
                }
            }));
        }
        let limits = RunLimits::after(Duration::ZERO, config);
        let run = shared.create_run(RunKind::New(new), identity, session, limits);
        let guard = claim.as_ref().map(|_| DriveGuard::new(&shared, &run));
        OpenedRun {
            run,
            claim,
            turn,
            guard,
            execution: Execution::Local(Start { message, delta }),
        }
    }

    /// Hands the run over to the driver of the engine, or finds the run that was handed over
    /// earlier.
    async fn follow(self: Box<Self>) -> Result<OpenOutcome> {
        let Self {
            shared,
            key,
            private,
            state,
            config,
            message,
            live,
            claim,
            begin,
            ..
        } = *self;
        let (keys, driver) = (begin?, shared.engine.driver().ok_or_else(already_awaited)?);
        let (run, followed) = match (self.kind, self.shape) {
            (PendingKind::Resumed(run), shape) => {
                let check =
                    |driven: &DrivenRun| check_run(&shared.app, shape.as_ref(), &driven.record);
                follow::resume(&shared, run, check).await?
            }
            (PendingKind::New, Some((workflow, topology))) if live.is_none() => {
                key.check()?;
                if config.turns == SessionTurns::Refuse && !private {
                    check_session_free(&shared, &key).await?;
                }
                if let Some(claim) = claim {
                    check_run_new(&shared, claim.run_id).await?;
                }
                let Start { message, delta } = run_start(message, false, keys, state);
                let run_id = claim.map_or_else(RunId::new, |claim| claim.run_id);
                let mut task = RunTask::new(run_id, key, workflow, topology);
                task.takes_turn = !private && config.turns != SessionTurns::Share;
                (task.message, task.delta) = (message, delta);
                task.config = to_json(&config).unwrap_or_default();
                task.trace = TraceSpan::current();
                let (driven, followed) = follow::hand_over(&shared, driver, task).await?;
                let (id, is_queued) = (driven.record.run_id, driven.status == RunStatus::Queued);
                let shared = shared.clone();
                let begin = async move {
                    let (run, followed) = follow::from_first(&shared, driven, followed).await?;
                    Ok(followed_run(&shared, run, followed))
                };
                return if is_queued {
                    Ok(OpenOutcome::Queued(id, Box::pin(begin)))
                } else {
                    begin.await
                };
            }
            _ => {
                let message = "a live run cannot be handed over to another process";
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("run it on a runner whose engine executes runs in this process"));
            }
        };
        Ok(followed_run(&shared, run, followed))
    }
}

/// Returns the outcome of opening a run that another process drives.
fn followed_run(shared: &Arc<RunnerShared>, run: Arc<Run>, followed: FollowedRun) -> OpenOutcome {
    let guard = Some(DriveGuard::new(shared, &run));
    OpenOutcome::Opened(OpenedRun {
        run,
        claim: None,
        turn: None,
        guard,
        execution: Execution::Followed(followed),
    })
}

/// Returns the run of a remote branch, in its state when the branch began.
async fn branch_run(shared: &RunnerShared, task: &BranchTask) -> Result<Run> {
    let session = find_session(shared, &task.session, task.run_id).await?;
    let config =
        serde_json::from_value(task.config.clone()).unwrap_or_else(|_| shared.config.clone());
    Ok(Run::branch(
        task,
        &session,
        shared.engine.clone(),
        config,
        shared.services.clone(),
    ))
}

/// Returns the content of the first event. In a live run, messages come from the queue and inputs
/// are only keys.
fn run_start(message: Option<Content>, is_live: bool, keys: Keys, state: StateDelta) -> Start {
    let message = message.unwrap_or_else(|| {
        if is_live {
            keys.user_message()
        } else {
            keys.to_message()
        }
    });
    let mut delta = keys.into_delta();
    delta.extend(state);
    Start { message, delta }
}

/// Returns the error of a request that was already awaited or streamed.
#[cold]
pub(super) fn already_awaited() -> Error {
    Error::new(ErrorKind::Config, "this run was awaited before")
        .with_help("request another run from the runner")
}
