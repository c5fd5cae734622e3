//! [`SessionPlace`]: the session of a run, and the place of the run in the queue of the session.

use super::RunnerShared;
use crate::runtime::run::SessionTurns;
use crate::store::engine::RunFilter;
use crate::store::event::StateDelta;
use crate::store::session::{Session, SessionKey, TurnPlace};
use crate::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use std::sync::Arc;

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
pub(super) fn take_place(session: &Arc<Session>, turns: SessionTurns) -> Result<Option<TurnPlace>> {
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
