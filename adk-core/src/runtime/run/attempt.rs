//! What events of blocks say of failures and races: the attempts of a `try`, and the winner of a `parallel(first)`.

use crate::encode::to_json;
use crate::store::event::Event;
use serde::{Deserialize, Serialize};

/// The key of [`Event::custom_metadata`] that holds a whole [`FailedAttempt`].
pub const ATTEMPT_KEY: &str = "failed_attempt";

/// The key of [`Event::custom_metadata`] that names the branch that has won a `parallel(first)`.
pub const WINNER_KEY: &str = "winner";

/// An attempt of a `try` has failed: what [`Event::failed_attempt`] gives.
///
/// Which `try` it is says the event: its author, and its path with the attempt as the round, `try_1#2`. Such an event has no
/// content, so models do not see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// Which attempt, counted from 1.
    pub attempt: u32,
    /// The most attempts.
    pub of: u32,
    /// The error, with its place and its remedy.
    pub error: String,
    /// Whether another attempt follows; otherwise the `else` does.
    pub again: bool,
}

impl FailedAttempt {
    /// The event of the `try`.
    pub(crate) fn event(&self) -> Event {
        Event::new().with_metadata(ATTEMPT_KEY, to_json(self).unwrap_or_default())
    }
}

impl Event {
    /// The attempt of a `try` that has failed, when this event tells that.
    pub fn failed_attempt(&self) -> Option<FailedAttempt> {
        FailedAttempt::deserialize(self.details.as_ref()?.custom_metadata.get(ATTEMPT_KEY)?).ok()
    }

    /// The name of the branch that has won a `parallel(first)`, when this event tells that.
    pub fn winner(&self) -> Option<&str> {
        self.details.as_ref()?.custom_metadata.get(WINNER_KEY)?.as_str()
    }
}
