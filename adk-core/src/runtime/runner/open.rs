//! What a run works on: a session that is opened or made, a run that is taken up again, one that a branch was taken from.

use super::Shared;
use super::root::Start;
use crate::runtime::run::{Run, RunConfig, SessionTurns};
use crate::spec::Topology;
use crate::store::engine::{BranchTask, Claim, ClaimedRun, RunFilter, RunRecord, RunStatus, refuse};
use crate::store::event::StateDelta;
use crate::store::session::{Session, SessionKey, Turn, now_micros};
use crate::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use std::sync::Arc;
use std::time::Duration;

/// The run of a remote branch, as it was when the branch began.
pub(super) async fn branch_run(shared: &Shared, task: &BranchTask) -> Result<Run> {
    let session = found(shared, &task.session, task.run_id).await?;
    let config = serde_json::from_value(task.config.clone()).unwrap_or_else(|_| shared.config.clone());
    Ok(Run::branch(task, &session, shared.engine.clone(), config, shared.services.clone()))
}

pub(super) async fn found(shared: &Shared, key: &SessionKey, run: RunId) -> Result<Arc<Session>> {
    shared.sessions.get(key).await?.ok_or_else(|| {
        let message = format!("the session `{key}` of run `{run}` is not there");
        Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
    })
}

/// Claims a run, when the workflow is still of the shape that the run was begun with.
pub(super) async fn claimed(
    shared: &Shared,
    id: RunId,
    shape: Option<(String, Topology)>,
) -> Result<(Arc<Run>, Claim, Option<Turn>, Start)> {
    let registry = shared.engine.registry_for(|| format!("resume run `{id}`"))?;
    let app = shared.app.clone();
    let check = move |record: &RunRecord| fits(&app, shape.as_ref(), record);
    let claimed = registry.claim(id, Arc::new(check)).await?;
    make_again(shared, claimed).await
}

/// Whether a run is one of this app and of this workflow.
pub(super) fn fits(app: &str, shape: Option<&(String, Topology)>, record: &RunRecord) -> Result<()> {
    // Another app may keep its runs in the same store. To this one they are not there.
    if record.session.app != app {
        return Err(refuse::unknown_run(record.run_id));
    }
    let (name, now) = match shape {
        Some((name, now)) => (&**name, now),
        None => ("", &Topology::default()),
    };
    if record.workflow != *name {
        let message = format!("run `{}` is one of `{}`, not of `{name}`", record.run_id, record.workflow);
        return Err(Error::new(ErrorKind::TopologyChanged, message).with_help("resume it with that workflow"));
    }
    shape_fits(name, record.run_id, &record.topology, now)
}

/// Whether a run that was begun with a workflow of that shape goes on with this one.
pub(super) fn shape_fits(name: &str, run: RunId, then: &Topology, now: &Topology) -> Result<()> {
    if then.fits(now) {
        return Ok(());
    }
    let message =
        format!("`{name}` is not of the shape any more that run `{run}` was begun with:\n{}", then.diff(now));
    Err(Error::new(ErrorKind::TopologyChanged, message).with_help(
        "resume it with the program that began it; steps may be added at the end of the body, and prompts, models, \
         tools and limits may change",
    ))
}

async fn make_again(shared: &Shared, claimed: ClaimedRun) -> Result<(Arc<Run>, Claim, Option<Turn>, Start)> {
    let record = &claimed.record;
    let config: RunConfig =
        serde_json::from_value(record.config.clone()).unwrap_or_else(|_| shared.config.clone());
    let session = found(shared, &record.session, record.run_id).await?;
    let turn = turn_of(&session, config.turns).await?.map(|(turn, _)| turn);
    if let Some(turn) = &turn {
        turn.of(record.run_id);
    }
    let begins = usize::try_from(record.begins).unwrap_or(usize::MAX);
    let start = Start { message: record.message.clone(), delta: record.delta.clone() };
    // What an engine tells again comes on top of what there was.
    let session =
        if claimed.starts_over { Arc::new(session.as_it_was(&record.state, begins)) } else { session };
    let mut run = Run::new(session, shared.engine.clone(), config, shared.services.clone());
    run.limit(Duration::from_micros(now_micros().saturating_sub(claimed.record.time)));
    let claim = run.goes_on_with(claimed);
    Ok((Arc::new(run), claim, turn, start))
}

pub(super) async fn open_session(shared: &Shared, key: &SessionKey) -> Result<Arc<Session>> {
    key.check()?;
    match shared.sessions.get(key).await? {
        Some(session) => Ok(session),
        None => match shared.sessions.create(key.clone(), StateDelta::default()).await {
            Ok(session) => Ok(session),
            // Another run may have made it in the meantime.
            Err(error) => shared.sessions.get(key).await?.ok_or(error),
        },
    }
}

/// The session of a run that begins, as it is when its turn has come.
pub(super) async fn open_in_turn(
    shared: &Shared,
    key: &SessionKey,
    turns: SessionTurns,
) -> Result<(Arc<Session>, Option<Turn>)> {
    loop {
        let session = open_session(shared, key).await?;
        let Some((turn, has_waited)) = turn_of(&session, turns).await? else { return Ok((session, None)) };
        // The store may hold more by now, or another session of that key.
        if !has_waited || Arc::ptr_eq(&session, &open_session(shared, key).await?) {
            return Ok((session, Some(turn)));
        }
    }
}

/// The turn of a session, and whether it was waited for; `None` where runs take no turns.
async fn turn_of(session: &Arc<Session>, turns: SessionTurns) -> Result<Option<(Turn, bool)>> {
    if turns == SessionTurns::Share {
        return Ok(None);
    }
    let holder = match session.try_turn() {
        Ok(turn) => return Ok(Some((turn, false))),
        Err(holder) => holder,
    };
    if turns == SessionTurns::Queue
        && let Some(turn) = session.turn().await
    {
        return Ok(Some((turn, true)));
    }
    Err(busy(session.key(), holder, turns))
}

/// The session of a run that another process drives, where runs are refused: as far as the store knows, it is free.
pub(super) async fn is_free(shared: &Shared, key: &SessionKey) -> Result<()> {
    let open = shared.engine.runs(&shared.app, &RunFilter::unfinished().session(key)).await?;
    match open.iter().find(|run| run.status == RunStatus::Running) {
        Some(run) => Err(busy(key, Some(run.run_id), SessionTurns::Refuse)),
        None => Ok(()),
    }
}

fn busy(key: &SessionKey, holder: Option<RunId>, turns: SessionTurns) -> Error {
    let run = holder.map_or_else(|| "another run".to_owned(), |run| format!("run `{run}`"));
    let message = format!("session `{key}` is busy: {run} has its turn");
    let help = match turns {
        SessionTurns::Queue => {
            "a run that waits for a run inside of it never ends: give that a session of its own"
        }
        _ => "run it later, or let it wait with `RunConfig::turns(SessionTurns::Queue)`",
    };
    Error::new(ErrorKind::SessionBusy, message).with_help(help)
}
