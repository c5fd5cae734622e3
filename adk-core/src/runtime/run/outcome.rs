//! How a run ended.

use crate::flow::LoopEnd;
use crate::models::model::{FinishReason, Usage};
use crate::store::engine::{BranchEnd, BranchReport, RunReport, Stored};
use crate::store::event::{COST_KEY, Event};
use crate::store::session::Session;
use crate::{Error, ErrorKind, Name, Result, RunId};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
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

impl RunReport {
    /// A run that ran here and ended so.
    pub fn of<T>(ended: Result<Outcome<T>>) -> Self {
        match ended {
            Ok(Outcome { loops, usage, .. }) => Self::new(Ok(()), loops, usage),
            Err(error) => Self::new(Err(error), Vec::new(), Usage::default()),
        }
    }
}

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What the workflow declared as its output.
    pub output: T,
    /// Each loop that ended, in the order in which they did. None of a run that another process has driven, when nobody can say
    /// any more how it ended.
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

    /// What each agent has used and cost in this run, by its name, as the answers of the models say it in the log. What is not there
    /// is missing: calls that failed, and those of agents that are used as tools.
    pub fn cost_by_agent(&self) -> BTreeMap<Name, Usage> {
        let mut costs: BTreeMap<Name, Usage> = BTreeMap::new();
        let own = self.session.events().filter(|event| event.invocation_id == self.run_id && !event.partial);
        for event in own {
            let Some(details) = event.details.as_deref() else { continue };
            let Some(usage) = details.usage else { continue };
            let told = details.custom_metadata.get(COST_KEY).and_then(Value::as_str);
            let cost = told.and_then(|told| told.split(' ').next()?.parse().ok()).unwrap_or_default();
            *costs.entry(event.author.clone()).or_default() += Usage { cost, calls: 1, ..usage };
        }
        costs
    }

    /// The session that the run worked on.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}
