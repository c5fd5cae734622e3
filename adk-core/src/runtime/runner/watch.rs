//! Runs that go on by themselves: as soon as they are answered, and when a deadline passes.

use super::queue::heads;
use super::recover::{PAGE, Recovered};
use super::{Runner, RunnerShared};
use crate::store::engine::{RunFilter, RunInfo, Waiting};
use crate::store::session::SessionKey;
use crate::{BoxFuture, Error, ErrorKind, Result, RunId, StoreErrorKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// How often the store is looked at, unless [`Watch::every`] says otherwise.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many runs are driven at a time, unless [`Watch::at_most`] says otherwise.
const MAX_RUNS: usize = 1024;

/// The longest that a run is let alone after its store has failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What [`Runner::watch`] returns: awaited it resumes runs until it is dropped.
#[must_use = "nothing is watched until it is awaited"]
pub struct Watch {
    shared: Arc<RunnerShared>,
    every: Duration,
    at_most: usize,
    is_left: Box<dyn Fn(RunId) -> bool + Send>,
    resume: Option<Resume>,
    on_recovered: Box<dyn FnMut(Recovered) + Send>,
}

/// Drives a run to its end or its next wait.
type Resume = Box<dyn Fn(RunInfo) -> BoxFuture<'static, Result<Vec<Waiting>>> + Send>;

impl<P, R> Runner<P, R> {
    /// Resumes runs as [`recover`](Self::recover) does, and does not end: those that are answered, by whatever process,
    /// those whose process has ended, and those whose deadline passes, on time. The workflows are those of
    /// [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow); other runs are left to others. It covers the app of this
    /// runner and all tenants that have such runs, in whatever process a runner was made for them by
    /// [`for_app`](Self::for_app); a runner that `for_app` has made watches its app alone. The apps of other programs in the
    /// same store are left to those.
    ///
    /// It is a future of its own; drop it to end it, for example at the end of a `tokio::select!`. What it drives then stays
    /// where it is and can be resumed. A store that is away, locked, full or read-only is waited for. It ends by itself only
    /// when the store fails for good, with that error.
    ///
    /// ```no_run
    /// # use adk_core as adk;
    /// # async fn run(runner: adk::Runner) {
    /// let watch = runner.watch().inspect(|run| println!("{} went on: {:?}", run.run_id, run.result));
    /// let error = watch.await;
    /// eprintln!("the store has failed: {error}");
    /// # }
    /// ```
    pub fn watch(&self) -> Watch {
        Watch {
            shared: self.shared.clone(),
            every: INTERVAL,
            at_most: MAX_RUNS,
            is_left: Box::new(|_| false),
            resume: None,
            on_recovered: Box::new(drop),
        }
    }
}

impl Watch {
    /// How often the store is looked at for new answers, new deadlines, and runs whose process has ended. Default: each
    /// second. A deadline that is known is taken on time.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// How many runs are driven at a time; others wait for their turn. At least one, default 1024.
    pub fn at_most(mut self, runs: usize) -> Self {
        self.at_most = runs.max(1);
        self
    }

    /// Leaves runs alone for as long as this says so: those that the program answers and then drives itself.
    pub fn leave(mut self, is_left: impl Fn(RunId) -> bool + Send + 'static) -> Self {
        self.is_left = Box::new(is_left);
        self
    }

    /// Has runs driven by this, to their end or their next wait, such as by
    /// [`Runner::resume_by_name`](super::Runner::resume_by_name) of a runner for the app of the run. A run that it refuses with
    /// [`ErrorKind::RunBusy`] is offered again later, after others. Default: it drives them itself.
    pub fn resume_by<F>(mut self, resume: impl Fn(RunInfo) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Vec<Waiting>>> + Send + 'static,
    {
        self.resume = Some(Box::new(move |run| Box::pin(resume(run))));
        self
    }

    /// Calls this for each run that went on, with how it ended, or what it waits for now; and for each that could not be
    /// resumed.
    pub fn inspect(mut self, on_recovered: impl FnMut(Recovered) + Send + 'static) -> Self {
        self.on_recovered = Box::new(on_recovered);
        self
    }

    fn drive(&self, run: RunInfo) -> BoxFuture<'static, Recovered> {
        let Some(resume) = &self.resume else { return Box::pin(self.shared.clone().drive(run)) };
        let (run_id, session, workflow) = (run.run_id, run.session.clone(), run.workflow.clone());
        let resumed = resume(run);
        Box::pin(async move { Recovered { run_id, session, workflow, result: resumed.await } })
    }

    async fn run(mut self) -> Error {
        let mut driven = FuturesUnordered::new();
        let mut runs = WatchedRuns::default();
        let mut current_scan: Option<BoxFuture<'static, Result<StoreScan>>> = None;
        let mut pause = Box::pin(tokio::time::sleep(Duration::ZERO));
        loop {
            if current_scan.is_none() && pause.is_elapsed() && driven.len() < self.at_most {
                let room = self.at_most - driven.len();
                let scan = scan_store(self.shared.clone(), runs.unavailable(), runs.sessions(), room);
                current_scan = Some(Box::pin(scan));
            }
            // All that holds a connection of the store is polled here, also while another waits for one.
            let next = poll_fn(|task| {
                if let Poll::Ready(Some(ended)) = driven.poll_next_unpin(task) {
                    return Poll::Ready(WatchStep::Ended(ended));
                }
                match &mut current_scan {
                    Some(scan) => scan.as_mut().poll(task).map(WatchStep::Scanned),
                    None => pause.as_mut().poll(task).map(|()| WatchStep::Scan),
                }
            });
            match next.await {
                WatchStep::Ended(ended) => {
                    runs.record_end(&ended, self.every.min(INTERVAL));
                    // It may have left something to look at, and there is room for another.
                    pause.as_mut().reset(Instant::now());
                    if !ended.result.as_ref().is_err_and(|error| error.kind() == ErrorKind::RunBusy) {
                        (self.on_recovered)(ended);
                    }
                }
                WatchStep::Scanned(scanned) => {
                    current_scan = None;
                    let mut wait = runs.next_retry().map_or(self.every, |next| next.min(self.every));
                    match scanned {
                        Ok(StoreScan { ready, next, is_full }) => {
                            wait = next.map_or(wait, |next| next.min(wait));
                            wait = if is_full { Duration::ZERO } else { wait };
                            for run in ready {
                                if !(self.is_left)(run.run_id) && runs.begin(&run) {
                                    driven.push(self.drive(run));
                                }
                            }
                        }
                        Err(error) if is_temporary(&error) => {}
                        Err(error) => return error,
                    }
                    pause.as_mut().reset(Instant::now() + wait);
                }
                WatchStep::Scan => {}
            }
            if driven.len() >= self.at_most && pause.is_elapsed() {
                // There is no room before one has ended, which looks again at once.
                pause.as_mut().reset(Instant::now() + self.every);
            }
        }
    }
}

/// Whether an operator mends what the store has failed with, or it passes: a file that is locked, a disk that is full, a
/// server that starts again.
fn is_temporary(error: &Error) -> bool {
    use StoreErrorKind::{Full, Locked, OutcomeUnknown, ReadOnly, Unavailable};
    matches!(error.kind(), ErrorKind::Store(Full | Locked | OutcomeUnknown | ReadOnly | Unavailable))
}

/// What comes next to a watch.
enum WatchStep {
    Ended(Recovered),
    Scanned(Result<StoreScan>),
    Scan,
}

/// What a watch knows of runs.
#[derive(Default)]
struct WatchedRuns {
    driven: HashMap<RunId, SessionKey>,
    /// Runs that this program cannot drive.
    refused: HashSet<RunId>,
    /// Runs whose store has failed, or that had no room: not before then, and how long it was let alone.
    postponed: HashMap<RunId, (Instant, Duration)>,
}

impl WatchedRuns {
    /// Whether a run is to be driven; from now on it is on its way here.
    fn begin(&mut self, run: &RunInfo) -> bool {
        self.driven.insert(run.run_id, run.session.clone()).is_none()
    }

    /// The sessions of the runs that are on their way here.
    fn sessions(&self) -> HashSet<SessionKey> {
        self.driven.values().cloned().collect()
    }

    /// A run has ended here; one that was busy is let alone for a while.
    fn record_end(&mut self, ended: &Recovered, busy: Duration) {
        let run = ended.run_id;
        self.driven.remove(&run);
        let Err(error) = &ended.result else {
            self.postponed.remove(&run);
            return;
        };
        match error.kind() {
            // It is left to a program that has its workflow.
            ErrorKind::TopologyChanged => drop(self.refused.insert(run)),
            // Another process was faster, or there is no room for it now.
            ErrorKind::RunBusy => drop(self.postponed.insert(run, (Instant::now() + busy, INTERVAL / 2))),
            _ if error.is_of_store() => {
                let before = self.postponed.get(&run).map_or(INTERVAL / 2, |(_, before)| *before);
                let wait = (before * 2).min(LONGEST_PAUSE);
                self.postponed.insert(run, (Instant::now() + wait, wait));
            }
            // The run has failed.
            _ => {}
        }
    }

    /// How long it is until a run that was let alone is to be looked at.
    fn next_retry(&self) -> Option<Duration> {
        let now = Instant::now();
        self.postponed.values().filter(|(until, _)| *until > now).map(|(until, _)| *until - now).min()
    }

    /// Runs that are not to be driven now.
    fn unavailable(&mut self) -> HashSet<RunId> {
        let now = Instant::now();
        self.postponed.retain(|_, (until, _)| *until + LONGEST_PAUSE > now);
        let postponed = self.postponed.iter().filter(|(_, (until, _))| *until > now).map(|(run, _)| run);
        self.driven.keys().chain(&self.refused).chain(postponed).copied().collect()
    }
}

/// What a look at the store has found.
struct StoreScan {
    ready: Vec<RunInfo>,
    /// How long it is to the next deadline.
    next: Option<Duration>,
    /// Whether there is more to do at once.
    is_full: bool,
}

/// Answers what has waited too long, and finds at most `room` runs that can go on. A run that is queued can as soon as no
/// other run of its session is on its way here, and none that came before it can.
async fn scan_store(
    shared: Arc<RunnerShared>,
    unavailable: HashSet<RunId>,
    busy: HashSet<SessionKey>,
    room: usize,
) -> Result<StoreScan> {
    let expiry = shared.expire().await?;
    let names: Vec<_> =
        shared.workflows.iter().map(|known| known.workflow().meta().name.to_owned()).collect();
    let mut filter = RunFilter::ready().oldest_first().workflows(names).limit(PAGE);
    let mut ready = Vec::new();
    let mut is_full = expiry.is_full;
    loop {
        let page = shared.ready(&filter).await?;
        let Some(last) = page.last() else { break };
        filter = filter.after(last.run_id);
        let is_last = page.len() < PAGE;
        ready.extend(page.into_iter().filter(|run| !unavailable.contains(&run.run_id)));
        ready = heads(ready, &busy);
        if ready.len() >= room {
            is_full |= ready.len() > room;
            ready.truncate(room);
            break;
        }
        if is_last {
            break;
        }
    }
    Ok(StoreScan { ready, next: expiry.next, is_full })
}

impl IntoFuture for Watch {
    type Output = Error;
    type IntoFuture = BoxFuture<'static, Error>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch(every {:?})", self.every)
    }
}
