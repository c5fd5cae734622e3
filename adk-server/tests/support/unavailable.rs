//! [`UnavailableEngine`]: an engine in memory that can be unavailable, full, or lose its connection
//! during a commit.

use adk::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal,
    KeyBinding, MemoryJournal, Reply, RequestKey, RequestKeys, Retention, Roles, RunFilter,
    RunInfo, RunRecord, RunRegistry, RunStatus, Slot, StepKey, Stored, Wait, WaitRegistry, Waiting,
};
use adk::model::UsageByAgent;
use adk::session::Location;
use adk::{BoxFuture, Error, ErrorKind, Result, RunId, StoreErrorKind};
use serde_json::Value;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// An engine with simulated failures. Clones share their state.
#[derive(Clone, Default)]
pub struct UnavailableEngine {
    inner: MemoryJournal,
    is_away: Arc<AtomicBool>,
    is_full: Arc<AtomicBool>,
    loses_commit: Arc<AtomicBool>,
    then_away: Arc<AtomicBool>,
    listed: Arc<AtomicUsize>,
    deletions: Arc<AtomicUsize>,
}

impl UnavailableEngine {
    /// Makes all operations fail, or succeed again.
    pub fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, SeqCst);
    }

    /// Returns the number of runs and waits that were read since the last call.
    pub fn take_count(&self) -> usize {
        self.listed.swap(0, SeqCst)
    }

    /// Returns the number of deletions of runs that were requested since the last call.
    pub fn take_deletions(&self) -> usize {
        self.deletions.swap(0, SeqCst)
    }

    /// Makes all commits fail, or succeed again. Other operations succeed.
    pub fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, SeqCst);
    }

    /// Makes the next commit fail with an unknown outcome. If `then_away` is set, the store is
    /// unavailable afterwards.
    pub fn lose_next_commit(&self, then_away: bool) {
        self.loses_commit.store(true, SeqCst);
        self.then_away.store(then_away, SeqCst);
    }

    async fn commit_checked(&self, slot: Slot, body: Body) -> Result<Stored> {
        let body = match body {
            Body::Call(work) => Body::Ready(work.await?),
            body => body,
        };
        self.check()?;
        if self.is_full.load(SeqCst) {
            return Err(error(StoreErrorKind::Full));
        }
        if self.loses_commit.swap(false, SeqCst) {
            self.set_away(self.then_away.load(SeqCst));
            return Err(error(StoreErrorKind::OutcomeUnknown));
        }
        match self.inner.commit(slot, body) {
            Reply::Ready(stored) => stored,
            Reply::Later(stored) => stored.await,
        }
    }

    fn check(&self) -> Result<()> {
        if self.is_away.load(SeqCst) {
            Err(error(StoreErrorKind::Unavailable))
        } else {
            Ok(())
        }
    }

    fn unless_away<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce() -> BoxFuture<'a, Result<T>>,
    ) -> BoxFuture<'a, Result<T>> {
        match self.check() {
            Ok(()) => work(),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
}

fn error(kind: StoreErrorKind) -> Error {
    Error::new(ErrorKind::Store(kind), "the test has requested this error")
}

impl Journal for UnavailableEngine {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(self.commit_checked(slot, body)))
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        self.inner.step(claim, key, work)
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        self.unless_away(|| self.inner.answer(claim, wait))
    }
}

impl Engine for UnavailableEngine {
    fn location(&self) -> Location {
        self.inner.location()
    }

    fn retention(&self) -> Retention {
        Retention::Process
    }

    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: Some(self),
            keys: Some(self),
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

impl RunRegistry for UnavailableEngine {
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        self.unless_away(|| self.inner.claim(run, check))
    }

    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        self.unless_away(|| self.inner.enqueue(claim, record))
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        self.unless_away(|| self.inner.finished(claim, done))
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        self.unless_away(|| self.inner.close(claim, status, usage))
    }

    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        self.unless_away(|| self.inner.cancel(app, run))
    }

    fn delete_ended<'a>(
        &'a self,
        app: &'a str,
        runs: &'a [RunId],
        before: u64,
    ) -> BoxFuture<'a, Result<u64>> {
        self.deletions.fetch_add(1, SeqCst);
        self.unless_away(|| self.inner.delete_ended(app, runs, before))
    }

    fn release(&self, claim: ClaimId) {
        self.inner.release(claim);
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let listed = self.unless_away(|| self.inner.runs(app, filter));
        Box::pin(async move {
            let runs = listed.await?;
            self.listed.fetch_add(runs.len(), SeqCst);
            Ok(runs)
        })
    }

    fn count_runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<usize>> {
        self.unless_away(|| self.inner.count_runs(app, filter))
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.unless_away(|| self.inner.runs_of_tenants(app, filter))
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        self.inner.driven(run, from)
    }
}

impl WaitRegistry for UnavailableEngine {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let listed = self.unless_away(|| self.inner.waiting(app, filter));
        Box::pin(async move {
            let waits = listed.await?;
            self.listed.fetch_add(waits.len(), SeqCst);
            Ok(waits)
        })
    }

    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        self.unless_away(|| self.inner.open_wait(app, wait))
    }

    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        self.unless_away(|| self.inner.due(app, now, most))
    }

    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        self.unless_away(|| self.inner.due_of_tenants(app, now, most))
    }

    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        self.unless_away(|| self.inner.withdraw(claim, waits))
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        self.unless_away(|| self.inner.resolve(app, wait, answer))
    }
}

impl RequestKeys for UnavailableEngine {
    fn bind<'a>(
        &'a self,
        key: &'a RequestKey,
        binding: &'a KeyBinding,
        replaces: Option<&'a str>,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<KeyBinding>> {
        self.unless_away(|| self.inner.bind(key, binding, replaces, lifetime))
    }
}
