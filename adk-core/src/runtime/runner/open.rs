//! Sessions and runs before execution: opens or creates sessions, claims runs to resume, and
//! restores the run of a remote branch.

use super::RunnerShared;
use super::cancel::DriveGuard;
use super::queue::{QueuedRun, TurnWait};
use super::request::Execution;
use super::root::Start;
use super::stream::OpenedRun;
use crate::runtime::run::{Run, RunConfig, RunIdentity, RunKind, RunLimits, SessionTurns};
use crate::spec::Topology;
use crate::store::engine::{BranchTask, ClaimedRun, RunFilter, RunRecord, refuse};
use crate::store::event::StateDelta;
use crate::store::session::{Session, SessionKey, TurnPlace, now_micros};
use crate::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use std::sync::Arc;
use std::time::Duration;

/// Returns the run of a remote branch, in its state when the branch began.
pub(super) async fn branch_run(shared: &RunnerShared, task: &BranchTask) -> Result<Run> {
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

pub(super) async fn find_session(
    shared: &RunnerShared,
    key: &SessionKey,
    run: RunId,
) -> Result<Arc<Session>> {
    shared
        .sessions
        .get(key)
        .await?
        .ok_or_else(|| missing_session(key, run))
}

pub(super) fn missing_session(key: &SessionKey, run: RunId) -> Error {
    let message = format!("session `{key}` of run `{run}` does not exist");
    Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
}

/// Claims a run, unless the shape of the workflow no longer fits the run.
pub(super) async fn claim_run(
    shared: &Arc<RunnerShared>,
    id: RunId,
    shape: Option<(String, Topology)>,
) -> Result<OpenedRun> {
    let registry = shared
        .engine
        .registry_for(|| format!("resume run `{id}`"))?;
    let app = shared.app.clone();
    let check = move |record: &RunRecord| check_run(&app, shape.as_ref(), record);
    let wait = TurnWait::new(shared, id);
    let claimed = registry.claim(id, Arc::new(check)).await?;
    resume_claimed(shared, claimed, wait).await
}

/// Checks that a run belongs to this app and this workflow, and that the workflow still has the
/// shape that the run began with.
pub(super) fn check_run(
    app: &str,
    shape: Option<&(String, Topology)>,
    record: &RunRecord,
) -> Result<()> {
    // Another app may keep its runs in the same store. This app must not see them.
    if record.session.app != app {
        return Err(refuse::unknown_run(record.run_id));
    }
    let (name, now) = match shape {
        Some((name, now)) => (&**name, now),
        None => ("", &Topology::default()),
    };
    if record.workflow != *name {
        let message = format!(
            "run `{}` belongs to workflow `{}`, not to `{name}`",
            record.run_id, record.workflow
        );
        return Err(Error::new(ErrorKind::TopologyChanged, message)
            .with_help("resume it with the workflow that it belongs to"));
    }
    check_shape(name, record.run_id, &record.topology, now)
}

/// Checks that a run of the earlier shape can continue with the current workflow.
pub(super) fn check_shape(name: &str, run: RunId, then: &Topology, now: &Topology) -> Result<()> {
    if then.fits(now) {
        return Ok(());
    }
    let message = format!(
        "`{name}` no longer has the shape with which run `{run}` began:\n{}",
        then.diff(now)
    );
    Err(Error::new(ErrorKind::TopologyChanged, message).with_help(
        "resume it with the program that began it; steps may be added at the end of the body, and \
         prompts, models, tools and limits may change",
    ))
}

async fn resume_claimed(
    shared: &Arc<RunnerShared>,
    claimed: ClaimedRun,
    wait: TurnWait,
) -> Result<OpenedRun> {
    let record = &claimed.record;
    let config: RunConfig =
        serde_json::from_value(record.config.clone()).unwrap_or_else(|_| shared.config.clone());
    let session = find_session(shared, &record.session, record.run_id).await?;
    let turn = match take_place(&session, config.turns)? {
        Some(TurnPlace::Now(turn)) => Some(turn),
        Some(TurnPlace::Later(turn)) => Some(wait.until(turn).await?),
        None => None,
    };
    if record.is_queued {
        let ClaimedRun { claim, record, .. } = claimed;
        let (shared, trace) = (shared.clone(), record.trace.as_deref().map(Box::from));
        let queued = QueuedRun {
            shared,
            session,
            claim,
            record,
            config,
            live: None,
            trace,
        };
        return queued.begin(turn, wait).await;
    }
    if let Some(turn) = &turn {
        turn.set_holder(record.run_id);
    }
    let begins = usize::try_from(record.begins).unwrap_or(usize::MAX);
    let start = Start {
        message: record.message.clone(),
        delta: record.delta.clone(),
    };
    // An engine that re-executes runs delivers the recorded events again, on top of the state that
    // the run began with.
    let session = if claimed.starts_over {
        Arc::new(session.restored_at(&record.state, begins))
    } else {
        session
    };
    let taken = Duration::from_micros(now_micros().saturating_sub(record.time));
    let limits = RunLimits::after(taken, config);
    let identity = RunIdentity::of_record(claimed.claim.id(), record);
    let (kind, claim) = RunKind::resume(claimed, &session);
    let run = Arc::new(shared.create_run(kind, identity, session, limits));
    let guard = Some(DriveGuard::new(shared, &run));
    wait.pass_on(&run);
    Ok(OpenedRun {
        run,
        claim: Some(claim),
        turn,
        guard,
        execution: Execution::Local(start),
    })
}

pub(super) async fn open_session(shared: &RunnerShared, key: &SessionKey) -> Result<Arc<Session>> {
    key.check()?;
    match shared.sessions.get(key).await? {
        Some(session) => Ok(session),
        None => match shared
            .sessions
            .create(key.clone(), StateDelta::default())
            .await
        {
            Ok(session) => Ok(session),
            // Another run may have created the session in the meantime.
            Err(error) => shared.sessions.get(key).await?.ok_or(error),
        },
    }
}

/// Session of a run that begins, with the place of the run in its queue.
pub(super) struct SessionPlace {
    pub(super) session: Arc<Session>,
    /// `None` if runs do not take turns.
    pub(super) place: Option<TurnPlace>,
}

/// Opens the session of a run that begins, and joins its queue. Without a registry of runs, this
/// function also waits for the turn.
pub(super) async fn open_in_turn(
    shared: &RunnerShared,
    key: &SessionKey,
    turns: SessionTurns,
    is_kept: bool,
) -> Result<SessionPlace> {
    loop {
        let session = open_session(shared, key).await?;
        match take_place(&session, turns)? {
            Some(TurnPlace::Later(turn)) if !is_kept => {
                let turn = turn.await;
                // The store may contain newer events now, or another session with that key.
                if Arc::ptr_eq(&session, &open_session(shared, key).await?) {
                    return Ok(SessionPlace {
                        session,
                        place: Some(TurnPlace::Now(turn)),
                    });
                }
            }
            place => return Ok(SessionPlace { session, place }),
        }
    }
}

/// Takes the turn of the session for a run, or a place in the queue of runs. `None` if runs do not
/// take turns.
fn take_place(session: &Arc<Session>, turns: SessionTurns) -> Result<Option<TurnPlace>> {
    if turns == SessionTurns::Share {
        return Ok(None);
    }
    let holder = match session.try_turn() {
        Ok(turn) => return Ok(Some(TurnPlace::Now(turn))),
        Err(holder) => holder,
    };
    let place = if turns == SessionTurns::Queue {
        session.join_queue()
    } else {
        None
    };
    place
        .map(Some)
        .ok_or_else(|| session_busy(session.key(), holder, turns))
}

/// Checks that no run of the session is active in the store, for a run that another process will
/// drive and that must not wait.
pub(super) async fn check_session_free(shared: &RunnerShared, key: &SessionKey) -> Result<()> {
    let open = shared
        .engine
        .runs(&shared.app, &RunFilter::unfinished().session(key))
        .await?;
    match open.iter().find(|run| run.status.is_active()) {
        Some(run) => Err(session_busy(key, Some(run.run_id), SessionTurns::Refuse)),
        None => Ok(()),
    }
}

/// Checks that no run in the store has the id of a run that another process will drive.
pub(super) async fn check_run_new(shared: &RunnerShared, run: RunId) -> Result<()> {
    let found = shared
        .engine
        .runs(&shared.app, &RunFilter::of_run(run))
        .await?;
    if found.is_empty() {
        Ok(())
    } else {
        Err(refuse::run_exists(run))
    }
}

fn session_busy(key: &SessionKey, holder: Option<RunId>, turns: SessionTurns) -> Error {
    let run = holder.map_or_else(|| "another run".to_owned(), |run| format!("run `{run}`"));
    let message = format!("session `{key}` is busy: {run} has its turn");
    let help = match turns {
        SessionTurns::Queue => {
            "give the inner run a session of its own, because a run that waits for a run inside it \
             never ends"
        }
        _ => "run it later, or let it wait with `RunConfig::turns(SessionTurns::Queue)`",
    };
    Error::new(ErrorKind::SessionBusy, message).with_help(help)
}
