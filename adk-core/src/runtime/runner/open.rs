//! What a run works on: a session that is opened or made, a run that is taken up again, one that a branch was taken from.

use super::Shared;
use super::root::Start;
use crate::runtime::run::Run;
use crate::spec::Topology;
use crate::store::engine::{BranchTask, Claim, ClaimedRun, RunRecord, refuse};
use crate::store::event::StateDelta;
use crate::store::session::{Session, SessionKey, now_micros};
use crate::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use std::sync::Arc;
use std::time::Duration;

/// The run of a remote branch, as it was when the branch began.
pub(super) async fn branch_run(shared: &Shared, task: &BranchTask) -> Result<Run> {
    let session = found(shared, &task.session, task.run_id).await?;
    let upto = usize::try_from(task.upto).unwrap_or(usize::MAX);
    session.load_newest(upto).await?;
    let config = serde_json::from_value(task.config.clone()).unwrap_or_else(|_| shared.config.clone());
    Ok(Run::branch(task, &session, shared.engine.clone(), config, shared.services.clone()))
}

async fn found(shared: &Shared, key: &SessionKey, run: RunId) -> Result<Arc<Session>> {
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
) -> Result<(Arc<Run>, Claim, Start)> {
    let registry = shared.engine.registry_for(|| format!("resume run `{id}`"))?;
    let app = shared.app.clone();
    let check = move |record: &RunRecord| fits(&app, shape.as_ref(), record);
    let claimed = registry.claim(id, Arc::new(check)).await?;
    make_again(shared, claimed).await
}

/// Whether a run is one of this app and of this workflow.
fn fits(app: &str, shape: Option<&(String, Topology)>, record: &RunRecord) -> Result<()> {
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
    if !record.topology.fits(now) {
        let message = format!(
            "`{name}` is not of the shape any more that run `{}` was begun with:\n{}",
            record.run_id,
            record.topology.diff(now)
        );
        return Err(Error::new(ErrorKind::TopologyChanged, message).with_help(
            "resume it with the program that began it; steps may be added at the end of the body, and prompts, models, \
             tools and limits may change",
        ));
    }
    Ok(())
}

async fn make_again(shared: &Shared, claimed: ClaimedRun) -> Result<(Arc<Run>, Claim, Start)> {
    let record = &claimed.record;
    let session = found(shared, &record.session, record.run_id).await?;
    let begins = usize::try_from(record.begins).unwrap_or(usize::MAX);
    session.load_newest(begins).await?;
    let config = serde_json::from_value(record.config.clone()).unwrap_or_else(|_| shared.config.clone());
    let start = Start { message: record.message.clone(), delta: record.delta.clone() };
    // What an engine tells again comes on top of what there was.
    let session =
        if claimed.starts_over { Arc::new(session.as_it_was(&record.state, begins)) } else { session };
    let mut run = Run::new(session, shared.engine.clone(), config, shared.services.clone());
    run.limit(Duration::from_micros(now_micros().saturating_sub(claimed.record.time)));
    let claim = run.goes_on_with(claimed);
    Ok((Arc::new(run), claim, start))
}

pub(super) async fn open_session(shared: &Shared, key: SessionKey) -> Result<Arc<Session>> {
    key.check()?;
    match shared.sessions.get(&key).await? {
        Some(session) => Ok(session),
        None => match shared.sessions.create(key.clone(), StateDelta::default()).await {
            Ok(session) => Ok(session),
            // Another run may have made it in the meantime.
            Err(error) => shared.sessions.get(&key).await?.ok_or(error),
        },
    }
}
