//! [`Serving`]: the loop that serves a run, or a branch of one, inside a handler of Restate.
//!
//! Restate executes a handler repeatedly and compares its requests with the journal. Therefore the
//! order of requests may depend only on the workflow and on earlier results. To ensure this, the
//! loop finishes local work (commits, loads of sessions) before it looks at results of Restate.
//! Commits are not journal entries, because the store fills each slot once and returns the event of
//! a filled slot. An entry [precedes](crate::checked) a commit only where an incompatible version
//! might commit.

use crate::Worker;
use crate::batch::{Batch, FinishedCall, FinishedEvent, Stopped, Work};
use crate::checked;
use crate::handle::{CENTURY, Durable, Handle, Stop};
use crate::idle::{Gate, go_signal};
use crate::local::{Bell, Local};
use crate::messages::{AnswerCall, BranchCall, BranchResult};
use crate::posted::{Answer, Commit, Effect, fails_attempt};
use crate::service::Context;
use adk_core::engine::{
    Body, BranchReport, BranchTask, DrivenRun, Reply, Slot, StepKey, Stored, TimerKind, Wait,
    Waiting, refuse,
};
use adk_core::model::Usage;
use adk_core::session::now_micros;
use adk_core::{BoxFuture, Error, ErrorKind, Outcome, Result, RunEnd, RunStream};
use futures_util::Stream;
use futures_util::future::{Either, FutureExt, select};
use restate_sdk::context::macro_support::SealedDurableFuture;
use restate_sdk::context::{InvocationHandle, RequestTarget};
use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::unconstrained;
use tokio::time::Instant;

/// The first and the longest time after which a handler with running calls checks whether its run
/// was cancelled. Each check doubles the time.
const LOOK: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(16));

/// A request to Restate whose result is awaited.
struct Open<'a> {
    kind: Awaited,
    future: Durable<'a>,
}

enum Awaited {
    Answer {
        id: String,
        call: InvocationHandle,
        answer: Answer<Result<Option<Value>>>,
    },
    Deadline(Box<Waiting>),
    Timer {
        kind: TimerKind,
        until: Instant,
        answer: Answer<()>,
    },
    Branch(u32),
    /// A branch signals that it has become idle, or that it asks to continue.
    News(u32),
    Look,
}

/// The outcome of executing the calls that agents have requested.
enum Performed {
    /// No call was requested.
    Nothing,
    All,
    Part(Stopped),
}

/// A branch that has not reported yet.
struct Branch {
    path: String,
    call: InvocationHandle,
    /// Completes when the run cancels the branch. `None` after the cancellation.
    cancelled: Option<BoxFuture<'static, ()>>,
    answer: Answer<Result<BranchReport>>,
    is_idle: bool,
    news: u32,
}

pub(crate) struct Serving<'a, T> {
    handle: Handle<'a>,
    gate: Gate,
    /// Whether [`Gate::pause`] was called, because all work waits.
    is_idle: bool,
    stream: RunStream<'static, T>,
    failed: Option<Error>,
    bell: Arc<Bell>,
    posted: mpsc::UnboundedReceiver<Effect>,
    local: Local,
    /// Events that earlier attempts have stored, by slot.
    known: HashMap<String, Stored>,
    queue: Queue<'a>,
    branches: Branches,
    look: Duration,
    places: Vec<u64>,
}

/// The work that the run has posted, by its stage.
#[derive(Default)]
struct Queue<'a> {
    commits: VecDeque<(Commit, Answer<Result<Stored>>)>,
    works: Vec<Work>,
    effects: Vec<Effect>,
    open: Vec<Open<'a>>,
}

/// The branches of blocks that other invocations execute.
struct Branches {
    running: BTreeMap<u32, Branch>,
    next: u32,
    /// The trace that branches continue. If branches continued a span of this attempt instead,
    /// their inputs would differ in the next attempt.
    trace: Option<String>,
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
            stream,
            failed: None,
            bell: Arc::default(),
            posted,
            local,
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
        let (places, usage) = (self.places, self.stream.usage());
        let end = match (self.failed, self.stream.end()) {
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
            let has_ended = unconstrained(poll_fn(|task| self.advance(task))).await;
            match self.queue.commits.pop_front() {
                Some((commit, answer)) => self.commit(*commit, answer).await?,
                // If the attempt fails, it makes no further request to Restate.
                None => match self.failed.take_if(|error| fails_attempt(error)) {
                    Some(error) => return Err(error.into()),
                    None => return Ok(has_ended),
                },
            }
        }
    }

    fn advance(&mut self, task: &std::task::Context<'_>) -> Poll<bool> {
        self.bell.listen(task);
        let waker = Waker::from(self.bell.clone());
        loop {
            self.bell.reset();
            match Pin::new(&mut self.stream).poll_next(&mut std::task::Context::from_waker(&waker))
            {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => self.failed = Some(error),
                Poll::Pending if self.bell.has_rung() => {}
                Poll::Pending => {
                    self.take_posted();
                    let waits = self.queue.commits.is_empty() && self.local.is_busy();
                    return if waits {
                        Poll::Pending
                    } else {
                        Poll::Ready(false)
                    };
                }
                Poll::Ready(None) => {
                    self.take_posted();
                    return Poll::Ready(true);
                }
            }
        }
    }

    fn take_posted(&mut self) {
        while let Ok(effect) = self.posted.try_recv() {
            match effect {
                Effect::Commit(call, answer) if matches!(call.1, Body::Call(_)) => {
                    self.queue.works.push(Work::call(call, answer));
                }
                Effect::Commit(commit, answer) => self.queue.commits.push_back((commit, answer)),
                Effect::Step(key, work, answer) => {
                    self.queue
                        .works
                        .push(Work::step(key.to_string(), work, answer));
                }
                effect => self.queue.effects.push(effect),
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

    /// Sends the requested waits, timers and branches to Restate.
    async fn start(&mut self) -> Result<(), Stop> {
        let mut effects = std::mem::take(&mut self.queue.effects);
        effects.sort_by_cached_key(key_of);
        for effect in effects {
            match effect {
                Effect::Wait(wait, answer) => self.wait(*wait, answer).await?,
                Effect::Branch(task, cancelled, answer) => {
                    self.branch(*task, cancelled, answer).await?
                }
                Effect::Sleep(key, time, kind, answer) => {
                    self.sleep(&key, time, kind, answer).await?
                }
                Effect::Commit(..) | Effect::Step(..) => {}
            }
        }
        Ok(())
    }

    async fn wait(
        &mut self,
        wait: Wait,
        answer: Answer<Result<Option<Value>>>,
    ) -> Result<(), Stop> {
        let waiting = Box::new(wait.waiting.clone());
        let (id, target) = (waiting.id.clone(), self.handle.of_run("wait"));
        let (call, future) = self.handle.call(target, &id).await?;
        self.queue.open.push(Open {
            kind: Awaited::Answer { id, call, answer },
            future,
        });
        let (worker, claim) = (self.worker(), self.handle.claim());
        let open = move || async move {
            match worker.engine.answer(claim, wait).await {
                Err(error) if fails_attempt(&error) => Err(error.into()),
                // If the run was cancelled, the store refuses the wait. The run continues until
                // Restate delivers the cancellation, and gets answers from Restate.
                _ => Ok(()),
            }
        };
        // Opening the wait is a journal entry, so that a later attempt does not reopen a wait that
        // was withdrawn.
        self.handle.run("ask", open).await?;
        if let Some(deadline) = waiting.deadline {
            let left = Duration::from_micros(deadline.saturating_sub(now_micros()));
            self.queue.open.push(Open {
                kind: Awaited::Deadline(waiting),
                future: self.handle.timer(left),
            });
        }
        Ok(())
    }

    async fn branch(
        &mut self,
        task: BranchTask,
        cancelled: BoxFuture<'static, ()>,
        answer: Answer<Result<BranchReport>>,
    ) -> Result<(), Stop> {
        let (number, path) = (self.branches.next, task.path.to_string());
        self.branches.next += 1;
        let mut task = task;
        task.trace.clone_from(&self.branches.trace);
        let target = RequestTarget::service(&self.handle.branches, "run");
        let (parent, branches) = (self.handle.invocation.clone(), self.handle.branches.clone());
        let workflow = self.handle.workflow.clone();
        let (call, future) = self
            .handle
            .call(
                target,
                &BranchCall {
                    task,
                    parent,
                    workflow,
                    branches,
                },
            )
            .await?;
        let branch = Branch {
            path,
            call,
            cancelled: Some(cancelled),
            answer,
            is_idle: false,
            news: 1,
        };
        self.queue.open.push(Open {
            kind: Awaited::Branch(number),
            future,
        });
        self.listen(number, &branch);
        self.branches.running.insert(number, branch);
        Ok(())
    }

    /// Waits for the next signal of a branch.
    fn listen(&mut self, number: u32, branch: &Branch) {
        let future = Box::pin(
            self.ctx()
                .signal(&crate::idle::news_signal(&branch.path, branch.news)),
        );
        self.queue.open.push(Open {
            kind: Awaited::News(number),
            future,
        });
    }

    async fn sleep(
        &mut self,
        key: &StepKey,
        time: Duration,
        kind: TimerKind,
        answer: Answer<()>,
    ) -> Result<(), Stop> {
        // A time limit for calls is measured by the clock of this process, so the journal records
        // when it began.
        let since = match kind {
            TimerKind::Pause => now_micros(),
            TimerKind::Limit => {
                self.handle
                    .run(format!("{key} begins"), || async { Ok(now_micros()) })
                    .await?
            }
        };
        let passed = Duration::from_micros(now_micros().saturating_sub(since));
        let until = Instant::now() + time.min(CENTURY).saturating_sub(passed);
        let future = self.handle.timer(time);
        self.queue.open.push(Open {
            kind: Awaited::Timer {
                kind,
                until,
                answer,
            },
            future,
        });
        Ok(())
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
            self.gate.pause(&self.handle, self.stream.usage()).await?;
            self.is_idle = true;
        }
        if self.queue.open.is_empty() {
            self.bell.rings().await;
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
        let next = match select(pin!(self.ctx().select(handles)), pin!(self.bell.rings())).await {
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

    async fn resume(&mut self) -> Result<(), Stop> {
        if self.is_idle {
            self.gate.resume(&self.handle, self.stream.usage()).await?;
            self.is_idle = false;
        }
        Ok(())
    }

    async fn handle_result(
        &mut self,
        kind: Awaited,
        given: Result<Json<Value>, TerminalError>,
    ) -> Result<(), Stop> {
        match kind {
            Awaited::Look => {}
            Awaited::Deadline(waiting) => {
                let call = AnswerCall::too_late(&self.handle.app, *waiting);
                let input = serde_json::to_value(call).map_err(Error::other)?;
                drop(
                    self.ctx()
                        .request::<_, Json<Value>>(self.handle.of_run("answer"), Json(input))
                        .send(),
                );
            }
            Awaited::Answer { answer, .. } => {
                self.resume().await?;
                let _ = answer.send(
                    given
                        .map(|Json(value)| Some(value))
                        .map_err(|error| invocation_error(&error)),
                );
            }
            Awaited::Timer { answer, .. } => {
                self.resume().await?;
                let _ = answer.send(());
            }
            Awaited::News(number) => {
                let Some(mut branch) = self.branches.running.remove(&number) else {
                    return Ok(());
                };
                branch.is_idle = !branch.is_idle;
                if !branch.is_idle {
                    self.resume().await?;
                    branch
                        .call
                        .signal(go_signal(branch.news))
                        .resolve(Json(true));
                }
                branch.news += 1;
                self.listen(number, &branch);
                self.branches.running.insert(number, branch);
            }
            Awaited::Branch(number) => {
                self.resume().await?;
                let Some(branch) = self.branches.running.remove(&number) else {
                    return Ok(());
                };
                self.answer_branch(branch, given).await?;
            }
        }
        Ok(())
    }

    /// Answers the block of a branch with the report of the branch.
    async fn answer_branch(
        &mut self,
        branch: Branch,
        given: Result<Json<Value>, TerminalError>,
    ) -> Result<(), Stop> {
        let result = match given {
            Ok(Json(value)) => serde_json::from_value(value).map_err(Error::other),
            // The branch was cancelled before it began.
            Err(error) if error.code() == 409 => Ok(BranchResult::cancelled(Vec::new())?),
            Err(error) => Err(invocation_error(&error)),
        };
        let report = match result {
            Ok(result) if result.is_cancelled && branch.cancelled.is_some() => {
                Err(refuse::cancelled(self.handle.run_id))
            }
            Ok(BranchResult { report, places, .. }) => {
                let mut events = match places.iter().min() {
                    Some(from) => self.handle.stored(*from).await?,
                    None => Vec::new(),
                };
                events.retain(|(_, stored)| places.contains(&stored.place));
                self.places.extend(places);
                let events = events
                    .into_iter()
                    .map(|(_, stored)| checked::remove_mark(stored));
                BranchReport::from_value(report, events.collect())
            }
            Err(error) => Err(error),
        };
        let _ = branch.answer.send(report);
        Ok(())
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

impl Awaited {
    /// Returns the id of the wait that is awaited.
    fn wait(&self) -> Option<&str> {
        match self {
            Self::Answer { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Returns the time at which running calls must end.
    fn limit(&self) -> Option<Instant> {
        match self {
            Self::Timer {
                kind: TimerKind::Limit,
                until,
                ..
            } => Some(*until),
            _ => None,
        }
    }
}

/// Returns the waits among open requests, each with the invocation that waits for its answer.
fn waits_of(open: Vec<Open<'_>>) -> Vec<(String, InvocationHandle)> {
    let wait = |open: Open<'_>| match open.kind {
        Awaited::Answer { id, call, .. } => Some((id, call)),
        _ => None,
    };
    open.into_iter().filter_map(wait).collect()
}

/// Returns the key by which requests are sorted that agents posted together, so that their order
/// does not depend on timing.
fn key_of(effect: &Effect) -> (u8, String) {
    match effect {
        Effect::Wait(wait, _) => (0, wait.waiting.id.clone()),
        Effect::Sleep(key, ..) => (1, key.to_string()),
        Effect::Branch(task, ..) => (2, task.path.to_string()),
        Effect::Commit(..) | Effect::Step(..) => (3, String::new()),
    }
}

fn invocation_error(error: &TerminalError) -> Error {
    Error::new(
        ErrorKind::Agent,
        format!("Restate ended a part of the run: {}", error.message()),
    )
    .with_help("inspect the invocation in the web UI of the Restate server")
}

fn missing_event(slot: &str) -> Error {
    let message =
        format!("the journal of Restate has the event of slot `{slot}`, and the store does not");
    Error::new(ErrorKind::Store(adk_core::StoreErrorKind::Missing), message)
        .with_help("give all workers the same store")
}
