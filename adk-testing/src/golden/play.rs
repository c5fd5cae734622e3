//! [`play`]: runs a workflow on a tape to its end.

use super::drive::drive;
use super::tape::Tape;
use adk_core::model::Usage;
use adk_core::session::Session;
use adk_core::{Error, Event, LoopEnd, Result, RunEnd, RunStream, Waiting};
use std::sync::Arc;

/// A run that has ended.
pub(super) struct PlayedRun {
    pub(super) events: Vec<Arc<Event>>,
    pub(super) loops: Vec<LoopEnd>,
    pub(super) usage: Usage,
    /// The session, if the run has finished.
    pub(super) session: Option<Arc<Session>>,
    pub(super) error: Option<Error>,
    /// The open questions of a run that waits for a person.
    pub(super) waiting: Vec<Waiting>,
}

/// Runs a workflow to its end.
///
/// # Errors
/// When the run cannot begin.
pub(super) async fn play<T: Send + 'static>(
    mut stream: RunStream<'_, T>,
    tape: &Tape,
) -> Result<PlayedRun> {
    let (events, end) = drive(&mut stream, tape).await;
    let mut played = PlayedRun {
        events,
        loops: Vec::new(),
        usage: stream.usage(),
        session: None,
        error: None,
        waiting: Vec::new(),
    };
    match end {
        Ok(RunEnd::Finished(outcome)) => {
            played.usage = outcome.usage;
            played.session = Some(outcome.session().clone());
            played.loops = outcome.loops;
        }
        Ok(RunEnd::Paused(waiting)) => played.waiting = waiting,
        Ok(RunEnd::Failed | RunEnd::Running) => {}
        // The run did not begin: nothing of it can be compared.
        Err(error) if played.events.is_empty() && tape.state().begin.is_none() => {
            return Err(error);
        }
        Err(error) => played.error = Some(error),
    }
    Ok(played)
}
