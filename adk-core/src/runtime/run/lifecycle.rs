//! [`LifecycleReporter`]: reports the start and the end of agents and blocks.

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
    ended: bool,
}

impl LifecycleReporter {
    /// Reports the start of the agent or block at the path of the context; `None` if such events
    /// are off.
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
        let watch = Box::new(Self {
            run,
            event,
            kind,
            since,
            ended: false,
        });
        let ticket = watch.send(LifecyclePhase::Started);
        watch.run.outbox().until_taken(ticket).await;
        Some(watch)
    }

    /// Reports the end.
    pub(crate) async fn end(mut self: Box<Self>, outcome: LifecycleOutcome) {
        self.ended = true;
        let ticket = self.send(LifecyclePhase::Finished {
            duration: self.since.elapsed(),
            outcome,
        });
        self.run.outbox().until_taken(ticket).await;
    }

    /// Pushes the event to the outbox. Engines and plugins do not get it, because they see starts
    /// and ends themselves.
    fn send(&self, phase: LifecyclePhase) -> u64 {
        let mut event = self.event.clone();
        let word = if phase == LifecyclePhase::Started {
            "start"
        } else {
            "finish"
        };
        let lifecycle = to_json(&Lifecycle::new(self.kind, phase));
        let metadata = &mut event.details_mut().custom_metadata;
        metadata.insert(AGENT_LIFECYCLE_KEY.into(), Value::from(word));
        metadata.insert(LIFECYCLE_KEY.into(), lifecycle.unwrap_or_default());
        self.run.session().stamp(&mut event, self.run.delivery.seed);
        self.run.outbox().push(Arc::new(event))
    }
}

impl Drop for LifecycleReporter {
    fn drop(&mut self) {
        if !self.ended {
            let (duration, outcome) = (self.since.elapsed(), LifecycleOutcome::Cancelled);
            self.send(LifecyclePhase::Finished { duration, outcome });
        }
    }
}
