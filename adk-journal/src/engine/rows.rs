//! [`RunRows`]: the registry of runs as rows of text, for engines that keep it in a database.

use super::claim::Claim;
use super::registry::{ClaimedRun, Done, RunRecord, RunStatus};
use super::run_error::RunError;
use crate::event::StateDelta;
use crate::{Error, ErrorKind, Event, Result, StoreErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns a value of the registry as JSON text.
///
/// # Errors
/// Never in practice: all types of the registry have a form in JSON.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| corrupt(format!("the value has no form in JSON: {error}")))
}

/// Reads a value from the text of [`to_text`]. `what` names the value in the error.
///
/// # Errors
/// An error of kind [`StoreErrorKind::Corrupt`], when the text was not written by [`to_text`].
pub fn from_text<T: DeserializeOwned>(text: &str, what: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| corrupt(format!("{what} cannot be read: {error}")))
}

fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
        .with_help("was it written by another program?")
}

/// Keys with JSON text, as in the rows of a journal.
pub type Pairs = Vec<(String, String)>;

/// The stored rows of one run.
#[derive(Clone, Debug, Default)]
pub struct RunRows {
    /// Slots with the `temp:` keys that their events have set.
    pub temps: Pairs,
    /// Keys of steps with their records.
    pub steps: Pairs,
    /// The paths of finished agents, each with its [`Done`] mark.
    pub done: Pairs,
    /// The ids of its waits.
    pub waits: Vec<String>,
}

impl ClaimedRun {
    /// Creates a claimed run from its rows.
    ///
    /// # Errors
    /// An error of kind [`StoreErrorKind::Corrupt`], when a row cannot be read.
    pub fn from_rows(
        claim: Claim,
        record: RunRecord,
        events: Vec<Arc<Event>>,
        rows: RunRows,
    ) -> Result<Self> {
        let done: HashMap<_, Done> = parse_pairs(&rows.done)?;
        let temp: HashMap<_, StateDelta> = parse_pairs(&rows.temps)?;
        let steps: HashMap<_, Value> = parse_pairs(&rows.steps)?;
        let (done, waits) = (done.into_values().collect(), rows.waits);
        Ok(Self {
            events,
            temp,
            steps,
            done,
            waits,
            ..Self::new(claim, record)
        })
    }
}

fn parse_pairs<T: DeserializeOwned>(pairs: &Pairs) -> Result<HashMap<String, T>> {
    let read = |(key, text): &(String, String)| {
        Ok((
            key.clone(),
            from_text(text, &format!("the record of `{key}`"))?,
        ))
    };
    pairs.iter().map(read).collect()
}

impl RunStatus {
    /// Returns the name of the status.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the name of the status in a row, and the error of a failed run.
    pub fn to_row(&self) -> (&'static str, Option<String>) {
        let error = match self {
            Self::Failed(error) => to_text(error).ok(),
            _ => None,
        };
        (self.name(), error)
    }

    /// Reads the status of a row. An unknown name counts as running, so that a process looks at the
    /// run again.
    pub fn from_row(status: &str, error: Option<String>) -> Self {
        match status {
            "queued" => Self::Queued,
            // `answered`: the run waits, and has an answer that it has not read yet.
            "paused" | "answered" => Self::Paused,
            "finished" => Self::Finished,
            "failed" => Self::Failed(RunError::from_column(error.unwrap_or_default())),
            "cancelled" => Self::Cancelled,
            _ => Self::Running,
        }
    }
}
