//! [`Runs`]: the runs that this process drives. A run needs no connected client.

use super::limits::{UserLimit, UserPermit, lock};
use super::pauses::Pauses;
use crate::refuse::Refusal;
use adk_core::engine::{RunFilter, RunInfo, Waiting};
use adk_core::model::Usage;
use adk_core::runner::RunEnd;
use adk_core::session::SessionKey;
use adk_core::{
    Error, ErrorKind, Event, LifecyclePhase, Result, RunId, RunRequest, RunStream, Runner,
};
use axum::http::StatusCode;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::AbortHandle;

/// The number of events that are buffered for a slow listener before it falls back to the store.
const BUFFERED_EVENTS: usize = 256;

/// The end of a run that this process drove.
#[derive(Debug)]
pub enum RunEnding {
    /// The run has finished.
    Finished {
        /// The output of the workflow.
        output: Value,
        /// The tokens that the run has used.
        usage: Usage,
    },
    /// The run waits for an answer.
    Paused,
    /// The run has failed or was cancelled, or the store has failed.
    Failed(Error),
}

/// A run that this process has started or resumed.
pub(crate) struct Started {
    pub(crate) run: RunId,
    pub(crate) listener: Listener,
}

/// Receives the events of a run that this process drives, from the creation of the listener on.
#[derive(Debug)]
pub struct Listener {
    /// The start events of the steps that were open when the listener was created, and the progress
    /// of each open `each`.
    pub(crate) open_steps: Vec<Arc<Event>>,
    pub(crate) events: broadcast::Receiver<Arc<Event>>,
    /// Whether the listener receives all events since the run was started or resumed.
    pub(crate) is_complete: bool,
    end: watch::Receiver<Option<Arc<RunEnding>>>,
}

impl Listener {
    /// Waits for the end of the run. Returns `None` if the process stops first.
    pub async fn end(&mut self) -> Option<Arc<RunEnding>> {
        self.end.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Returns the end of the run, or `None` if this process still drives the run.
    pub(crate) fn try_end(&self) -> Option<Arc<RunEnding>> {
        self.end.borrow().clone()
    }
}

struct DrivenRun {
    events: broadcast::Sender<Arc<Event>>,
    open_steps: Arc<OpenSteps>,
    end: watch::Receiver<Option<Arc<RunEnding>>>,
    task: AbortHandle,
}

/// The start events of the agents and blocks of a run that have not ended, each with the latest
/// progress of an `each`.
#[derive(Default)]
struct OpenSteps(Mutex<Vec<StartedStep>>);

struct StartedStep {
    started: Arc<Event>,
    progress: Option<Arc<Event>>,
}

impl OpenSteps {
    fn note(&self, event: &Arc<Event>) {
        let Some(lifecycle) = event.lifecycle() else {
            return;
        };
        let mut open = lock(&self.0);
        match lifecycle.phase {
            LifecyclePhase::Started => open.push(StartedStep {
                started: event.clone(),
                progress: None,
            }),
            LifecyclePhase::Progress { .. } => {
                let each = open.iter_mut().find(|step| step.started.path == event.path);
                if let Some(each) = each {
                    each.progress = Some(event.clone());
                }
            }
            _ => open.retain(|step| step.started.path != event.path),
        }
    }

    /// Returns the events that inform a new listener.
    fn events(&self) -> Vec<Arc<Event>> {
        let open = lock(&self.0);
        let events = |step: &StartedStep| [Some(step.started.clone()), step.progress.clone()];
        open.iter().flat_map(events).flatten().collect()
    }

    /// Returns the start events.
    fn started(&self) -> Vec<Arc<Event>> {
        let open = lock(&self.0);
        open.iter().map(|step| step.started.clone()).collect()
    }
}

/// A run was started, has ended or was cancelled.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "push"),
    expect(dead_code, reason = "only the sender of notifications reads it")
)]
pub(crate) struct RunChange {
    pub(crate) app: String,
    pub(crate) run: RunId,
    pub(crate) is_running: bool,
}

pub(crate) struct Runs {
    driven: Mutex<HashMap<RunId, DrivenRun>>,
    /// Runs that this process is about to drive.
    reserved: Mutex<Vec<RunId>>,
    /// The number of runs of each user of an app, including runs that have no id yet.
    by_user: Arc<UserLimit>,
    /// The paused runs that streams wait for.
    pub(super) pauses: Arc<Pauses>,
    /// The subscribers of changes.
    changes: Mutex<Vec<mpsc::UnboundedSender<RunChange>>>,
    /// Whether the server accepts new runs, and the number of driven runs.
    open: watch::Sender<Admission>,
}

#[derive(Clone, Copy)]
struct Admission {
    is_closing: bool,
    count: usize,
}

/// The permit for one run of a user. Dropping it frees the slot.
struct RunPermit {
    runs: Arc<Runs>,
    user: UserPermit,
}

impl Runs {
    pub(crate) fn new(max_per_user: usize) -> Self {
        let open = watch::Sender::new(Admission {
            is_closing: false,
            count: 0,
        });
        Self {
            driven: Mutex::default(),
            reserved: Mutex::default(),
            by_user: UserLimit::new(max_per_user),
            pauses: Arc::default(),
            changes: Mutex::default(),
            open,
        }
    }

    /// Starts a run and drives it to its end or its next wait.
    ///
    /// The registry has the run when this function returns: its first event is committed, or the
    /// run is queued in its session.
    ///
    /// # Errors
    /// If the server stops, the user has too many runs, or the run cannot start.
    pub(crate) async fn start(
        self: &Arc<Self>,
        session: &SessionKey,
        request: RunRequest<'static, Value>,
    ) -> Result<Started, Refusal> {
        let permit = self.acquire_permit(session)?;
        let mut stream = request.stream();
        let run = stream.entered().await?;
        let listener = self.spawn(lock(&self.driven), run, permit, stream);
        Ok(Started { run, listener })
    }

    /// Drives a resumed run and returns a listener for all its events. The function does not wait
    /// for the first event, which may come late. Returns `None` if this process drives the run
    /// already, or the user has too many runs.
    pub(crate) fn drive_resumed(
        self: &Arc<Self>,
        session: &SessionKey,
        run: RunId,
        request: RunRequest<'static, Value>,
    ) -> Option<Listener> {
        let permit = self.acquire_permit(session).ok()?;
        let all = lock(&self.driven);
        // Two answers to one run may arrive at the same time.
        (!all.contains_key(&run)).then(|| {
            self.report_change(&session.app, run, true);
            self.spawn(all, run, permit, request.stream())
        })
    }

    /// Drives a run that another process has released or answered. `runner` must be the runner of
    /// its app.
    ///
    /// # Errors
    /// The errors of the run; [`ErrorKind::RunBusy`] if the user has too many runs.
    pub(crate) async fn resume(
        self: Arc<Self>,
        runner: Runner,
        run: RunInfo,
    ) -> Result<Vec<Waiting>> {
        let request = runner.resume_by_name(&run)?;
        let end = match self.drive_resumed(&run.session, run.run_id, request) {
            Some(mut listener) => listener.end().await,
            None => None,
        };
        match end.as_deref() {
            Some(RunEnding::Finished { .. } | RunEnding::Paused) => Ok(Vec::new()),
            Some(RunEnding::Failed(error)) => Err(Error::new(error.kind(), error.message())),
            None => Err(Error::new(
                ErrorKind::RunBusy,
                "this process does not drive the run",
            )),
        }
    }

    /// Drives a run that has an answer, unless a process drives it already. Returns a listener for
    /// all its events if this call drives the run.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) async fn resume_answered(
        self: &Arc<Self>,
        runner: &Runner,
        run: RunId,
    ) -> Result<Option<Listener>> {
        let ready = runner
            .runs(&RunFilter::of_run(run))
            .await?
            .into_iter()
            .find(|run| run.is_ready);
        if let Some(run) = ready
            && let Ok(request) = runner.resume_by_name(&run)
        {
            return Ok(self.drive_resumed(&run.session, run.run_id, request));
        }
        Ok(None)
    }

    /// Reserves a run before it is answered, so that only the answering request
    /// [drives](Self::drive_resumed) it.
    pub(crate) fn reserve(self: &Arc<Self>, run: RunId) -> Reservation {
        lock(&self.reserved).push(run);
        Reservation {
            runs: self.clone(),
            run,
        }
    }

    /// Returns whether this process drives the run or is about to.
    pub(crate) fn is_driven_here(&self, run: RunId) -> bool {
        lock(&self.reserved).contains(&run) || lock(&self.driven).contains_key(&run)
    }

    fn spawn(
        self: &Arc<Self>,
        mut all: MutexGuard<'_, HashMap<RunId, DrivenRun>>,
        run: RunId,
        permit: RunPermit,
        stream: RunStream<'static, Value>,
    ) -> Listener {
        let (events, (ends, end)) = (
            broadcast::Sender::new(BUFFERED_EVENTS),
            watch::channel(None),
        );
        let open_steps = Arc::<OpenSteps>::default();
        let listener = Listener {
            open_steps: Vec::new(),
            events: events.subscribe(),
            is_complete: true,
            end: end.clone(),
        };
        let (runs, sender, noted) = (self.clone(), events.clone(), open_steps.clone());
        let task = tokio::spawn(async move {
            let guard = DrivenGuard { runs: &runs, run };
            let ended = drive(stream, &noted, &sender).await;
            // Another process drives the run; the listener reads its events from the store.
            if !matches!(&ended, RunEnding::Failed(error) if error.kind() == ErrorKind::RunBusy) {
                ends.send_replace(Some(Arc::new(ended)));
            }
            drop(guard);
            runs.report_change(permit.user.app(), run, false);
        });
        all.insert(
            run,
            DrivenRun {
                events,
                open_steps,
                end,
                task: task.abort_handle(),
            },
        );
        listener
    }

    /// Reports that a run was started (`is_running`), has ended or was cancelled.
    pub(crate) fn report_change(&self, app: &str, run: RunId, is_running: bool) {
        let change = || RunChange {
            app: app.to_owned(),
            run,
            is_running,
        };
        lock(&self.changes).retain(|subscriber| subscriber.send(change()).is_ok());
        self.pauses.wake(run);
    }

    /// Subscribes to the changes of all runs.
    #[cfg(feature = "push")]
    pub(crate) fn changes(&self) -> mpsc::UnboundedReceiver<RunChange> {
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&self.changes).push(sender);
        receiver
    }

    /// Returns a listener of a run that this process drives.
    pub(crate) fn listen(&self, run: RunId) -> Option<Listener> {
        let all = lock(&self.driven);
        let driven = all.get(&run)?;
        // Subscribe before reading the open steps: a step that starts in between is seen twice, not
        // missed.
        let events = driven.events.subscribe();
        let open_steps = driven.open_steps.events();
        Some(Listener {
            open_steps,
            events,
            is_complete: false,
            end: driven.end.clone(),
        })
    }

    /// Returns the start events of the open steps of a run that this process drives.
    pub(crate) fn open_steps(&self, run: RunId) -> Vec<Arc<Event>> {
        lock(&self.driven)
            .get(&run)
            .map(|driven| driven.open_steps.started())
            .unwrap_or_default()
    }

    /// Returns whether the server refuses new runs because it stops.
    pub(crate) fn is_closing(&self) -> bool {
        self.open.borrow().is_closing
    }

    /// Refuses new runs, and waits until all driven runs have ended or wait.
    pub(crate) async fn close(&self) {
        self.open.send_modify(|open| open.is_closing = true);
        self.pauses.close();
        let _ = self.open.subscribe().wait_for(|open| open.count == 0).await;
    }

    /// Completes when the server begins to refuse new runs.
    #[cfg(feature = "mcp")]
    pub(crate) fn wait_closing(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let mut open = self.open.subscribe();
        async move { drop(open.wait_for(|open| open.is_closing).await) }
    }

    /// Aborts all driven runs. They stay in the store for the next process.
    pub(crate) fn abandon(&self) {
        for driven in lock(&self.driven).values() {
            driven.task.abort();
        }
    }

    fn acquire_permit(self: &Arc<Self>, session: &SessionKey) -> Result<RunPermit, Refusal> {
        let user = self
            .by_user
            .acquire((session.app.clone(), session.user.clone()));
        let mut is_closing = false;
        self.open.send_modify(|open| {
            is_closing = open.is_closing;
            open.count += usize::from(!is_closing && user.is_some());
        });
        if is_closing {
            let message = "the server is stopping and accepts no new runs";
            return Err(
                Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "closing", message)
                    .help("send the request again"),
            );
        }
        let user = user.ok_or_else(|| {
            let message = format!(
                "this user has reached the limit of {} concurrent runs",
                self.by_user.max()
            );
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", message)
                .help("wait until a run has ended, or cancel one")
        })?;
        Ok(RunPermit {
            runs: self.clone(),
            user,
        })
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.runs.open.send_modify(|open| open.count -= 1);
    }
}

/// The reservation of a run for the caller that will drive it. Dropping it ends the reservation.
#[must_use = "the reservation ends when it is dropped"]
pub struct Reservation {
    runs: Arc<Runs>,
    run: RunId,
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reservation({})", self.run)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut reserved = lock(&self.runs.reserved);
        if let Some(at) = reserved.iter().position(|run| *run == self.run) {
            reserved.swap_remove(at);
        }
    }
}

/// Removes a run from the list when its task ends, panics included.
struct DrivenGuard<'a> {
    runs: &'a Runs,
    run: RunId,
}

impl Drop for DrivenGuard<'_> {
    fn drop(&mut self) {
        lock(&self.runs.driven).remove(&self.run);
    }
}

/// Drives a run to its end or its next wait.
async fn drive(
    mut stream: RunStream<'static, Value>,
    open_steps: &OpenSteps,
    events: &broadcast::Sender<Arc<Event>>,
) -> RunEnding {
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                open_steps.note(&event);
                // Sending fails if the run has no listener.
                drop(events.send(event));
            }
            Err(error) => return RunEnding::Failed(error),
        }
    }
    match stream.end() {
        RunEnd::Finished(outcome) => RunEnding::Finished {
            output: outcome.output,
            usage: outcome.usage,
        },
        RunEnd::Paused(_) => RunEnding::Paused,
        RunEnd::Running | RunEnd::Failed => RunEnding::Failed(Error::new(
            adk_core::ErrorKind::Agent,
            "the run ended without an outcome",
        )),
    }
}
