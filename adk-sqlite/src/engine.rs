//! [`Engine`] of [`SqliteStore`], with its registries.

use crate::SqliteStore;
use crate::commit::Commit;
use crate::error::closed_error;
use crate::journal;
use crate::keys;
use crate::runs;
use crate::statements::Statements;
use crate::writer::Db;
use adk_journal::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, Draft, DrivenRun, DueWaits, Engine,
    Journal, KeyBinding, Reply, RequestKey, RequestKeys, Retention, Roles, RunFilter, RunInfo,
    RunRecord, RunRegistry, RunState, RunStatus, Slot, StepKey, Stored, Wait, WaitRegistry,
    Waiting,
};
use adk_journal::session::Location;
use adk_model::model::UsageByAgent;
use adk_model::{BoxFuture, Result, RunId};
use adk_store::lists::{self, Whose};
use adk_store::runs::step;
use adk_store::{complete, waits};
use rusqlite::Connection;
use serde_json::Value;
use std::time::Duration;

impl SqliteStore {
    /// Reports whether the slot is already filled. A slot can be filled only if an engine above the
    /// store, such as Restate, drives the run: such a run starts without reading the journal of
    /// this store.
    async fn is_filled(&self, slot: &Slot) -> Result<bool> {
        if !slot.claim().is_driven_above() {
            return Ok(false);
        }
        let (run, slot) = (slot.run_id, slot.to_string());
        self.0
            .reader
            .read(move |connection| journal::is_filled(connection, run, &slot))
            .await
    }

    fn list(
        &self,
        whose: Whose,
        app: &str,
        filter: &RunFilter,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>>> {
        let (app, filter, owner) = (app.to_owned(), filter.clone(), self.0.writer.owner.clone());
        let given_up = owner.released_claims();
        Box::pin(self.0.reader.read(move |connection: &Connection| {
            runs::runs(connection, (whose, &app), &filter, &owner, &given_up)
        }))
    }

    fn due_of(
        &self,
        whose: Whose,
        app: &str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'_, Result<DueWaits>> {
        let app = app.to_owned();
        Box::pin(self.0.reader.read(move |connection| {
            let connection = &mut Statements(connection);
            complete(waits::due(connection, (whose, &app), now, most))
        }))
    }
}

impl Journal for SqliteStore {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        let post = |slot, draft, update| {
            let (commit, answer) = Commit::new(slot, draft, update, &self.0.live)?;
            self.0.writer.post(commit).map_err(|_| closed_error())?;
            Ok(answer)
        };
        let (draft, update) = match body {
            Body::Ready(draft) => (draft, None),
            Body::Update(update) => (Draft::default(), Some(update)),
            Body::Call(work) => {
                return Reply::Later(Box::pin(async move {
                    let draft = if self.is_filled(&slot).await? {
                        Draft::default()
                    } else {
                        work.await?
                    };
                    post(slot, draft, None)?
                        .await
                        .map_err(|_| closed_error())?
                        .stored()
                }));
            }
        };
        match post(slot, draft, update) {
            // The future holds only the receiver, because many commits may wait at once.
            Ok(answer) => Reply::Later(Box::pin(async {
                answer.await.map_err(|_| closed_error())?.stored()
            })),
            Err(error) => Reply::Ready(Err(error)),
        }
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
            let (key, recorded) = (key.to_string(), value.clone());
            let earlier = self
                .0
                .writer
                .write(move |db| {
                    journal::drives(db, claim, 0, None)?;
                    let connection = &mut Statements(&db.connection);
                    complete(step(connection, claim.run_id, &key, &recorded))
                })
                .await?;
            Ok(earlier.unwrap_or(value))
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(self.0.writer.write(move |db| {
            journal::drives(db, claim, 0, None)?;
            complete(waits::wait(&mut Statements(&db.connection), claim, &wait))
        }))
    }
}

impl Engine for SqliteStore {
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

impl RunRegistry for SqliteStore {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        Box::pin(self.enqueue_run(claim, record))
    }

    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(self.make_claim(run, check))
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(
            self.0
                .writer
                .write(move |db| journal::last_finished(db, claim, &done)),
        )
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.0.writer.close(claim, (status, usage)))
    }

    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        let app = app.to_owned();
        Box::pin(
            self.0
                .writer
                .write(move |db| journal::cancel(db, &app, run)),
        )
    }

    fn delete_ended<'a>(
        &'a self,
        app: &'a str,
        runs: &'a [RunId],
        before: u64,
    ) -> BoxFuture<'a, Result<u64>> {
        let (app, runs) = (app.to_owned(), runs.to_owned());
        Box::pin(
            self.0
                .writer
                .write(move |db| journal::delete_ended(db, &app, &runs, before)),
        )
    }

    fn release(&self, claim: ClaimId) {
        self.0.writer.release(claim);
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
        let (app, filter) = (app.to_owned(), filter.clone());
        Box::pin(self.0.reader.read(move |connection: &Connection| {
            let whose = (Whose::App, &*app);
            complete(lists::count(&mut Statements(connection), whose, &filter))
        }))
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.list(Whose::Tenants, app, filter)
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(
            self.0
                .reader
                .read(move |connection| journal::driven(connection, run, from)),
        )
    }
}

impl RequestKeys for SqliteStore {
    fn bind<'a>(
        &'a self,
        key: &'a RequestKey,
        binding: &'a KeyBinding,
        replaces: Option<&'a str>,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<KeyBinding>> {
        let (key, binding, replaces) = (key.clone(), binding.clone(), replaces.map(str::to_owned));
        let bind = move |db: &mut Db| {
            keys::bind(
                &db.connection,
                &key,
                &binding,
                replaces.as_deref(),
                lifetime,
            )
        };
        Box::pin(self.0.writer.write(bind))
    }
}

impl WaitRegistry for SqliteStore {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let (app, filter) = (app.to_owned(), filter.clone());
        Box::pin(self.0.reader.read(move |connection| {
            complete(waits::waiting(&mut Statements(connection), &app, &filter))
        }))
    }

    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        let (app, wait) = (app.to_owned(), wait.to_owned());
        Box::pin(self.0.reader.read(move |connection| {
            complete(waits::open_wait(&mut Statements(connection), &app, &wait))
        }))
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
        Box::pin(self.0.writer.write(move |db| {
            journal::drives(db, claim, 0, None)?;
            complete(waits::withdraw(&mut Statements(&db.connection), &waits))
        }))
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        let (app, wait) = (app.to_owned(), wait.to_owned());
        Box::pin(self.0.writer.write(move |db| {
            let connection = &mut Statements(&db.connection);
            complete(waits::resolve(connection, &app, &wait, &answer))
        }))
    }
}
