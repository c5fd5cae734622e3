//! [`FailedAttempt`]: the metadata of events about failed attempts of a `try`, and about winners of
//! a `parallel(first)`.

use super::Event;
use crate::encode::to_json;
use serde::{Deserialize, Serialize};

/// The key of [`Event::custom_metadata`] that holds a whole [`FailedAttempt`].
pub const ATTEMPT_KEY: &str = "failed_attempt";

/// The key of [`Event::custom_metadata`] that names the branch that has won a `parallel(first)`.
pub const WINNER_KEY: &str = "winner";

/// A failed attempt of a `try`, as [`Event::failed_attempt`] returns it.
///
/// The event identifies the `try`: by its author, and by its path with the attempt as the round,
/// `try_1#2`. Such an event has no content, so models do not see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// The number of the attempt, counted from 1.
    pub attempt: u32,
    /// The highest number of attempts.
    pub of: u32,
    /// The error message, with the path of the failed agent and the remedy.
    pub error: String,
    /// Whether another attempt follows; otherwise the `else` does.
    pub again: bool,
}

impl FailedAttempt {
    /// Creates the report of an attempt.
    pub fn new(attempt: u32, of: u32, error: String, again: bool) -> Self {
        Self {
            attempt,
            of,
            error,
            again,
        }
    }

    /// Creates the event of the `try`.
    pub fn event(&self) -> Event {
        Event::new().with_metadata(ATTEMPT_KEY, to_json(self).unwrap_or_default())
    }
}

impl Event {
    /// Returns the failed attempt of a `try`, if this event reports one.
    pub fn failed_attempt(&self) -> Option<FailedAttempt> {
        FailedAttempt::deserialize(self.details.as_ref()?.custom_metadata.get(ATTEMPT_KEY)?).ok()
    }

    /// Returns the name of the branch that has won a `parallel(first)`, if this event reports one.
    pub fn winner(&self) -> Option<&str> {
        self.details
            .as_ref()?
            .custom_metadata
            .get(WINNER_KEY)?
            .as_str()
    }
}
