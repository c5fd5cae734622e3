//! [`GatedEngine`]: an engine in memory whose process stops at a gate before each action.

use super::gates::{Action, Gates, Point};
use super::ledger::Ledger;
use adk_core::engine::{
    Body, CallKind, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine,
    Journal, MemoryJournal, Reply, Retention, Roles, RunFilter, RunInfo, RunRecord, RunRegistry,
    RunStatus, Slot, StepKey, Stored, TimerKind, Timers, Wait, WaitRegistry, Waiting,
};
use adk_core::model::UsageByAgent;
use adk_core::session::Location;
use adk_core::{BoxFuture, Path, Result, RunId};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// The engine of one process. The journal and the ledger outlive the process.
#[derive(Clone)]
pub(super) struct GatedEngine {
    pub(super) journal: MemoryJournal,
    pub(super) ledger: Ledger,
    pub(super) gates: Gates,
}

impl GatedEngine {
    async fn wait(&self, action: Action, place: &str, path: &Path) -> usize {
        let point = Point {
            action,
            place: place.to_owned(),
            path: Some(path.clone()),
        };
        self.gates.wait(point).await
    }
}

/// Returns whether a call does something outside of the run. Other calls only decide something.
fn is_outside(kind: CallKind) -> bool {
    matches!(
        kind,
        CallKind::Model
            | CallKind::Summary
            | CallKind::Tool
            | CallKind::Function
            | CallKind::Step
            | CallKind::Callback
            | CallKind::Memory
            | CallKind::SaveArtifact
            | CallKind::Toolsets
    )
}

impl Journal for GatedEngine {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            let (place, path) = (slot.to_string(), slot.path.clone());
            let body = match body {
                Body::Call(work) => {
                    self.wait(Action::Call, &place, &path).await;
                    let own = self.clone();
                    Body::Call(Box::pin(async move {
                        let working = own.gates.begin_work();
                        let draft = work.await;
                        drop(working);
                        own.wait(Action::Record, &place, &path).await;
                        draft
                    }))
                }
                body => {
                    self.wait(Action::Commit, &place, &path).await;
                    body
                }
            };
            match self.journal.commit(slot, body) {
                Reply::Ready(stored) => stored,
                Reply::Later(stored) => stored.await,
            }
        }))
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let place = key.to_string();
            let action = match key.kind {
                CallKind::Model => Some(Action::Ask),
                kind => is_outside(kind).then_some(Action::Call),
            };
            let answer = match action {
                Some(action) => self.wait(action, &place, &key.path).await,
                None => 0,
            };
            let (own, made) = (self.clone(), key.clone());
            let work = Box::pin(async move {
                let number = action.map(|_| own.ledger.begin(&made, &place, answer));
                let working = own.gates.begin_work();
                let value = work.await;
                drop(working);
                own.wait(Action::Record, &place, &made.path).await;
                own.ledger.end(number);
                value
            });
            self.journal.step(claim, key, work).await
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async move {
            let place = wait.key.to_string();
            self.wait(Action::Question, &place, &wait.key.path).await;
            self.journal.answer(claim, wait).await
        })
    }
}

impl Engine for GatedEngine {
    fn retention(&self) -> Retention {
        Retention::Process
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
            timers: Some(self),
        }
    }
}

impl Timers for GatedEngine {
    fn sleep(&self, _: StepKey, time: Duration, _: TimerKind) -> BoxFuture<'static, ()> {
        let now = Instant::now();
        Box::pin(
            self.gates
                .clone()
                .sleep(now.checked_add(time).unwrap_or(now)),
        )
    }
}

impl RunRegistry for GatedEngine {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        self.journal.enqueue(claim, record)
    }

    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        self.journal.claim(run, check)
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        self.journal.finished(claim, done)
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let point = Point {
                action: Action::Close,
                place: String::new(),
                path: None,
            };
            self.gates.wait(point).await;
            self.journal.close(claim, status, usage).await
        })
    }

    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        self.journal.cancel(app, run)
    }

    fn release(&self, claim: ClaimId) {
        self.journal.release(claim);
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.journal.runs(app, filter)
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.journal.runs_of_tenants(app, filter)
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        self.journal.driven(run, from)
    }
}

impl WaitRegistry for GatedEngine {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        self.journal.waiting(app, filter)
    }

    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        self.journal.open_wait(app, wait)
    }

    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        self.journal.due(app, now, most)
    }

    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        self.journal.due_of_tenants(app, now, most)
    }

    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        self.journal.withdraw(claim, waits)
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        self.journal.resolve(app, wait, answer)
    }
}
