//! [`Engine`] of [`PostgresStore`], with its registries.

use crate::claim::claim;
use crate::error::closed_error;
use crate::lane::Job;
use crate::runs;
use crate::transact::read_at_once;
use crate::waits;
use crate::{PostgresStore, Shared, journal, keys};
use adk_journal::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, Draft, DrivenRun, DueWaits, Engine,
    Journal, KeyBinding, Reply, RequestKey, RequestKeys, Retention, Roles, RunFilter, RunInfo,
    RunRecord, RunRegistry, RunState, RunStatus, Slot, StepKey, Stored, Wait, WaitRegistry,
    Waiting, refuse, to_text,
};
use adk_journal::session::{Location, SessionKey};
use adk_model::model::UsageByAgent;
use adk_model::{BoxFuture, Result, RunId};
use adk_store::lists::{self, Whose};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Shared {
    async fn make_claim(self: &Arc<Self>, run: RunId, check: ClaimCheck) -> Result<ClaimedRun> {
        let Some(_claiming) = self.drives.claiming(run) else {
            return Err(refuse::run_busy(run));
        };
        self.lease().await?;
        let this = self.clone();
        let mut claimed = self
            .transact(&mut |connection| {
                let (this, check) = (this.clone(), check.clone());
                Box::pin(async move { claim(connection, run, &this, &check).await })
            })
            .await?;
        let claim = claimed.claim.id();
        self.drives.begin(claim, &claimed.record.session);
        claimed.claim = self.releasing_claim(claim);
        Ok(claimed)
    }

    /// Returns a claim that is released when it is dropped.
    fn releasing_claim(self: &Arc<Self>, claim: ClaimId) -> Claim {
        let store = Arc::downgrade(self);
        Claim::new(claim, move |claim| {
            if let Some(store) = store.upgrade() {
                store.release(claim);
            }
        })
    }

    async fn enqueue(self: &Arc<Self>, claim: ClaimId, record: RunRecord) -> Result<Claim> {
        let key = record.session.clone();
        if claim.is_driven_above() {
            let record = Box::new(record);
            self.ask(&key, |reply| Job::Enqueue {
                claim,
                record,
                reply,
            })
            .await?;
            return Ok(Claim::unfenced(claim.run_id));
        }
        self.lease().await?;
        if !self.drives.begin_first(claim, &key) {
            return Err(refuse::run_exists(claim.run_id));
        }
        let record = Box::new(record);
        match self
            .ask(&key, |reply| Job::Enqueue {
                claim,
                record,
                reply,
            })
            .await
        {
            Ok(()) => Ok(self.releasing_claim(claim)),
            Err(error) => {
                self.drives.end(claim);
                Err(error)
            }
        }
    }

    /// Stores the usage of a run that another process has cancelled.
    async fn store_usage(self: &Arc<Self>, claim: ClaimId, usage: UsageByAgent) -> Result<()> {
        let stored = self.call_with((claim, to_text(&usage)?), |connection, (claim, usage)| {
            Box::pin(journal::store_usage(connection, *claim, usage))
        });
        stored.await?;
        Err(refuse::fenced(claim.run_id))
    }

    /// Returns the session of a run that this process may write. Returns `None` if this process
    /// does not drive the run.
    async fn session_of(self: &Arc<Self>, claim: ClaimId) -> Result<Option<SessionKey>> {
        if !claim.is_driven_above() {
            return Ok(self.drives.session(claim));
        }
        self.stored_session(claim.run_id).await
    }

    /// Reads the session of a run from the registry.
    async fn stored_session(self: &Arc<Self>, run: RunId) -> Result<Option<SessionKey>> {
        let read = self.call_with(run, |connection, run| {
            Box::pin(journal::session_of(connection, *run))
        });
        read.await
    }

    /// Reports whether the slot is already filled. A slot can be filled only if an engine above the
    /// store, such as Restate, drives the run: such a run starts without reading the journal of
    /// this store.
    async fn is_filled(self: &Arc<Self>, slot: &Slot) -> Result<bool> {
        if !slot.claim().is_driven_above() {
            return Ok(false);
        }
        let wanted = (slot.run_id, slot.to_string());
        let look = self.call_with(wanted, |connection, (run, slot)| {
            Box::pin(journal::is_filled(connection, *run, slot))
        });
        look.await
    }

    fn release(self: &Arc<Self>, claim: ClaimId) {
        if let Some(held) = self.drives.end(claim) {
            self.drives.release(claim);
            self.post(
                held.session,
                Job::Close {
                    claim,
                    end: None,
                    reply: None,
                },
            );
        }
    }
}

impl Journal for PostgresStore {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            let (draft, update) = match body {
                Body::Update(update) => (Draft::default(), Some(update)),
                Body::Call(_) if self.0.is_filled(&slot).await? => (Draft::default(), None),
                body => (body.draft().await?, None),
            };
            let key = slot.session_key().clone();
            if slot.begins.is_some() && !slot.claim().is_driven_above() {
                self.0.lease().await?;
                if !self.0.drives.begin_first(slot.claim(), &key) {
                    return Err(refuse::fenced(slot.run_id));
                }
            }
            let tried = Vec::new();
            self.0
                .ask(&key, |reply| Job::Commit {
                    slot,
                    draft,
                    update,
                    tried,
                    reply,
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
            let value = work.await?;
            if claim.is_driven_above() {
                return Ok(value);
            }
            let Some(session) = self.0.drives.session(claim) else {
                // A run without an event has no record yet, so it cannot be resumed.
                let session = self.0.stored_session(claim.run_id).await?;
                return if session.is_some() {
                    Err(refuse::fenced(claim.run_id))
                } else {
                    Ok(value)
                };
            };
            let key = key.to_string();
            self.0
                .ask(&session, |reply| Job::Step {
                    claim,
                    key,
                    value,
                    reply,
                })
                .await
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async move {
            let key = wait.session.clone();
            self.0
                .ask(&key, |reply| Job::Wait {
                    claim,
                    wait: Box::new(wait),
                    reply,
                })
                .await
        })
    }
}

impl Engine for PostgresStore {
    fn retention(&self) -> Retention {
        Retention::Durable
    }

    fn location(&self) -> Location {
        self.database()
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

impl PostgresStore {
    fn list(
        &self,
        whose: Whose,
        app: &str,
        filter: &RunFilter,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>>> {
        let wanted = (app.to_owned(), whose, filter.clone(), self.0.clone());
        let list = self
            .0
            .call_with(wanted, |connection, (app, whose, filter, this)| {
                Box::pin(runs::runs(connection, (*whose, app), filter, &this.drives))
            });
        Box::pin(list)
    }

    fn due_of(
        &self,
        whose: Whose,
        app: &str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'_, Result<DueWaits>> {
        let wanted = (app.to_owned(), whose, now, most);
        let due = self
            .0
            .call_with(wanted, |connection, (app, whose, now, most)| {
                Box::pin(waits::due(connection, (*whose, app), *now, *most))
            });
        Box::pin(due)
    }
}

impl RunRegistry for PostgresStore {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        let this = self.0.clone();
        Box::pin(async move {
            // The work is a separate task, so that it completes even if the caller is dropped, as
            // in `claim`.
            let own = this.clone();
            let task = this
                .runtime
                .spawn(async move { own.enqueue(claim, record).await });
            task.await.map_err(|_| closed_error())?
        })
    }

    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        let this = self.0.clone();
        Box::pin(async move {
            // The work is a separate task. If the caller is dropped, the task drops the claim,
            // which releases the run.
            let own = this.clone();
            let task = this
                .runtime
                .spawn(async move { own.make_claim(run, check).await });
            task.await.map_err(|_| closed_error())?
        })
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(session) = self.0.session_of(claim).await? else {
                return Ok(());
            };
            self.0
                .ask(&session, |reply| Job::Finished { claim, done, reply })
                .await
        })
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let session = self.0.session_of(claim).await?;
            self.0.drives.end(claim);
            let Some(session) = session else {
                return if status == RunStatus::Cancelled {
                    self.0.store_usage(claim, usage).await
                } else {
                    Ok(())
                };
            };
            let close = |reply| Job::Close {
                claim,
                end: Some((status, usage)),
                reply: Some(reply),
            };
            self.0.ask(&session, close).await
        })
    }

    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        let wanted = (app.to_owned(), run);
        let cancel = self.0.transact_with(wanted, |connection, (app, run)| {
            Box::pin(journal::cancel(connection, app, *run))
        });
        Box::pin(cancel)
    }

    fn delete_ended<'a>(
        &'a self,
        app: &'a str,
        runs: &'a [RunId],
        before: u64,
    ) -> BoxFuture<'a, Result<u64>> {
        let wanted = (app.to_owned(), runs.to_owned(), before);
        let delete = self.0.transact_with(wanted, |connection, wanted| {
            let (app, runs, before) = wanted;
            Box::pin(journal::delete_ended(connection, app, runs, *before))
        });
        Box::pin(delete)
    }

    fn release(&self, claim: ClaimId) {
        self.0.release(claim);
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.list(Whose::App, app, filter)
    }

    fn count_runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<usize>> {
        if filter.state == RunState::Ready {
            let runs = self.runs(app, filter);
            return Box::pin(async move { Ok(runs.await?.len()) });
        }
        let wanted = (app.to_owned(), filter.clone());
        let count = self.0.call_with(wanted, |connection, (app, filter)| {
            Box::pin(lists::count(connection, (Whose::App, app), filter))
        });
        Box::pin(count)
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.list(Whose::Tenants, app, filter)
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        let read = self.0.call_with((run, from), |connection, (run, from)| {
            Box::pin(read_at_once(connection, "read a run", async |connection| {
                journal::driven(connection, *run, *from).await
            }))
        });
        Box::pin(read)
    }
}

impl RequestKeys for PostgresStore {
    fn bind<'a>(
        &'a self,
        key: &'a RequestKey,
        binding: &'a KeyBinding,
        replaces: Option<&'a str>,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<KeyBinding>> {
        let replaces = replaces.map(str::to_owned);
        let wanted = (key.clone(), binding.clone(), replaces, lifetime);
        let bind = self
            .0
            .call_with(wanted, |connection, (key, binding, replaces, lifetime)| {
                Box::pin(keys::bind(
                    connection,
                    key,
                    binding,
                    replaces.as_deref(),
                    *lifetime,
                ))
            });
        Box::pin(bind)
    }
}

impl WaitRegistry for PostgresStore {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let wanted = (app.to_owned(), filter.clone());
        let list = self.0.call_with(wanted, |connection, (app, filter)| {
            Box::pin(waits::waiting(connection, app, filter))
        });
        Box::pin(list)
    }

    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        let wanted = (app.to_owned(), wait.to_owned());
        let look = self.0.call_with(wanted, |connection, (app, wait)| {
            Box::pin(waits::open_wait(connection, app, wait))
        });
        Box::pin(look)
    }

    fn now(&self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(
            self.0
                .call_with((), |connection, ()| Box::pin(waits::now(connection))),
        )
    }

    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        self.due_of(Whose::App, app, now, most)
    }

    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        self.due_of(Whose::Tenants, app, now, most)
    }

    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(session) = self.0.session_of(claim).await? else {
                return Ok(());
            };
            self.0
                .ask(&session, |reply| Job::Withdraw {
                    claim,
                    waits,
                    reply,
                })
                .await
        })
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        let wanted = (app.to_owned(), wait.to_owned(), answer);
        let resolve = self
            .0
            .transact_with(wanted, |connection, (app, wait, answer)| {
                Box::pin(waits::resolve(connection, app, wait, answer))
            });
        Box::pin(resolve)
    }
}
