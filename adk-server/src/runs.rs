//! The runs that this process drives: they go on without anybody who listens.

use crate::refuse::Refusal;
use crate::serve::Limits;
use adk_core::engine::{RunInfo, Waiting};
use adk_core::model::Usage;
use adk_core::runner::RunEnd;
use adk_core::session::SessionKey;
use adk_core::{Error, ErrorKind, Event, LifecyclePhase, Result, RunId, RunRequest, RunStream, Runner};
use axum::http::StatusCode;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::AbortHandle;

/// How many events are kept for a slow listener; then it reads them in the store.
const BEHIND: usize = 256;

/// How a run ended here.
#[derive(Debug)]
pub(crate) enum End {
    Finished { output: Value, usage: Usage },
    Paused,
    Failed(Error),
}

/// A run that was begun or taken up here.
pub(crate) struct Started {
    pub(crate) run: RunId,
    pub(crate) listener: Listener,
}

/// Hears the events of a run that is driven here from the moment at which it was made.
pub(crate) struct Listener {
    /// The begins of the steps that go on, for one who was not there when they came.
    pub(crate) begun: Vec<Arc<Event>>,
    pub(crate) events: broadcast::Receiver<Arc<Event>>,
    end: watch::Receiver<Option<Arc<End>>>,
}

impl Listener {
    /// How the run ended, once it has; `None` when the process stops before.
    pub(crate) async fn end(&mut self) -> Option<Arc<End>> {
        self.end.wait_for(Option::is_some).await.ok()?.clone()
    }

    pub(crate) fn ended(&self) -> Option<Arc<End>> {
        self.end.borrow().clone()
    }
}

struct Driven {
    events: broadcast::Sender<Arc<Event>>,
    begun: Arc<Begun>,
    end: watch::Receiver<Option<Arc<End>>>,
    task: AbortHandle,
}

/// The begins of the agents and blocks of a run that have not ended, where its events tell of them.
#[derive(Default)]
struct Begun(Mutex<Vec<Arc<Event>>>);

impl Begun {
    fn note(&self, event: &Arc<Event>) {
        match event.lifecycle().map(|lifecycle| lifecycle.phase) {
            Some(LifecyclePhase::Started) => lock(&self.0).push(event.clone()),
            Some(_) => lock(&self.0).retain(|begun| begun.path != event.path),
            None => {}
        }
    }
}

/// A run goes on here, or it does not any more or was cancelled.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "push"), expect(dead_code, reason = "only the sender of notifications reads it"))]
pub(crate) struct Change {
    pub(crate) app: String,
    pub(crate) run: RunId,
    pub(crate) goes_on: bool,
}

pub(crate) struct Runs {
    driven: Mutex<HashMap<RunId, Driven>>,
    /// Those that are about to be.
    reserved: Mutex<Vec<RunId>>,
    /// How many there are for each user of an app, with those that have no id yet.
    by_user: Mutex<HashMap<User, usize>>,
    /// Who hears of changes, if anybody does.
    changes: Option<mpsc::UnboundedSender<Change>>,
    /// Whether new ones are taken, and how many there are.
    open: watch::Sender<Open>,
    most: usize,
}

#[derive(Clone, Copy)]
struct Open {
    is_closing: bool,
    count: usize,
}

/// An app and one of its users: the users of two tenants may have the same name.
type User = (String, String);

/// One run of a user, for as long as this lives.
struct Place {
    runs: Arc<Runs>,
    of: User,
}

impl Runs {
    pub(crate) fn new(limits: &Limits, changes: Option<mpsc::UnboundedSender<Change>>) -> Self {
        let open = watch::Sender::new(Open { is_closing: false, count: 0 });
        let (driven, reserved, by_user) = Default::default();
        Self { driven, reserved, by_user, changes, open, most: limits.runs_per_user }
    }

    /// Drives a run to its end or its next wait. It is in the registry when this returns: its first event is committed, or it
    /// waits for the turn of its session.
    ///
    /// # Errors
    /// When the server stops, the user has too many runs, or the run cannot begin.
    pub(crate) async fn start(
        self: &Arc<Self>,
        session: &SessionKey,
        request: RunRequest<'static, Value>,
    ) -> Result<Started, Refusal> {
        let place = self.place(session)?;
        let mut stream = request.stream();
        let run = stream.entered().await?;
        let listener = self.spawn(lock(&self.driven), run, place, stream);
        Ok(Started { run, listener })
    }

    /// Drives a run that was resumed, and hears all of it. Its first new event may come late, so nobody waits for it. Nothing
    /// where it is driven here already, or the user has too many runs.
    pub(crate) fn go_on(
        self: &Arc<Self>,
        session: &SessionKey,
        run: RunId,
        request: RunRequest<'static, Value>,
    ) -> Option<Listener> {
        let place = self.place(session).ok()?;
        let all = lock(&self.driven);
        // Two answers to one run may come at once.
        (!all.contains_key(&run)).then(|| {
            self.changed(&session.app, run, true);
            self.spawn(all, run, place, request.stream())
        })
    }

    /// Drives a run that another process has left, or that was answered there, as all others here. The runner is one for its app.
    ///
    /// # Errors
    /// Those of the run; [`ErrorKind::RunBusy`] where its user has no room for it now.
    pub(crate) async fn resume(self: Arc<Self>, runner: Runner, run: RunInfo) -> Result<Vec<Waiting>> {
        let request = runner.resume_by_name(&run)?;
        let end = match self.go_on(&run.session, run.run_id, request) {
            Some(mut listener) => listener.end().await,
            None => None,
        };
        match end.as_deref() {
            Some(End::Finished { .. } | End::Paused) => Ok(Vec::new()),
            Some(End::Failed(error)) => Err(Error::new(error.kind(), error.message())),
            None => Err(Error::new(ErrorKind::RunBusy, "it is not driven here")),
        }
    }

    /// Keeps a run that is about to be answered for one who then [drives](Self::go_on) it, and hears all of it.
    pub(crate) fn reserve(self: &Arc<Self>, run: RunId) -> Reserved {
        lock(&self.reserved).push(run);
        Reserved { runs: self.clone(), run }
    }

    /// Whether a run is driven here or is about to be.
    pub(crate) fn is_ours(&self, run: RunId) -> bool {
        lock(&self.reserved).contains(&run) || lock(&self.driven).contains_key(&run)
    }

    fn spawn(
        self: &Arc<Self>,
        mut all: MutexGuard<'_, HashMap<RunId, Driven>>,
        run: RunId,
        place: Place,
        stream: RunStream<'static, Value>,
    ) -> Listener {
        let (events, (ends, end)) = (broadcast::Sender::new(BEHIND), watch::channel(None));
        let begun = Arc::<Begun>::default();
        let listener = Listener { begun: Vec::new(), events: events.subscribe(), end: end.clone() };
        let (runs, sender, noted) = (self.clone(), events.clone(), begun.clone());
        let task = tokio::spawn(async move {
            let gone = Gone { runs: &runs, run };
            let ended = drive(stream, &noted, &sender).await;
            // Another one was faster and drives it: its events are in the store.
            if !matches!(&ended, End::Failed(error) if error.kind() == ErrorKind::RunBusy) {
                ends.send_replace(Some(Arc::new(ended)));
            }
            drop(gone);
            runs.changed(&place.of.0, run, false);
        });
        all.insert(run, Driven { events, begun, end, task: task.abort_handle() });
        listener
    }

    /// Says that a run goes on here, or that it does not any more or was cancelled.
    pub(crate) fn changed(&self, app: &str, run: RunId, goes_on: bool) {
        if let Some(changes) = &self.changes {
            // Who hears of them ends with the server.
            let _ = changes.send(Change { app: app.to_owned(), run, goes_on });
        }
    }

    /// A listener of a run that is driven here.
    pub(crate) fn listen(&self, run: RunId) -> Option<Listener> {
        let all = lock(&self.driven);
        let driven = all.get(&run)?;
        // The events before the begins: what begins between the two is heard twice, and nothing is missed.
        let events = driven.events.subscribe();
        let begun = lock(&driven.begun.0).clone();
        Some(Listener { begun, events, end: driven.end.clone() })
    }

    /// The begins of what goes on in a run that is driven here.
    pub(crate) fn begun(&self, run: RunId) -> Vec<Arc<Event>> {
        lock(&self.driven).get(&run).map(|driven| lock(&driven.begun.0).clone()).unwrap_or_default()
    }

    /// Whether new runs are taken.
    pub(crate) fn is_closing(&self) -> bool {
        self.open.borrow().is_closing
    }

    /// Takes no new runs, and waits until those that are driven have ended or wait.
    pub(crate) async fn close(&self) {
        self.open.send_modify(|open| open.is_closing = true);
        let _ = self.open.subscribe().wait_for(|open| open.count == 0).await;
    }

    /// Ends when new runs are not taken any more.
    #[cfg(feature = "mcp")]
    pub(crate) fn closing(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut open = self.open.subscribe();
        async move { drop(open.wait_for(|open| open.is_closing).await) }
    }

    /// Lets go of what is still driven: it stays in the store as it is, for the next process.
    pub(crate) fn abandon(&self) {
        for driven in lock(&self.driven).values() {
            driven.task.abort();
        }
    }

    fn place(self: &Arc<Self>, session: &SessionKey) -> Result<Place, Refusal> {
        let mut by_user = lock(&self.by_user);
        let mut is_closing = false;
        self.open.send_modify(|open| {
            is_closing = open.is_closing;
            open.count += usize::from(!is_closing);
        });
        if is_closing {
            let message = "the server stops and takes no new runs";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "closing", message).help("ask again"));
        }
        let of = (session.app.clone(), session.user.clone());
        let count = by_user.entry(of.clone()).or_default();
        *count += 1;
        let place = Place { runs: self.clone(), of };
        if *count > self.most {
            drop(by_user);
            drop(place);
            let message =
                format!("{} runs of this user are driven at the moment, and that is the most", self.most);
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", message)
                .help("wait until one has ended, or cancel one"));
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut by_user = lock(&self.runs.by_user);
        if let Some(count) = by_user.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                by_user.remove(&self.of);
            }
        }
        self.runs.open.send_modify(|open| open.count -= 1);
    }
}

/// A run is kept for one who will drive it, for as long as this lives.
pub(crate) struct Reserved {
    runs: Arc<Runs>,
    run: RunId,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut reserved = lock(&self.runs.reserved);
        if let Some(at) = reserved.iter().position(|run| *run == self.run) {
            reserved.swap_remove(at);
        }
    }
}

/// Takes a run off the list, however its task ends.
struct Gone<'a> {
    runs: &'a Runs,
    run: RunId,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        lock(&self.runs.driven).remove(&self.run);
    }
}

/// Drives a run to its end or its next wait.
async fn drive(
    mut stream: RunStream<'static, Value>,
    begun: &Begun,
    events: &broadcast::Sender<Arc<Event>>,
) -> End {
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                begun.note(&event);
                // Nobody may listen.
                drop(events.send(event));
            }
            Err(error) => return End::Failed(error),
        }
    }
    match stream.end() {
        RunEnd::Finished(outcome) => End::Finished { output: outcome.output, usage: outcome.usage },
        RunEnd::Paused(_) => End::Paused,
        RunEnd::Running | RunEnd::Failed => {
            End::Failed(Error::new(adk_core::ErrorKind::Agent, "the run ended without an outcome"))
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
