//! [`LifecycleReporter`]: reports the start and the end of agents and blocks, and the progress of
//! an `each`.

use super::{Context, Run};
use crate::encode::to_json;
use crate::spec::NodeKind;
use crate::store::event::Event;
use crate::{AGENT_LIFECYCLE_KEY, LIFECYCLE_KEY, Lifecycle, LifecycleOutcome, LifecyclePhase};
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

/// An agent or block that has begun. A drop before its end reports a cancellation.
pub(crate) struct LifecycleReporter {
    run: Arc<Run>,
    /// The fields that all events of the agent or block share, without metadata.
    event: Event,
    kind: NodeKind,
    since: Instant,
    /// Whether the agent or block waits until the consumer has taken its events. The recorded part
    /// of a resumed run does not wait, so that the run repeats it at once.
    waits: bool,
    ended: bool,
}

impl LifecycleReporter {
    /// Reports the start of the agent or block at the path of the context; `None` if such events
    /// are off.
    pub(crate) async fn begin(kind: NodeKind, cx: &Context) -> Option<Box<Self>> {
        if !cx.config().lifecycle_events {
            return None;
        }
        let (run, since) = (cx.run.clone(), Instant::now());
        let watch = Box::new(Self {
            run,
            event: lifecycle_event(cx),
            kind,
            since,
            waits: cx.run.kind.active_replay().is_none(),
            ended: false,
        });
        let ticket = watch.send(LifecyclePhase::Started);
        watch.wait(ticket).await;
        Some(watch)
    }

    /// Reports the end.
    pub(crate) async fn end(mut self: Box<Self>, outcome: LifecycleOutcome) {
        self.ended = true;
        let ticket = self.send(LifecyclePhase::Finished {
            duration: self.since.elapsed(),
            outcome,
        });
        self.wait(ticket).await;
    }

    async fn wait(&self, ticket: u64) {
        if self.waits {
            self.run.outbox().until_taken(ticket).await;
        }
    }

    fn send(&self, phase: LifecyclePhase) -> u64 {
        send(
            self.event.clone(),
            Lifecycle::new(self.kind, phase),
            &self.run,
        )
    }
}

impl Context {
    /// Reports how many elements of the `each` at the path of the context have ended. Does not wait
    /// for the consumer, who slows each element down at the element's own events.
    pub(crate) fn report_progress(&self, ended: usize, skipped: usize, total: usize) {
        let phase = LifecyclePhase::Progress {
            ended,
            skipped,
            total,
        };
        let lifecycle = Lifecycle::new(NodeKind::Each, phase);
        send(lifecycle_event(self), lifecycle, &self.run);
    }
}

/// Returns the fields that all lifecycle events of the agent or block of the context share.
fn lifecycle_event(cx: &Context) -> Event {
    Event {
        author: cx.author().clone(),
        path: cx.path().clone(),
        branch: cx.branch().map(Arc::from),
        invocation_id: cx.run_id(),
        partial: true,
        ..Event::new()
    }
}

/// Pushes an event to the outbox, and returns its ticket. Engines and plugins do not get it,
/// because they see starts and ends themselves.
fn send(mut event: Event, lifecycle: Lifecycle, run: &Run) -> u64 {
    let word = match lifecycle.phase {
        LifecyclePhase::Started => Some("start"),
        LifecyclePhase::Finished { .. } => Some("finish"),
        _ => None,
    };
    let metadata = &mut event.details_mut().custom_metadata;
    if let Some(word) = word {
        metadata.insert(AGENT_LIFECYCLE_KEY.into(), Value::from(word));
    }
    let lifecycle = to_json(&lifecycle).unwrap_or_default();
    metadata.insert(LIFECYCLE_KEY.into(), lifecycle);
    run.session().stamp(&mut event, run.delivery.seed);
    run.outbox().push(Arc::new(event))
}

impl Drop for LifecycleReporter {
    fn drop(&mut self) {
        if !self.ended {
            let (duration, outcome) = (self.since.elapsed(), LifecycleOutcome::Cancelled);
            self.send(LifecyclePhase::Finished { duration, outcome });
        }
    }
}
