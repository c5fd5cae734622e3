//! [`SessionHandle`]: a session by its key.

use super::place::open_session;
use super::request::RunRequest;
use super::{IntoInput, RunnerShared};
use crate::id::IdSeed;
use crate::runtime::live::LiveQueue;
use crate::runtime::resources::{Needs, NoResources};
use crate::runtime::workflow::{Live, Workflow};
use crate::store::engine::{Answerer, RunFilter, Waiting};
use crate::store::event::{Event, StateDelta};
use crate::store::session::{EventFilter, PAGE, Session, SessionKey, SessionSnapshot, now_micros};
use crate::{Part, Result};
use serde::Serialize;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// Handle of a user's session. Runs of one handle see the events and state of earlier runs.
pub struct SessionHandle<R = NoResources> {
    pub(super) shared: Arc<RunnerShared>,
    pub(super) key: SessionKey,
    resources: PhantomData<fn() -> R>,
}

impl<R> SessionHandle<R> {
    pub(super) fn new(shared: Arc<RunnerShared>, key: SessionKey) -> Self {
        Self {
            shared,
            key,
            resources: PhantomData,
        }
    }

    /// Returns the key: app, user and id.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Requests a run of a workflow in this session, which is created if it does not exist.
    pub fn run<'a, H, W>(
        &self,
        workflow: H,
        input: impl IntoInput<W::Input>,
    ) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::new(
            self.shared.clone(),
            self.key.clone(),
            false,
            workflow,
            input.into_input(),
        )
    }

    /// Requests a live run of a workflow in this session; see
    /// [`Runner::run_live`](super::Runner::run_live).
    pub fn run_live<'a, H, W>(
        &self,
        workflow: H,
        input: impl IntoInput<W::Input>,
        queue: &LiveQueue,
    ) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Live + Needs<R> + ?Sized,
    {
        RunRequest::live(
            self.shared.clone(),
            self.key.clone(),
            false,
            workflow,
            input.into_input(),
            queue,
        )
    }

    /// Lists the open waits of the runs of this session, in the order in which they began.
    /// [`Runner::waiting_of`](super::Runner::waiting_of) with `RunFilter::unfinished().user(...)`
    /// lists the waits of all sessions of a user.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn waiting(&self) -> Result<Vec<Waiting>> {
        let filter = RunFilter::unfinished().session(&self.key);
        self.shared.engine.waiting(&self.shared.app, &filter).await
    }

    /// Answers a wait of a run of this session, see [`Runner::answer`](super::Runner::answer).
    /// Waits of other sessions and users are unknown here.
    ///
    /// # Errors
    /// Fails as [`Runner::answer`](super::Runner::answer) does, and with
    /// [`ErrorKind::UnknownWait`](crate::ErrorKind::UnknownWait) for a wait of another session.
    pub async fn answer(&self, wait: &str, value: impl Serialize) -> Result<()> {
        self.answer_as(wait, value, &Answerer::default()).await
    }

    /// Answers a wait of a run of this session, and names the user who answers, see
    /// [`Runner::answer_as`](super::Runner::answer_as).
    ///
    /// # Errors
    /// Fails as [`Runner::answer_as`](super::Runner::answer_as) does, and with
    /// [`ErrorKind::UnknownWait`](crate::ErrorKind::UnknownWait) for a wait of another session.
    pub async fn answer_as(
        &self,
        wait: &str,
        value: impl Serialize,
        answerer: &Answerer,
    ) -> Result<()> {
        self.shared
            .answer(Some(&self.key), wait, value, answerer)
            .await
    }

    /// Creates the session with an initial state. Prefixes of the keys decide where values are
    /// stored: keys of the app and of the user are set for all their sessions, and `temp:` keys are
    /// dropped, because no run has begun.
    ///
    /// # Errors
    /// Fails when the session exists, when its ids or the state [cannot be
    /// stored](SessionKey::check), or when the store fails.
    pub async fn create(&self, state: StateDelta) -> Result<Arc<Session>> {
        self.key.check()?;
        self.shared.sessions.create(self.key.clone(), state).await
    }

    /// Returns the session with its state and its newest [`PAGE`] events. Creates the session if it
    /// does not exist. [`Session::load`] reads earlier events.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn open(&self) -> Result<Arc<Session>> {
        let session = open_session(&self.shared, &self.key).await?;
        session.load_newest(PAGE).await?;
        Ok(session)
    }

    /// Returns the current session with the events that the filter selects; `None` if the session
    /// does not exist. Unlike [`open`](Self::open), this method never creates one.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn get(&self, filter: &EventFilter) -> Result<Option<SessionSnapshot>> {
        self.shared.sessions.read(&self.key, filter).await
    }

    /// Appends events outside of any run, such as a change of the state by a user: ADK's
    /// `append_event`. An event without an id gets an id and the current time.
    ///
    /// # Errors
    /// Fails as [`SessionStore::append`](crate::session::SessionStore::append) does.
    pub async fn append(&self, mut events: Vec<Event>) -> Result<()> {
        let (seed, now) = (IdSeed::random(), now_micros());
        for (nth, event) in (0..).zip(events.iter_mut().filter(|event| event.id.is_nil())) {
            (event.id, event.timestamp) = (seed.event(now, nth), now);
        }
        self.shared.sessions.append(&self.key, events).await
    }

    /// Exports the session as lines of JSON, see [`export`](crate::store::session::export). Returns
    /// `false` if the session does not exist.
    ///
    /// # Errors
    /// Fails when the store fails, or when `line` fails.
    pub async fn export(&self, line: impl FnMut(&str) -> Result<()> + Send) -> Result<bool> {
        crate::store::session::export(&*self.shared.sessions, &self.key, line).await
    }

    /// Creates the session from the lines of an export, see
    /// [`import`](crate::store::session::import).
    ///
    /// # Errors
    /// Fails when the session exists, when a line is not part of an export, or when the store
    /// fails.
    pub async fn import<I>(&self, lines: I) -> Result<()>
    where
        I: IntoIterator<Item = Result<String>, IntoIter: Send>,
    {
        crate::store::session::import(&*self.shared.sessions, self.key.clone(), lines).await
    }

    /// Loads the latest version of an artifact.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn load_artifact(&self, name: &str) -> Result<Option<Part>> {
        self.shared
            .services
            .artifacts
            .load(&self.key, name, None)
            .await
    }

    /// Loads a version of an artifact, counted from 0.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn load_artifact_version(&self, name: &str, version: u32) -> Result<Option<Part>> {
        self.shared
            .services
            .artifacts
            .load(&self.key, name, Some(version))
            .await
    }

    /// Saves the next version of an artifact outside of any run, and returns its number.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn save_artifact(&self, name: &str, part: Part) -> Result<u32> {
        self.shared
            .services
            .artifacts
            .save(&self.key, name, part)
            .await
    }

    /// Deletes all versions of an artifact.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn delete_artifact(&self, name: &str) -> Result<()> {
        self.shared.services.artifacts.delete(&self.key, name).await
    }

    /// Lists the version numbers of an artifact, in ascending order.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn artifact_versions(&self, name: &str) -> Result<Vec<u32>> {
        self.shared
            .services
            .artifacts
            .versions(&self.key, name)
            .await
    }

    /// Lists the names of all artifacts of the session and its user, sorted.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn artifacts(&self) -> Result<Vec<String>> {
        self.shared.services.artifacts.list(&self.key).await
    }

    /// Adds the conversation since the last call to the memory of the user, see
    /// [`MemoryService`](crate::memory::MemoryService::add_session_to_memory): ADK's
    /// `add_session_to_memory`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), when the
    /// session does not exist, or when a store fails.
    pub async fn add_to_memory(&self) -> Result<()> {
        let memory = self.shared.services.memory()?;
        memory
            .add_session_to_memory(&*self.shared.sessions, &self.key)
            .await
    }

    /// Deletes the session with its events. Returns `false` if the session does not exist. The
    /// state of the user and of the app stays.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn delete(&self) -> Result<bool> {
        self.shared.sessions.delete(&self.key).await
    }
}

impl<R> Clone for SessionHandle<R> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), self.key.clone())
    }
}

impl<R> fmt::Debug for SessionHandle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionHandle({})", self.key)
    }
}
