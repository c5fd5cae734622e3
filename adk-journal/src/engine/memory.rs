//! [`MemoryEngine`]: the engine of runs that end with their process.

use super::{Body, ClaimId, Engine, Journal, Reply, Retention, Roles, Slot, StepKey, Stored, Wait};
use crate::session::Location;
use crate::{BoxFuture, Result};
use serde_json::Value;
use std::future::ready;

/// Stores events only in the session in memory, and records nothing. A run with this engine ends
/// with its process.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryEngine;

impl Journal for MemoryEngine {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        match body {
            Body::Ready(draft) => Reply::Ready(Ok(slot.append(draft))),
            Body::Update(update) => Reply::Ready(slot.append_update(*update)),
            Body::Call(work) => Reply::Later(Box::pin(async move { Ok(slot.append(work.await?)) })),
        }
    }

    fn step(
        &self,
        _: ClaimId,
        _: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        work
    }

    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(ready(Ok(None)))
    }
}

impl Engine for MemoryEngine {
    fn retention(&self) -> Retention {
        Retention::None
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
            timers: None,
        }
    }
}
