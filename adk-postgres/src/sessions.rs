//! [`SessionStore`] of [`PostgresStore`].

use crate::error::closed_error;
use crate::lane::{Job, Reply};
use crate::transact::read_at_once;
use crate::{PostgresStore, Shared, log, reader};
use adk_journal::session::{
    EventFilter, Location, Session, SessionKey, SessionSnapshot, SessionStore, forget_temp,
    now_micros,
};
use adk_journal::{Event, StateDelta};
use adk_model::{BoxFuture, Result};
use adk_store::sessions::Found;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Shared {
    /// Posts a job for a session, and waits for its result.
    pub(crate) async fn ask<T>(
        self: &Arc<Self>,
        key: &SessionKey,
        job: impl FnOnce(Reply<T>) -> Job,
    ) -> Result<T> {
        let (reply, result) = oneshot::channel();
        self.post(key.clone(), job(reply));
        result.await.map_err(|_| closed_error())?
    }

    async fn open(self: &Arc<Self>, key: &SessionKey) -> Result<Option<Arc<Session>>> {
        self.ask(key, |reply| Job::Open { reply }).await
    }

    /// Creates a session. Returns `false` if it already exists.
    async fn create(self: &Arc<Self>, key: &SessionKey, state: &StateDelta) -> Result<bool> {
        let (this, key, state) = (self.clone(), key.clone(), state.clone());
        let created = self.runtime.spawn(async move {
            this.transact_once(&mut |connection| {
                let (key, state) = (key.clone(), state.clone());
                Box::pin(async move { log::create(connection, &key, &state, now_micros()).await })
            })
            .await
        });
        created.await.map_err(|_| closed_error())?
    }

    async fn snapshot(self: &Arc<Self>, key: &SessionKey, filter: &EventFilter) -> Result<Found> {
        let wanted = (key.clone(), filter.clone());
        let read = self.call_with(wanted, |connection, (key, filter)| {
            Box::pin(read_at_once(
                connection,
                "read a session",
                async |connection| reader::snapshot(connection, key, filter).await,
            ))
        });
        read.await
    }
}

/// Reports whether a session with that key can exist. Postgres rejects NUL characters even in a
/// search.
fn can_exist(key: &SessionKey) -> bool {
    ![&key.app, &key.user, &key.id]
        .into_iter()
        .any(|id| has_nul(id))
}

fn has_nul(id: &str) -> bool {
    id.contains('\0')
}

impl SessionStore for PostgresStore {
    fn location(&self) -> Location {
        self.database()
    }

    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(async move {
            key.check()?;
            state.check_depth()?;
            if !self.0.create(&key, &state).await? {
                return Err(key.exists());
            }
            self.0.open(&key).await?.ok_or_else(|| key.missing())
        })
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(async move {
            if can_exist(key) {
                self.0.open(key).await
            } else {
                Ok(None)
            }
        })
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        Box::pin(async move {
            while can_exist(key) {
                match self.0.snapshot(key, filter).await? {
                    Found::Nothing => return Ok(None),
                    Found::Session(snapshot) => return Ok(Some(snapshot)),
                    // Locking the session gives places to the events.
                    Found::NeedsPlaces => {
                        if !self.0.ask(key, |reply| Job::Look { reply }).await? {
                            return Ok(None);
                        }
                    }
                }
            }
            Ok(None)
        })
    }

    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        mut events: Vec<Event>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            events.iter().try_for_each(Event::check_depth)?;
            if !can_exist(key) {
                return Err(key.missing());
            }
            forget_temp(&mut events);
            self.0
                .ask(key, |reply| Job::Append { events, reply })
                .await?;
            // If this process has the session open, the open session receives the events now.
            if self.0.live.is_open(key) {
                self.0.open(key).await.map(drop)
            } else {
                Ok(())
            }
        })
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        let (app, user, prefix) = (app.to_owned(), user.map(str::to_owned), prefix.to_owned());
        if [Some(&app), user.as_ref(), Some(&prefix)]
            .into_iter()
            .flatten()
            .any(|id| has_nul(id))
        {
            return Box::pin(std::future::ready(Ok(Vec::new())));
        }
        let list = self
            .0
            .call_with((app, user, prefix), |connection, (app, user, prefix)| {
                Box::pin(reader::list(connection, app, user.as_deref(), prefix))
            });
        Box::pin(list)
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            if !can_exist(key) {
                return Ok(false);
            }
            self.0.live.remove(key);
            let delete = self.0.call_with(key.clone(), |connection, key| {
                Box::pin(log::delete(connection, key))
            });
            delete.await
        })
    }
}
