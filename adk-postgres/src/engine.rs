//! The store as the engine of runs.

use crate::error::{Doing, closed};
use crate::lane::Job;
use crate::{PostgresStore, Shared, journal};
use adk_core::engine::{
    Body, Done, Engine, Fits, Reply, RunInfo, RunStatus, Slot, StepKey, Stored, Taken, Wait, Waiting, refuse,
};
use adk_core::{BoxFuture, Result, RunId};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A number that no taking of a run has.
const NOT_DRIVEN: i64 = -1;

impl Shared {
    fn epoch(&self, run: RunId) -> i64 {
        self.drives.held(run).map_or(NOT_DRIVEN, |held| held.epoch)
    }

    async fn take(self: &Arc<Self>, run: RunId, fits: Fits) -> Result<Taken> {
        let Some(_taking) = self.drives.taking(run) else { return Err(refuse::run_busy(run)) };
        self.lease().await?;
        let owner = &self.drives.owner;
        let (epoch, taken) = self
            .transact(&mut |connection| {
                let (owner, fits) = (owner.clone(), fits.clone());
                Box::pin(async move { journal::take(connection, run, &owner, &fits).await })
            })
            .await?;
        self.drives.begin(run, &taken.record.session, epoch);
        Ok(taken)
    }
}

impl Engine for PostgresStore {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            let draft = body.draft().await?;
            let (run, key) = (slot.run_id, slot.session_key().clone());
            if slot.begins.is_some() {
                self.0.lease().await?;
                self.0.drives.begin(run, &key, 1);
            }
            let (epoch, tried) = (self.0.epoch(run), Vec::new());
            self.0.ask(&key, |reply| Job::Commit { slot, draft, epoch, tried, reply }).await
        }))
    }

    fn step(&self, key: StepKey, work: BoxFuture<'static, Result<Value>>) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let value = work.await?;
            let run = key.run_id;
            // A run without an event has no record yet, and nothing that could be taken up again.
            let Some(held) = self.0.drives.held(run) else { return Ok(value) };
            let (key, epoch) = (key.to_string(), held.epoch);
            self.0.ask(&held.session, |reply| Job::Step { run, key, value, epoch, reply }).await
        })
    }

    fn answer(&self, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async move {
            let (key, epoch) = (wait.session.clone(), self.0.epoch(wait.key.run_id));
            self.0.ask(&key, |reply| Job::Wait { wait, epoch, reply }).await
        })
    }

    fn take(&self, run: RunId, fits: Fits) -> BoxFuture<'_, Result<Taken>> {
        let this = self.0.clone();
        Box::pin(async move {
            // In a task of its own: what was taken is given back when nobody waits for it any more.
            let (reply, result) = oneshot::channel();
            let (runtime, own) = (this.runtime.clone(), PostgresStore(this));
            runtime.spawn(async move {
                if let Err(Ok(_)) = reply.send(own.0.take(run, fits).await) {
                    own.release(run);
                }
            });
            result.await.map_err(|_| closed())?
        })
    }

    fn finished(&self, run: RunId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(held) = self.0.drives.held(run) else { return Ok(()) };
            let epoch = held.epoch;
            self.0.ask(&held.session, |reply| Job::Finished { run, done, epoch, reply }).await
        })
    }

    fn close(&self, run: RunId, status: RunStatus) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(held) = self.0.drives.end(run) else { return Ok(()) };
            let (status, epoch) = (Some(status), held.epoch);
            let close = |reply| Job::Close { run, status, epoch, reply: Some(reply) };
            self.0.ask(&held.session, close).await
        })
    }

    fn release(&self, run: RunId) {
        if let Some(held) = self.0.drives.end(run) {
            let job = Job::Close { run, status: None, epoch: held.epoch, reply: None };
            self.0.post(held.session, job);
        }
    }

    fn unfinished<'a>(&'a self, app: &'a str) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async move {
            let mut connection = self.0.pool.acquire().await.doing("list the runs")?;
            journal::unfinished(&self.0, &mut connection, app).await
        })
    }

    fn waiting<'a>(&'a self, app: &'a str, run: Option<RunId>) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        Box::pin(async move {
            let mut connection = self.0.pool.acquire().await.doing("list the waits")?;
            journal::waiting(&mut connection, app, run).await
        })
    }

    fn withdraw(&self, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let mut connection = self.0.pool.acquire().await.doing("withdraw a wait")?;
            journal::withdraw(&mut connection, &waits).await
        })
    }

    fn resolve<'a>(&'a self, app: &'a str, wait: &'a str, answer: Value) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut connection = self.0.pool.acquire().await.doing("answer a wait")?;
            journal::resolve(&mut connection, app, wait, &answer).await
        })
    }
}
