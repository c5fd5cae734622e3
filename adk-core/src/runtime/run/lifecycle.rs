//! Opt-in events of agents and blocks that begin and end (adk-python, issue 6267).

use super::{Context, LoopEndReason, Run};
use crate::encode::to_json;
use crate::spec::NodeKind;
use crate::store::event::Event;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The key of [`Event::custom_metadata`] under which a lifecycle event says `start` or `finish`, in the words of
/// adk-python's pull request 6269.
pub const AGENT_LIFECYCLE_KEY: &str = "agent_lifecycle";

/// The key of [`Event::custom_metadata`] that holds a whole [`Lifecycle`].
pub const LIFECYCLE_KEY: &str = "lifecycle";

/// An agent or a block begins or ends: what [`Event::lifecycle`] gives where `RunConfig::lifecycle_events` is set.
///
/// Which one it is says the event: its author, its path with rounds, its branch and its `loop_iteration`. Such an event is
/// partial and has no content: it is handed on and not stored, since it tells nothing that the session does not know but
/// times, and a run that is taken up again begins its agents once more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lifecycle {
    /// What begins or ends: an agent of some kind, a workflow, or a block.
    pub kind: NodeKind,
    /// Which of the two.
    #[serde(flatten)]
    pub phase: LifecyclePhase,
}

/// Whether it begins or ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum LifecyclePhase {
    /// It begins: nothing of it has run yet, also none of its callbacks.
    Started,
    /// It has ended; this is its last event.
    Finished {
        /// How long it took, also while the consumer of the stream held it back.
        #[serde(with = "micros", rename = "durationMicros")]
        duration: Duration,
        /// How it ended.
        outcome: LifecycleOutcome,
    },
}

/// How an agent or a block ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LifecycleOutcome {
    /// It ran to its end.
    Completed,
    /// A loop ended.
    LoopEnded {
        /// How many rounds were begun.
        rounds: u32,
        /// Why.
        reason: LoopEndReason,
    },
    /// An agent ended a loop around it, or something inside of a block ended one around the block.
    Exited,
    /// A `before_agent` callback answered in its place.
    Skipped,
    /// It failed.
    Failed {
        /// The error, with its place and its remedy.
        error: String,
    },
    /// It was cut off, since a sibling had failed or ended the loop around both.
    Cancelled,
}

impl Event {
    /// What begins or ends, when this event tells that; see [`RunConfig::lifecycle_events`](super::RunConfig).
    pub fn lifecycle(&self) -> Option<Lifecycle> {
        let metadata = &self.details.as_ref()?.custom_metadata;
        Lifecycle::deserialize(metadata.get(LIFECYCLE_KEY)?).ok()
    }
}

/// An agent or block that has begun. When it is dropped before its end, it was cancelled.
pub(crate) struct Watch {
    run: Arc<Run>,
    /// Who and where, without a word about what.
    event: Event,
    kind: NodeKind,
    since: Instant,
    ended: bool,
}

impl Watch {
    /// The agent or block at the path of the context begins; `None` if such events are off.
    pub(crate) async fn begin(kind: NodeKind, cx: &Context) -> Option<Box<Self>> {
        if !cx.config().lifecycle_events {
            return None;
        }
        let event = Event {
            author: cx.author().clone(),
            path: cx.path().clone(),
            branch: cx.branch().map(Arc::from),
            invocation_id: cx.run_id(),
            partial: true,
            ..Event::new()
        };
        let (run, since) = (cx.run.clone(), Instant::now());
        let watch = Box::new(Self { run, event, kind, since, ended: false });
        let ticket = watch.tell(LifecyclePhase::Started);
        watch.run.outbox().until_taken(ticket).await;
        Some(watch)
    }

    /// It ends.
    pub(crate) async fn end(mut self: Box<Self>, outcome: LifecycleOutcome) {
        self.ended = true;
        let ticket = self.tell(LifecyclePhase::Finished { duration: self.since.elapsed(), outcome });
        self.run.outbox().until_taken(ticket).await;
    }

    /// Puts the event on its way. It passes by the engine and the plugins, who see what happens themselves.
    fn tell(&self, phase: LifecyclePhase) -> u64 {
        let mut event = self.event.clone();
        let word = if phase == LifecyclePhase::Started { "start" } else { "finish" };
        let lifecycle = to_json(&Lifecycle { kind: self.kind, phase });
        let metadata = &mut event.details_mut().custom_metadata;
        metadata.insert(AGENT_LIFECYCLE_KEY.into(), Value::from(word));
        metadata.insert(LIFECYCLE_KEY.into(), lifecycle.unwrap_or_default());
        self.run.session().stamp(&mut event, self.run.delivery.seed);
        self.run.outbox().push(Arc::new(event))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.ended {
            let (duration, outcome) = (self.since.elapsed(), LifecycleOutcome::Cancelled);
            self.tell(LifecyclePhase::Finished { duration, outcome });
        }
    }
}

/// For people: `loop finished in 1.2s`.
impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            NodeKind::Llm | NodeKind::Function | NodeKind::Custom => "agent",
            NodeKind::Workflow => "workflow",
            NodeKind::Await => "await",
            NodeKind::Loop => "loop",
            _ => "block",
        };
        let LifecyclePhase::Finished { duration, outcome } = &self.phase else {
            return write!(f, "{kind} started");
        };
        match outcome {
            LifecycleOutcome::Completed => write!(f, "{kind} finished"),
            LifecycleOutcome::LoopEnded { rounds, .. } => write!(f, "{kind} finished in round {rounds}"),
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

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}
