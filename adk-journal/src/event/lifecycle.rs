//! [`Lifecycle`]: opt-in events for the start and end of agents and blocks (adk-python, issue
//! 6267), and for the progress of an `each`.

use super::Event;
use crate::LoopEndReason;
use adk_spec::spec::NodeKind;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The key of [`Event::custom_metadata`] under which a lifecycle event has `start` or `finish`, the
/// words of adk-python's pull request 6269. The progress of an `each` has no such word.
pub const AGENT_LIFECYCLE_KEY: &str = "agent_lifecycle";

/// The key of [`Event::custom_metadata`] that holds a whole [`Lifecycle`].
pub const LIFECYCLE_KEY: &str = "lifecycle";

/// The start or end of an agent or a block, or the progress of an `each`, as [`Event::lifecycle`]
/// returns it where `RunConfig::lifecycle_events` is set.
///
/// The event identifies the agent or block by its author, its path with rounds, its branch and its
/// `loop_iteration`. Such an event is partial and has no content. The stream delivers it, but no
/// store keeps it, because the session already knows all but the times. A resumed run also begins
/// its agents again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lifecycle {
    /// The kind of the agent, workflow or block.
    pub kind: NodeKind,
    /// The start, the end or the progress.
    #[serde(flatten)]
    pub phase: LifecyclePhase,
}

/// The start or the end of an agent or block, or the progress of an `each`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "phase",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum LifecyclePhase {
    /// The start. Nothing of the agent or block has run yet, including its callbacks.
    Started,
    /// The end. This is the last event of the agent or block.
    Finished {
        /// The duration, including the time for which the consumer of the stream delayed it.
        #[serde(with = "micros", rename = "durationMicros")]
        duration: Duration,
        /// The kind of the end.
        outcome: LifecycleOutcome,
    },
    /// The progress of an `each`: reported when its elements begin, and when an element has ended.
    /// A resumed run first repeats its recorded part, and then reports the elements that have
    /// ended. An element that ends the whole block, by an error or an exit, is reported only by
    /// the end of the block.
    Progress {
        /// The number of elements that have ended, including the skipped ones.
        ended: usize,
        /// The number of failed elements that `on_error = skip` leaves out.
        skipped: usize,
        /// The number of elements for which the block runs.
        total: usize,
    },
}

/// The kind of the end of an agent or block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LifecycleOutcome {
    /// The normal end.
    Completed,
    /// The end of a loop.
    LoopEnded {
        /// The number of rounds that were begun.
        rounds: u32,
        /// The reason of the end.
        reason: LoopEndReason,
    },
    /// The end by an exit: an agent ended an enclosing loop, or a part of a block ended a loop
    /// around the block.
    Exited,
    /// The end without a start: a `before_agent` callback answered in place of the agent or block.
    Skipped,
    /// The end by an error.
    Failed {
        /// The error, with its place and its remedy.
        error: String,
    },
    /// The end by cancellation, because a sibling had failed or ended the loop around both.
    Cancelled,
}

impl Lifecycle {
    /// Creates the report of a phase.
    pub fn new(kind: NodeKind, phase: LifecyclePhase) -> Self {
        Self { kind, phase }
    }
}

impl Event {
    /// Returns the start, end or progress that this event reports, if any; see
    /// `RunConfig::lifecycle_events`.
    pub fn lifecycle(&self) -> Option<Lifecycle> {
        let metadata = &self.details.as_ref()?.custom_metadata;
        Lifecycle::deserialize(metadata.get(LIFECYCLE_KEY)?).ok()
    }
}

/// A text for users: `loop finished in round 3 after 1.2s`, `212 of 300 elements`.
impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            NodeKind::Llm | NodeKind::Function | NodeKind::Custom => "agent",
            NodeKind::Workflow => "workflow",
            NodeKind::Await => "await",
            NodeKind::Loop => "loop",
            _ => "block",
        };
        let (duration, outcome) = match &self.phase {
            LifecyclePhase::Started => return write!(f, "{kind} started"),
            LifecyclePhase::Progress {
                ended,
                skipped,
                total,
            } => {
                write!(f, "{ended} of {total} elements")?;
                return match skipped {
                    0 => Ok(()),
                    skipped => write!(f, ", {skipped} skipped"),
                };
            }
            LifecyclePhase::Finished { duration, outcome } => (duration, outcome),
        };
        match outcome {
            LifecycleOutcome::Completed => write!(f, "{kind} finished"),
            LifecycleOutcome::LoopEnded { rounds, .. } => {
                write!(f, "{kind} finished in round {rounds}")
            }
            LifecycleOutcome::Exited => write!(f, "{kind} finished and ended a loop"),
            LifecycleOutcome::Skipped => write!(f, "{kind} skipped by a callback"),
            LifecycleOutcome::Failed { error } => {
                return write!(f, "{kind} failed after {duration:.1?}: {error}");
            }
            LifecycleOutcome::Cancelled => write!(f, "{kind} cancelled"),
        }?;
        write!(f, " after {duration:.1?}")
    }
}

/// Durations in JSON, as whole microseconds.
mod micros {
    use serde::{Deserialize as _, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}
