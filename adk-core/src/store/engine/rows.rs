//! The registry of runs as rows of text, for engines that keep it in a database.

use super::claim::Claim;
use super::registry::{ClaimedRun, Done, RunRecord, RunStatus};
use crate::store::event::StateDelta;
use crate::{Error, ErrorKind, Event, Result, StoreErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Anything of the registry as JSON text.
///
/// # Errors
/// Never in practice: all of the registry has a form in JSON.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| corrupt(format!("it has no form in JSON: {error}")))
}

/// The reverse of [`to_text`]; `what` it is, for the error.
///
/// # Errors
/// Of kind [`StoreErrorKind::Corrupt`], when it is not what [`to_text`] writes.
pub fn from_text<T: DeserializeOwned>(text: &str, what: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| corrupt(format!("{what} cannot be read: {error}")))
}

fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
        .with_help("was it written by another program?")
}

/// Keys with JSON text, as the rows of a journal are.
pub type Pairs = Vec<(String, String)>;

/// What is kept of one run, row by row.
#[derive(Clone, Debug, Default)]
pub struct RunRows {
    /// Slots with the `temp:` keys that their events have set.
    pub temps: Pairs,
    /// Keys of steps with what they gave.
    pub steps: Pairs,
    /// Paths with the agents that have finished there.
    pub done: Pairs,
    /// The ids of its waits.
    pub waits: Vec<String>,
}

impl ClaimedRun {
    /// A run that was claimed, from its rows.
    ///
    /// # Errors
    /// Of kind [`StoreErrorKind::Corrupt`], when a row cannot be read.
    pub fn from_rows(
        claim: Claim,
        record: RunRecord,
        events: Vec<Arc<Event>>,
        rows: RunRows,
    ) -> Result<Self> {
        let done: HashMap<_, Done> = map(&rows.done)?;
        let temp: HashMap<_, StateDelta> = map(&rows.temps)?;
        let steps: HashMap<_, Value> = map(&rows.steps)?;
        let (done, waits) = (done.into_values().collect(), rows.waits);
        Ok(Self { events, temp, steps, done, waits, ..Self::new(claim, record) })
    }
}

fn map<T: DeserializeOwned>(pairs: &Pairs) -> Result<HashMap<String, T>> {
    let read = |(key, text): &(String, String)| {
        Ok((key.clone(), from_text(text, &format!("the record of `{key}`"))?))
    };
    pairs.iter().map(read).collect()
}

impl RunStatus {
    /// How it is written, and the error of a run that has failed.
    pub fn to_row(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Running => ("running", None),
            Self::Paused => ("paused", None),
            Self::Finished => ("finished", None),
            Self::Failed(error) => ("failed", Some(error)),
            Self::Cancelled => ("cancelled", None),
        }
    }

    /// The reverse. What is not known is taken for a run that goes on, so that it is looked at again.
    pub fn from_row(status: &str, error: Option<String>) -> Self {
        match status {
            // It waits, and has an answer that it has not seen.
            "paused" | "answered" => Self::Paused,
            "finished" => Self::Finished,
            "failed" => Self::Failed(error.unwrap_or_default()),
            "cancelled" => Self::Cancelled,
            _ => Self::Running,
        }
    }
}
