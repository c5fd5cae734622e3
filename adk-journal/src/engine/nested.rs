//! [`NestedEngine`]: the engine of an agent that runs as a tool inside another run.

use super::{
    Body, CallInputs, ClaimId, Engine, Journal, MemoryEngine, Reply, Retention, Roles, Slot,
    StepKey, Stored, TimerKind, Timers, Wait,
};
use crate::session::Location;
use crate::{BoxFuture, Name, Result};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The engine of an inner run. Its events are private, so they stay in memory. Its steps are
/// recorded with the steps of the outer run, under the call of the tool:
/// `desk/clerk/reviewer:tool.reviewer@1/model@0`.
#[allow(missing_debug_implementations)]
pub struct NestedEngine {
    outer: Arc<dyn Engine>,
    claim: ClaimId,
    call: Name,
}

impl NestedEngine {
    /// Creates the engine for a call of the outer run.
    pub fn new(outer: Arc<dyn Engine>, claim: ClaimId, call: Name) -> Self {
        Self { outer, claim, call }
    }

    /// Returns the key in the outer run.
    pub fn key(&self, key: &StepKey) -> StepKey {
        let within = match &key.within {
            None => self.call.clone(),
            Some(inner) => Name::from(format!("{}/{inner}", self.call)),
        };
        StepKey {
            run_id: self.claim.run_id,
            within: Some(Box::new(within)),
            ..key.clone()
        }
    }
}

/// The engine that commits the events of the inner run.
const MEMORY: &MemoryEngine = &MemoryEngine;

impl Journal for NestedEngine {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        MEMORY.commit(slot, body)
    }

    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        self.outer.step(self.claim, self.key(&key), work)
    }

    fn step_with_inputs<'a>(
        &'a self,
        _: ClaimId,
        key: StepKey,
        inputs: &'a CallInputs,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'a, Result<Value>> {
        self.outer
            .step_with_inputs(self.claim, self.key(&key), inputs, work)
    }

    fn reads_inputs(&self) -> bool {
        self.outer.reads_inputs()
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        MEMORY.answer(claim, wait)
    }
}

impl Engine for NestedEngine {
    fn retention(&self) -> Retention {
        self.outer.retention()
    }

    fn location(&self) -> Location {
        MEMORY.location()
    }

    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: self.outer.timers().map(|_| self as &dyn Timers),
        }
    }
}

impl Timers for NestedEngine {
    fn sleep(&self, key: StepKey, time: Duration, kind: TimerKind) -> BoxFuture<'static, ()> {
        match self.outer.timers() {
            Some(timers) => timers.sleep(self.key(&key), time, kind),
            None => Box::pin(tokio::time::sleep(time)),
        }
    }
}
