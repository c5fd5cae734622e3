//! [`Outcome`]: the result of a run.

use crate::LoopEnd;
use crate::model::{FinishReason, Usage, UsageByAgent};
use crate::store::engine::{BranchEnd, BranchReport, RunReport, Stored};
use crate::store::event::Event;
use crate::store::session::Session;
use crate::{Error, ErrorKind, Name, Result, RunId};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The result of a finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The declared output of the workflow.
    pub output: T,
    /// The loops of the run in the order of their ends. Empty if another process drove the run and
    /// the ends of its loops are unknown.
    pub loops: Vec<LoopEnd>,
    /// Tokens and model calls of all agents together.
    pub usage: Usage,
    /// The id of the run.
    pub run_id: RunId,
    /// The usage, with the names of agents.
    pub(crate) by_agent: UsageByAgent,
    pub(crate) session: Arc<Session>,
}

impl Outcome<BranchEnd> {
    /// Creates the report of a branch that ran in this process, with its committed events.
    pub fn branch_report(ended: Result<Self>, events: Vec<Stored>) -> BranchReport {
        match ended {
            Ok(outcome) => BranchReport::new(Ok(outcome.output))
                .with_events(events)
                .with_loops(outcome.loops)
                .with_usage(outcome.by_agent),
            Err(error) => BranchReport::new(Err(error)).with_events(events),
        }
    }
}

impl<T> Outcome<T> {
    /// Creates the report of a run that ran in this process.
    pub fn report(ended: Result<Self>) -> RunReport {
        match ended {
            Ok(Self {
                loops, by_agent, ..
            }) => RunReport::new(Ok(()), loops, by_agent),
            Err(error) => RunReport::new(Err(error), Vec::new(), UsageByAgent::default()),
        }
    }

    /// Returns the current value of a state key; `None` when it was never written.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<V: DeserializeOwned>(&self, key: &str) -> Result<Option<V>> {
        let Some(value) = self.session.get(key) else {
            return Ok(None);
        };
        V::deserialize(&*value).map(Some).map_err(|error| {
            let message = format!("state key `{key}` holds a value of another type: {error}");
            Error::new(ErrorKind::KeyType, message)
        })
    }

    /// Returns the replies of models that were cut off at the limit of output tokens, in the order
    /// of the log. A text that was cut off is still written to its key; `max_output_tokens` of the
    /// agent raises the limit.
    pub fn cut_off(&self) -> impl Iterator<Item = &Arc<Event>> {
        let is_cut_off = |event: &&Arc<Event>| {
            let finish = event
                .details
                .as_deref()
                .and_then(|details| details.finish_reason.as_ref());
            event.invocation_id == self.run_id && finish == Some(&FinishReason::MaxTokens)
        };
        self.session.events().filter(is_cut_off)
    }

    /// Returns the usage and cost of each agent in this run, by name. They add up to
    /// [`usage`](Self::usage): replies that an agent did not use and the calls of agents that are
    /// used as tools are included. Failed calls are not, because a provider reports no usage of
    /// them.
    pub fn cost_by_agent(&self) -> BTreeMap<Name, Usage> {
        self.by_agent.clone().into_agents()
    }

    /// Returns the session of the run.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}
