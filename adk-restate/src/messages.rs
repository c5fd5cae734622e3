//! Inputs and results of the handlers, as JSON in the journals of Restate.

use adk_core::engine::{BranchEnd, BranchReport, BranchTask, Waiting, error_to_value};
use adk_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Input of the handler of a branch.
#[derive(Serialize, Deserialize)]
pub(crate) struct BranchCall {
    pub(crate) task: BranchTask,
    /// The invocation of the handler that started the branch.
    pub(crate) parent: String,
    pub(crate) workflow: String,
    pub(crate) branches: String,
}

/// Result of the handler of a branch.
#[derive(Serialize, Deserialize)]
pub(crate) struct BranchResult {
    /// The [`BranchReport`] without its events.
    pub(crate) report: Value,
    /// Places of the branch's events in the log.
    pub(crate) places: Vec<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cancelled: bool,
}

impl BranchResult {
    /// Returns the result of a branch that was cancelled after it had committed the events at these
    /// places.
    pub(crate) fn cancelled(places: Vec<u64>) -> Result<Self> {
        let report = BranchReport::new(Ok(BranchEnd::default())).to_value()?;
        Ok(Self {
            report,
            places,
            is_cancelled: true,
        })
    }
}

/// Input of the handler that answers a wait.
#[derive(Serialize, Deserialize)]
pub(crate) struct AnswerCall {
    pub(crate) app: String,
    pub(crate) wait: String,
    /// The answer in recorded form.
    pub(crate) value: Value,
}

impl AnswerCall {
    /// Returns the answer to a wait whose deadline has passed.
    pub(crate) fn too_late(app: &str, waiting: Waiting) -> Self {
        let value = waiting.otherwise.unwrap_or_else(|| {
            let message = "no answer arrived in time, and the wait has no default";
            let error = Error::new(ErrorKind::Expired, message);
            error_to_value(&error.with_help("answer earlier, or give the wait a `default`"))
        });
        Self {
            app: app.to_owned(),
            wait: waiting.id,
            value,
        }
    }
}
