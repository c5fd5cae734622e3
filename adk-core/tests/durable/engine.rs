//! [`Crashing`]: an engine that stops at a chosen point, as in a process that is killed there.

use adk_build::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal,
    MemoryJournal, Reply, Retention, Roles, RunFilter, RunInfo, RunRecord, RunRegistry, RunStatus,
    Slot, StepKey, Stored, Wait, WaitRegistry, Waiting, is_failure,
};
use adk_build::model::UsageByAgent;
use adk_build::session::Location;
use adk_build::{BoxFuture, Result, RunId};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use tokio::sync::Notify;

/// An engine that counts points (before and after each commit, before a call, between a call and
/// its record, after it; before and after each answer; before a claim) and stops at one of them.
/// Nothing continues from there, and the run is dropped.
#[derive(Clone)]
pub struct Crashing {
    inner: MemoryJournal,
    recorded: Arc<Mutex<BTreeSet<String>>>,
    points: Arc<AtomicUsize>,
    at: usize,
    pub crashed: Arc<Notify>,
}

impl Crashing {
    pub fn new(inner: MemoryJournal, recorded: Arc<Mutex<BTreeSet<String>>>, at: usize) -> Self {
        Self {
            inner,
            recorded,
            points: Arc::default(),
            at,
            crashed: Arc::default(),
        }
    }

    pub fn points(&self) -> usize {
        self.points.load(SeqCst)
    }

    /// Counts one more point and returns whether the process ends there.
    pub fn ends_here(&self) -> bool {
        self.points.fetch_add(1, SeqCst) >= self.at
    }

    async fn point(&self) {
        if self.ends_here() {
            self.crashed.notify_one();
            std::future::pending().await
        }
    }

    /// Wraps work that panics if its record already exists.
    fn recorded_once(&self, name: String, work: Body) -> Body {
        let Body::Call(work) = work else { return work };
        let own = self.clone();
        Body::Call(Box::pin(async move {
            assert!(
                !own.recorded.lock().unwrap().contains(&name),
                "{name} is executed again"
            );
            let draft = work.await;
            own.point().await;
            draft
        }))
    }
}

impl Journal for Crashing {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            self.point().await;
            let name = format!("{} {slot}", slot.run_id);
            let body = self.recorded_once(name.clone(), body);
            let stored = match self.inner.commit(slot, body) {
                Reply::Ready(stored) => stored,
                Reply::Later(stored) => stored.await,
            };
            if stored.is_ok() {
                self.recorded.lock().unwrap().insert(name);
            }
            self.point().await;
            stored
        }))
    }
    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            self.point().await;
            let name = key.id();
            assert!(
                !self.recorded.lock().unwrap().contains(&name),
                "{name} is executed again"
            );
            let own = self.clone();
            let work = Box::pin(async move {
                let value = work.await;
                own.point().await;
                value
            });
            let value = self.inner.step(claim, key, work).await;
            // Failed calls may be repeated. A call whose error was handled has a result.
            if value.as_ref().is_ok_and(|value| !is_failure(value)) {
                self.recorded.lock().unwrap().insert(name);
            }
            self.point().await;
            value
        })
    }
    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async move {
            self.point().await;
            let answer = self.inner.answer(claim, wait).await;
            self.point().await;
            answer
        })
    }
}

impl Engine for Crashing {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: Some(self),
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

impl RunRegistry for Crashing {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        Box::pin(async move {
            self.point().await;
            let claim = self.inner.enqueue(claim, record).await;
            self.point().await;
            claim
        })
    }
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move {
            self.point().await;
            self.inner.claim(run, check).await
        })
    }
    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        self.inner.finished(claim, done)
    }
    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.point().await;
            self.inner.close(claim, status, usage).await
        })
    }
    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        Box::pin(async move {
            self.point().await;
            let cancelled = self.inner.cancel(app, run).await;
            self.point().await;
            cancelled
        })
    }
    fn release(&self, claim: ClaimId) {
        self.inner.release(claim);
    }
    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.inner.runs(app, filter)
    }
    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.inner.runs_of_tenants(app, filter)
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        self.inner.driven(run, from)
    }
}

impl WaitRegistry for Crashing {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        self.inner.waiting(app, filter)
    }
    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        self.inner.open_wait(app, wait)
    }
    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        self.inner.due(app, now, most)
    }
    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        self.inner.due_of_tenants(app, now, most)
    }
    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.point().await;
            self.inner.withdraw(claim, waits).await
        })
    }
    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.point().await;
            let answered = self.inner.resolve(app, wait, answer).await;
            self.point().await;
            answered
        })
    }
}

/// Requested operations of a store that are not done yet.
#[derive(Clone, Default)]
pub struct Ops(Arc<Mutex<VecDeque<Op>>>);

type Op = Box<dyn FnOnce() + Send>;

impl Ops {
    pub fn push(&self, op: impl FnOnce() + Send + 'static) {
        self.0.lock().unwrap().push_back(Box::new(op));
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    /// Executes the next operation.
    pub fn next(&self) {
        let op = self.0.lock().unwrap().pop_front();
        if let Some(op) = op {
            op();
        }
    }

    /// Executes all operations, including those that they request.
    pub fn all(&self) {
        while !self.is_empty() {
            self.next();
        }
    }

    /// Polls a future to its end, with a store that executes every operation at once.
    pub async fn through<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        loop {
            let polled = std::future::poll_fn(|task| Poll::Ready(future.as_mut().poll(task))).await;
            if let Poll::Ready(done) = polled {
                self.all();
                return done;
            }
            self.all();
            tokio::task::yield_now().await;
        }
    }
}
