//! Where a run meets what outlives it: commits of events, recorded calls, answers from outside.

use crate::event::Event;
use crate::flow::Flow;
use crate::id::IdSeed;
use crate::outbox::Outbox;
use crate::session::Session;
use crate::{BoxFuture, Name, Path, Result, RunId};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// An answer that is there, or one that comes later. An engine in memory never waits, so it never allocates.
#[allow(missing_debug_implementations)]
pub enum Reply<'a, T> {
    /// It is there.
    Ready(T),
    /// It comes later.
    Later(BoxFuture<'a, T>),
}

/// The slot of an event; its key is (run, path with rounds, nth).
#[derive(Debug)]
#[non_exhaustive]
pub struct Slot<'a> {
    /// The run.
    pub run_id: RunId,
    /// The path of the agent that emits.
    pub path: &'a Path,
    /// How many events this agent has emitted before in this turn.
    pub nth: u32,
    pub(crate) session: &'a Session,
    pub(crate) seed: IdSeed,
    pub(crate) outbox: &'a Outbox,
    /// Where the event stands in the outbox, once it has been appended.
    pub(crate) ticket: &'a AtomicU64,
}

impl Slot<'_> {
    /// Gives the event its id, time and place, applies it to the session, appends it to its log, and puts it on its
    /// way to the consumer: all at once, so that events are delivered in the order of the log, also when commits
    /// overtake each other, and that one whose branch is cancelled in the middle of its commit is delivered too.
    pub fn append(&self, event: Event) -> Arc<Event> {
        let event = self.session.append(event, self.seed);
        self.ticket.store(self.outbox.push(event.clone()), Relaxed);
        event
    }
}

/// Where in a run a call is made; `writing/refinement#2/critic:model@0` as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepKey {
    /// The run.
    pub run_id: RunId,
    /// The path of the agent that calls.
    pub path: Path,
    /// What is called.
    pub name: Name,
    /// How many calls this agent has made before in this turn.
    pub index: u32,
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}@{}", self.path, self.name, self.index)
    }
}

/// Makes a run survive, or not: each event, each side effect and each wait goes through it.
pub trait Engine: Send + Sync + 'static {
    /// Stores the event once and gives it id, time and place; the event of an earlier attempt wins.
    fn commit<'a>(&'a self, slot: Slot<'a>, event: Event) -> Reply<'a, Result<Arc<Event>>>;

    /// Answers from the record, or does the work and records the result.
    fn step(&self, key: StepKey, work: BoxFuture<'static, Result<Value>>) -> BoxFuture<'_, Result<Value>>;

    /// The value given from outside. `None`: park, the run comes back by re-execution.
    fn answer(&self, key: StepKey) -> BoxFuture<'_, Result<Option<Value>>>;

    /// An agent ended. Written with the next commit: losing it costs a re-execution and no call.
    fn note(&self, _path: &Path, _flow: &Flow) {}

    /// Whether results of steps are kept. Where they are not, none is turned into JSON for it.
    fn records(&self) -> bool {
        true
    }
}

/// Keeps nothing beyond the session in memory: the engine of a run that ends with its process.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryEngine;

impl Engine for MemoryEngine {
    fn commit<'a>(&'a self, slot: Slot<'a>, event: Event) -> Reply<'a, Result<Arc<Event>>> {
        Reply::Ready(Ok(slot.append(event)))
    }

    fn step(&self, _: StepKey, work: BoxFuture<'static, Result<Value>>) -> BoxFuture<'_, Result<Value>> {
        work
    }

    fn answer(&self, _: StepKey) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn records(&self) -> bool {
        false
    }
}
