//! [`Failure`]: why a replay cannot continue.

use super::place::CallPlace;
use adk_core::{Error, ErrorKind};

/// Why a replay cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The record has no answer for a call.
    Missing {
        place: CallPlace,
        nearest: Option<CallPlace>,
    },
    /// The record continues with an event that no agent emits.
    LostEvent(String),
    /// A tool would act again with other arguments.
    ActsAgain(CallPlace),
}

impl Failure {
    /// Returns the fact as a sentence without its end.
    pub(super) fn fact(&self) -> String {
        match self {
            Self::Missing {
                place,
                nearest: Some(nearest),
            } => format!("no answer is recorded for `{place}`; the nearest is `{nearest}`"),
            Self::Missing {
                place,
                nearest: None,
            } => format!("no answer is recorded for `{place}`"),
            Self::LostEvent(slot) => {
                let (path, number) = slot.split_once('!').unwrap_or((slot, "0"));
                format!(
                    "the record continues with event {number} of `{path}`, which no agent emits"
                )
            }
            Self::ActsAgain(place) => format!(
                "`{place}` would be called with other arguments than in the record, and its tool \
                 may act"
            ),
        }
    }

    /// Returns the error that ends the replay.
    pub(super) fn error(&self) -> Error {
        Error::new(ErrorKind::Diverged, self.fact())
    }
}
