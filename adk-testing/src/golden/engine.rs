//! [`GoldenEngine`]: answers calls from a [`Tape`], and releases commits in recorded order.

use super::place::CallPlace;
use super::tape::Tape;
use adk_core::engine::{
    Body, CallInputs, CallKind, ClaimId, Draft, Engine, Journal, Reply, Retention, Roles, Slot,
    StepKey, Stored, TimerKind, Timers, Wait,
};
use adk_core::session::Location;
use adk_core::{BoxFuture, Event, Result};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An engine in memory whose calls are answered from a tape. A runner keeps the engine while the
/// tape is replaced between two runs.
#[derive(Clone)]
pub(super) struct GoldenEngine(Arc<Mutex<Arc<Tape>>>);

impl GoldenEngine {
    pub(super) fn new(tape: Arc<Tape>) -> Self {
        Self(Arc::new(Mutex::new(tape)))
    }

    /// Sets the tape of the next run.
    pub(super) fn set_tape(&self, tape: Arc<Tape>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = tape;
    }

    fn tape(&self) -> Arc<Tape> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Journal for GoldenEngine {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        let tape = self.tape();
        Reply::Later(Box::pin(async move {
            if let Some(begin) = &slot.begins {
                tape.state().begin = Some(begin.clone());
            }
            let (text, path) = (slot.to_string(), slot.path.clone());
            let body = match body {
                Body::Call(work) => Body::Ready(call_of_event(&tape, &slot, work).await?),
                body => body,
            };
            tape.commit(text, &path, |note| match body {
                Body::Ready(draft) => {
                    note.escalates = draft.event.actions.escalates();
                    Ok(slot.append(draft))
                }
                Body::Update(update) => {
                    note.is_update = true;
                    slot.append_update(*update)
                }
                Body::Call(_) => Ok(slot.append(Draft::default())),
            })
            .await
        }))
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let inputs = CallInputs::default();
            self.step_with_inputs(claim, key, &inputs, work).await
        })
    }

    fn step_with_inputs<'a>(
        &'a self,
        _: ClaimId,
        key: StepKey,
        inputs: &'a CallInputs,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'a, Result<Value>> {
        let tape = self.tape();
        Box::pin(async move { tape.call(key, inputs, work).await })
    }

    fn reads_inputs(&self) -> bool {
        true
    }

    fn answer(&self, _: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        let tape = self.tape();
        let question = json!({
            "question": wait.waiting.question,
            "schema": wait.waiting.schema,
        });
        Box::pin(std::future::ready(Ok(tape.wait(&wait.key, &question))))
    }
}

/// Makes or replays a call whose event is its record.
async fn call_of_event(
    tape: &Tape,
    slot: &Slot,
    work: BoxFuture<'static, Result<Draft>>,
) -> Result<Draft> {
    // The slot has the number of the event, so the key is unique at its path.
    let key = StepKey::new(
        slot.run_id,
        slot.path.clone(),
        CallKind::Step,
        "event",
        slot.nth,
    );
    let inputs = CallInputs::default();
    let record = tape
        .call(key, &inputs, async {
            let Draft { event, temp, .. } = work.await?;
            let temp: serde_json::Map<_, _> = temp
                .iter()
                .map(|(key, value)| (key.to_string(), Value::clone(value)))
                .collect();
            let event = serde_json::to_value(&*event).unwrap_or_default();
            Ok(json!({ "$value": { "event": event, "temp": temp } }))
        })
        .await?;
    let value = record.get("$value").cloned().unwrap_or_default();
    let event = value.get("event").cloned().unwrap_or_default();
    let event: Event = serde_json::from_value(event).unwrap_or_default();
    let mut draft = Draft::new(event);
    if let Some(temp) = value.get("temp").and_then(Value::as_object) {
        for (key, value) in temp {
            draft.temp.insert(key.clone(), value.clone());
        }
    }
    Ok(draft)
}

impl Engine for GoldenEngine {
    fn retention(&self) -> Retention {
        Retention::Process
    }

    fn location(&self) -> Location {
        Location::Memory
    }

    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: Some(self),
        }
    }
}

/// A replay does not wait: pauses end at once, and a limit ends only if the recorded run reached
/// it.
impl Timers for GoldenEngine {
    fn sleep(&self, key: StepKey, time: Duration, kind: TimerKind) -> BoxFuture<'static, ()> {
        let (tape, place) = (self.tape(), CallPlace::of_key(&key.to_string()));
        Box::pin(async move {
            match (tape.mode.is_replay(), kind) {
                (true, TimerKind::Pause) => {}
                (true, TimerKind::Limit) => tape.limit(place).await,
                (false, TimerKind::Pause) => tokio::time::sleep(time).await,
                (false, TimerKind::Limit) => {
                    tokio::time::sleep(time).await;
                    tape.note_limit(place);
                }
            }
        })
    }
}
