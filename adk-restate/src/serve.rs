//! [`Serving`]: the loop that serves a run, or a branch of one, inside a handler of Restate.
//!
//! Restate executes a handler repeatedly and compares its requests with the journal. Therefore the
//! order of requests may depend only on the workflow and on earlier results. To ensure this, the
//! loop finishes local work (commits, loads of sessions) before it looks at results of Restate.
//! Commits are not journal entries, because the store fills each slot once and returns the event of
//! a filled slot. An entry [precedes](crate::checked) a commit only where an incompatible version
//! might commit.

mod attempt;
mod queue;
mod requests;
mod results;

use self::attempt::Attempt;
use self::queue::{Awaited, Branches, Open, Queue, waits_of};
use crate::Worker;
use crate::batch::{Batch, FinishedCall, FinishedEvent, Stopped};
use crate::checked;
use crate::handle::{Handle, Stop};
use crate::idle::Gate;
use crate::local::Local;
use crate::messages::BranchResult;
use crate::posted::{Answer, Effect, fails_attempt};
use crate::service::Context;
use adk_core::engine::{Body, DrivenRun, Reply, Slot, Stored, TimerKind, refuse};
use adk_core::model::Usage;
use adk_core::{BoxFuture, Error, ErrorKind, Outcome, Result, RunEnd, RunStream};
use futures_util::future::{Either, FutureExt, select};
use restate_sdk::context::macro_support::SealedDurableFuture;
use restate_sdk::serde::Json;
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::unconstrained;

/// The first and the longest time after which a handler with running calls checks whether its run
/// was cancelled. Each check doubles the time.
const LOOK: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(16));

/// The outcome of executing the calls that agents have requested.
enum Performed {
    /// No call was requested.
    Nothing,
    All,
    Part(Stopped),
}

pub(crate) struct Serving<'a, T> {
    handle: Handle<'a>,
    gate: Gate,
    /// Whether [`Gate::pause`] was called, because all work waits.
    is_idle: bool,
    attempt: Attempt<T>,
    /// Events that earlier attempts have stored, by slot.
    known: HashMap<String, Stored>,
    queue: Queue<'a>,
    branches: Branches,
    look: Duration,
    places: Vec<u64>,
}

/// End of a run or of a branch.
pub(crate) struct Served<T> {
    pub(crate) end: Result<Outcome<T>>,
    pub(crate) places: Vec<u64>,
    /// The usage of models that the events of the run report.
    pub(crate) usage: Usage,
}

impl<'a, T: Send + 'static> Serving<'a, T> {
    pub(crate) fn new(
        handle: Handle<'a>,
        gate: Gate,
        stream: RunStream<'static, T>,
        (posted, local): (mpsc::UnboundedReceiver<Effect>, Local),
        known: Option<DrivenRun>,
        trace: Option<String>,
    ) -> Self {
        Self {
            handle,
            gate,
            is_idle: false,
            attempt: Attempt {
                stream,
                failed: None,
                bell: Arc::default(),
                posted,
                local,
            },
            known: known
                .map(|run| run.events.into_iter().collect())
                .unwrap_or_default(),
            queue: Queue::default(),
            branches: Branches {
                running: BTreeMap::new(),
                next: 0,
                trace,
            },
            look: LOOK.0,
            places: Vec::new(),
        }
    }

    fn ctx(&self) -> &'a Context {
        self.handle.ctx
    }

    fn worker(&self) -> &'a Worker {
        self.handle.worker
    }

    pub(crate) async fn serve(mut self) -> (Result<(), Stop>, Served<T>) {
        let stopped = self.run().await;
        let (places, usage) = (self.places, self.attempt.stream.usage());
        let end = match (self.attempt.failed, self.attempt.stream.end()) {
            (Some(error), _) => Err(error),
            (None, RunEnd::Finished(outcome)) => Ok(outcome),
            (None, _) => Err(refuse::cancelled(self.handle.run_id)),
        };
        (stopped, Served { end, places, usage })
    }

    async fn run(&mut self) -> Result<(), Stop> {
        let served = self.until_end().await;
        if let Err(Stop::Retry(_) | Stop::Failed(_)) = served {
            return served;
        }
        self.finish_branches().await?;
        served
    }

    async fn until_end(&mut self) -> Result<(), Stop> {
        loop {
            if self.settle().await? {
                return Ok(());
            }
            self.drop_unwanted().await?;
            self.start().await?;
            match self.perform().await? {
                Performed::Nothing | Performed::Part(Stopped::Limit) => self.next(false).await?,
                Performed::All => self.look = LOOK.0,
                Performed::Part(Stopped::Look) => {
                    self.look = (self.look * 2).min(LOOK.1);
                    self.next(true).await?;
                }
            }
        }
    }

    /// Polls the run until it needs a result of Restate to continue. Returns whether the run has
    /// ended.
    async fn settle(&mut self) -> Result<bool, Stop> {
        loop {
            // The tasks of tokio have a cooperative budget. It would interrupt the polls at a
            // different point in each attempt.
            let has_ended =
                unconstrained(poll_fn(|task| self.attempt.advance(task, &mut self.queue))).await;
            match self.queue.commits.pop_front() {
                Some((commit, answer)) => self.commit(*commit, answer).await?,
                // If the attempt fails, it makes no further request to Restate.
                None => match self.attempt.failed.take_if(|error| fails_attempt(error)) {
                    Some(error) => return Err(error.into()),
                    None => return Ok(has_ended),
                },
            }
        }
    }

    async fn commit(
        &mut self,
        (slot, body): (Slot, Body),
        answer: Answer<Result<Stored>>,
    ) -> Result<(), Stop> {
        let text = slot.to_string();
        let known = self.known.get(&text).cloned();
        let is_checked = known
            .as_ref()
            .map_or_else(|| self.has_to_check(&slot, &body), checked::is_checked);
        if is_checked {
            self.handle.run(text, || async { Ok(()) }).await?;
        }
        let stored = match known {
            Some(known) => Ok(slot.deliver(known.place, known.event, known.temp)),
            None => {
                let body = if is_checked {
                    checked::mark(body)
                } else {
                    body
                };
                match self.worker().engine.commit(slot, body) {
                    Reply::Ready(stored) => stored,
                    Reply::Later(stored) => stored.await,
                }
            }
        };
        let stored = stored.map(checked::remove_mark);
        match &stored {
            Ok(stored) => self.places.push(stored.place),
            Err(error) if fails_attempt(error) => return stored.map(drop).map_err(Stop::from),
            Err(_) => {}
        }
        let _ = answer.send(stored);
        Ok(())
    }

    /// Reports whether a journal entry has to precede a commit. The first event of an element needs
    /// no entry, because it is the same in all versions. An update of state gets no entry, because
    /// it may fail, and would then leave no event to carry the mark.
    fn has_to_check(&self, slot: &Slot, body: &Body) -> bool {
        let begins = match &self.gate {
            Gate::Branch { path, .. } => {
                slot.nth == 0 && path.ends_with(']') && slot.path.to_string() == *path
            }
            Gate::Run(_) => false,
        };
        self.handle.replay.may_be_on() && !begins && matches!(body, Body::Ready(_))
    }

    /// Cancels branches and waits that no agent wants any more.
    async fn drop_unwanted(&mut self) -> Result<(), Stop> {
        for branch in self.branches.running.values_mut() {
            let is_cancelled = |cancelled: &mut BoxFuture<'static, ()>| {
                unconstrained(cancelled.as_mut()).now_or_never().is_some()
            };
            if branch.cancelled.take_if(is_cancelled).is_some() {
                branch.call.cancel();
            }
        }
        let (wanted, left) = std::mem::take(&mut self.queue.open)
            .into_iter()
            .partition(|open| self.wants(open));
        self.queue.open = wanted;
        self.handle.withdraw(waits_of(left)).await?;
        let waits: Vec<_> = self
            .queue
            .open
            .iter()
            .filter_map(|open| open.kind.wait().map(str::to_owned))
            .collect();
        self.queue.open.retain(|open| match &open.kind {
            Awaited::Deadline(waiting) => waits.contains(&waiting.id),
            _ => true,
        });
        Ok(())
    }

    fn wants(&self, open: &Open<'_>) -> bool {
        match &open.kind {
            Awaited::Answer { answer, .. } => !answer.is_closed(),
            Awaited::Timer { answer, .. } => !answer.is_closed(),
            Awaited::News(branch) => self.branches.running.contains_key(branch),
            Awaited::Look => false,
            Awaited::Deadline(_) | Awaited::Branch(_) => true,
        }
    }

    async fn perform(&mut self) -> Result<Performed, Stop> {
        self.queue.works.retain(|work| !work.is_abandoned());
        if self.queue.works.is_empty() {
            return Ok(Performed::Nothing);
        }
        let batch = Batch::new(std::mem::take(&mut self.queue.works));
        let limit = self
            .queue
            .open
            .iter()
            .filter_map(|open| open.kind.limit())
            .min();
        let (name, engine, look) = (batch.name(), self.worker().engine.clone(), self.look);
        let work = batch.clone();
        let work = move || async move { Ok(Json(work.perform(engine, limit, look).await?)) };
        let Json(entry) = self.handle.run(name, work).await?;
        let stopped = entry.stopped;
        let (called, left) = batch.settle(entry);
        self.queue.works = left;
        for called in called {
            self.deliver_call(called).await?;
        }
        Ok(stopped.map_or(Performed::All, Performed::Part))
    }

    async fn deliver_call(&mut self, called: FinishedCall) -> Result<(), Stop> {
        let FinishedCall {
            place,
            event,
            answer,
        } = called;
        let stored = match event {
            FinishedEvent::Stored(stored) => stored,
            FinishedEvent::Earlier(slot) => {
                let text = slot.to_string();
                if !self.known.contains_key(&text) {
                    self.known.extend(self.handle.stored(place).await?);
                }
                let known = self.known.get(&text).ok_or_else(|| missing_event(&text))?;
                slot.deliver(known.place, known.event.clone(), known.temp.clone())
            }
        };
        self.places.push(place);
        let _ = answer.send(Ok(stored));
        Ok(())
    }

    /// Waits for the first result from Restate.
    async fn next(&mut self, only_look: bool) -> Result<(), Stop> {
        if only_look {
            self.queue.open.push(Open {
                kind: Awaited::Look,
                future: self.handle.timer(Duration::ZERO),
            });
        } else if !self.is_idle && self.waits_for_outside() {
            self.gate
                .pause(&self.handle, self.attempt.stream.usage())
                .await?;
            self.is_idle = true;
        }
        if self.queue.open.is_empty() {
            self.attempt.bell.rings().await;
            return Ok(());
        }
        let handles = self
            .queue
            .open
            .iter()
            .map(|open| open.future.handle())
            .collect();
        // Local work that the handler does not track, such as loading an artifact, may wake the run
        // at the same time.
        let next = match select(
            pin!(self.ctx().select(handles)),
            pin!(self.attempt.bell.rings()),
        )
        .await
        {
            Either::Left((next, _)) => next?,
            Either::Right(_) => return Ok(()),
        };
        let Open { kind, future } = self.queue.open.remove(next);
        let given = future.await;
        self.handle_result(kind, given).await
    }

    /// Reports whether all remaining work waits for values from outside. A cancelled branch does
    /// not wait: it withdraws its waits and ends.
    fn waits_for_outside(&self) -> bool {
        let pauses = |open: &Open<'_>| {
            matches!(
                open.kind,
                Awaited::Timer {
                    kind: TimerKind::Pause,
                    ..
                }
            )
        };
        let waits = |open: &Open<'_>| matches!(open.kind, Awaited::Answer { .. });
        self.queue.works.is_empty()
            && !self.queue.open.iter().any(pauses)
            && self
                .branches
                .running
                .values()
                .all(|branch| branch.is_idle && branch.cancelled.is_some())
            && (!self.branches.running.is_empty() || self.queue.open.iter().any(waits))
    }

    /// Ends all remaining requests. Waits for the branches, because their commits belong to the
    /// result of this run.
    async fn finish_branches(&mut self) -> Result<(), Stop> {
        let (branches, others) = std::mem::take(&mut self.queue.open)
            .into_iter()
            .partition::<Vec<_>, _>(|open| matches!(open.kind, Awaited::Branch(_)));
        self.handle.withdraw(waits_of(others)).await?;
        for branch in self.branches.running.values_mut() {
            if branch.cancelled.take().is_some() {
                branch.call.cancel();
            }
        }
        for branch in branches {
            if let Ok(Json(result)) = branch.future.await
                && let Ok(BranchResult { places, .. }) = serde_json::from_value(result)
            {
                self.places.extend(places);
            }
        }
        Ok(())
    }
}

fn missing_event(slot: &str) -> Error {
    let message =
        format!("the journal of Restate has the event of slot `{slot}`, and the store does not");
    Error::new(ErrorKind::Store(adk_core::StoreErrorKind::Missing), message)
        .with_help("give all workers the same store")
}
