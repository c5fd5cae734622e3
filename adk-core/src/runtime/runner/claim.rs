//! Claims of runs that continue, and the checks that the workflow still fits them.

use super::RunnerShared;
use super::cancel::DriveGuard;
use super::opened::{Execution, OpenedRun};
use super::place::{find_session, take_place};
use super::queue::{QueuedRun, TurnWait};
use super::root::Start;
use crate::runtime::run::{RunConfig, RunIdentity, RunKind, RunLimits};
use crate::spec::Topology;
use crate::store::engine::{ClaimedRun, RunFilter, RunRecord, refuse};
use crate::store::session::{TurnPlace, now_micros};
use crate::{Error, ErrorKind, Result, RunId};
use std::sync::Arc;
use std::time::Duration;

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
    let run = shared.create_run(kind, identity, session, limits);
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
