//! How a run ended.

use crate::flow::LoopEnd;
use crate::models::model::{FinishReason, Usage};
use crate::store::engine::{BranchEnd, BranchReport, Stored};
use crate::store::event::Event;
use crate::store::session::Session;
use crate::{Error, ErrorKind, Result, RunId};
use serde::de::DeserializeOwned;
use std::sync::Arc;

impl BranchReport {
    /// A branch that ran here and ended so, with what it has committed.
    pub fn of(ended: Result<Outcome<BranchEnd>>, events: Vec<Stored>) -> Self {
        match ended {
            Ok(Outcome { output, loops, usage, .. }) => Self { end: Ok(output), events, loops, usage },
            Err(error) => Self::new(Err(error)).with_events(events),
        }
    }
}

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What the workflow declared as its output.
    pub output: T,
    /// Each loop that ended, in the order in which they did.
    pub loops: Vec<LoopEnd>,
    /// Tokens and model calls of all agents together.
    pub usage: Usage,
    /// The run.
    pub run_id: RunId,
    pub(crate) session: Arc<Session>,
}

impl<T> Outcome<T> {
    /// The value of a state key as it is now; `None` when it was never written.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<V: DeserializeOwned>(&self, key: &str) -> Result<Option<V>> {
        let Some(value) = self.session.get(key) else { return Ok(None) };
        V::deserialize(&*value).map(Some).map_err(|error| {
            let message = format!("state key `{key}` holds a value of another type: {error}");
            Error::new(ErrorKind::KeyType, message)
        })
    }

    /// The replies of models that were cut off at the limit of output tokens, in the order of the log. Text that was cut
    /// off is written to its key as it came; `max_output_tokens` of the agent raises the limit.
    pub fn cut_off(&self) -> impl Iterator<Item = &Arc<Event>> {
        let is_cut_off = |event: &&Arc<Event>| {
            let finish = event.details.as_deref().and_then(|details| details.finish_reason.as_ref());
            event.invocation_id == self.run_id && finish == Some(&FinishReason::MaxTokens)
        };
        self.session.events().filter(is_cut_off)
    }

    /// The session that the run worked on.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}
