//! The store as the engine of runs.

use crate::commit::Commit;
use crate::error::closed;
use crate::{SqliteStore, journal};
use adk_core::engine::{
    Body, Done, Engine, Fits, Reply, RunInfo, RunStatus, Slot, StepKey, Stored, Taken, Wait, Waiting,
};
use adk_core::{BoxFuture, Result, RunId};
use rusqlite::Connection;
use serde_json::Value;

impl Engine for SqliteStore {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        let post = |slot, draft| {
            let (commit, answer) = Commit::new(slot, draft)?;
            self.0.writer.post(commit).map_err(|_| closed())?;
            Ok(answer)
        };
        match body {
            // What waits holds the answer alone: there may be many.
            Body::Ready(draft) => match post(slot, draft) {
                Ok(answer) => Reply::Later(Box::pin(async { answer.await.map_err(|_| closed())?.stored() })),
                Err(error) => Reply::Ready(Err(error)),
            },
            Body::Call(work) => Reply::Later(Box::pin(async move {
                let draft = work.await?;
                post(slot, draft)?.await.map_err(|_| closed())?.stored()
            })),
        }
    }

    fn step(&self, key: StepKey, work: BoxFuture<'static, Result<Value>>) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let value = work.await?;
            let (run, key, of) = (key.run_id, key.to_string(), value.clone());
            let earlier = self.0.writer.write(move |db| journal::step(db, run, &key, &of)).await?;
            Ok(earlier.unwrap_or(value))
        })
    }

    fn answer(&self, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(self.0.writer.write(move |db| journal::answer(db, &wait)))
    }

    fn take(&self, run: RunId, fits: Fits) -> BoxFuture<'_, Result<Taken>> {
        Box::pin(self.0.writer.take(run, fits))
    }

    fn finished(&self, run: RunId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.0.writer.write(move |db| journal::last_finished(db, run, &done)))
    }

    fn close(&self, run: RunId, status: RunStatus) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.0.writer.close(run, status))
    }

    fn release(&self, run: RunId) {
        self.0.writer.release(run);
    }

    fn unfinished<'a>(&'a self, app: &'a str) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let (app, owner) = (app.to_owned(), self.0.writer.owner.clone());
        let given_up = owner.given_up();
        let list = move |connection: &Connection| journal::unfinished(connection, &app, &owner, &given_up);
        Box::pin(self.0.reader.read(list))
    }

    fn waiting<'a>(&'a self, app: &'a str, run: Option<RunId>) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let app = app.to_owned();
        Box::pin(self.0.reader.read(move |connection| journal::waiting(connection, &app, run)))
    }

    fn withdraw(&self, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.0.writer.write(move |db| journal::withdraw(db, &waits)))
    }

    fn resolve<'a>(&'a self, app: &'a str, wait: &'a str, answer: Value) -> BoxFuture<'a, Result<()>> {
        let (app, wait) = (app.to_owned(), wait.to_owned());
        Box::pin(self.0.writer.write(move |db| journal::resolve(db, &app, &wait, &answer)))
    }
}
