//! [`Runner::watch`]: resumes runs automatically, after an answer or at a deadline.

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

/// Default of [`Watch::every`]: the time between two scans of the store.
const INTERVAL: Duration = Duration::from_secs(1);

/// Default of [`Watch::at_most`]: the number of runs that are driven concurrently.
const MAX_RUNS: usize = 1024;

/// Longest pause of a run after its store has failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Future of [`Runner::watch`]. Resumes runs until it is dropped.
#[must_use = "nothing is watched until it is awaited"]
pub struct Watch {
    shared: Arc<RunnerShared>,
    every: Duration,
    at_most: usize,
    is_left: Box<dyn Fn(RunId) -> bool + Send>,
    resume: Option<Resume>,
    on_recovered: Box<dyn FnMut(Recovered) + Send>,
}

/// Function that drives a run to its end or its next wait.
type Resume = Box<dyn Fn(RunInfo) -> BoxFuture<'static, Result<Vec<Waiting>>> + Send>;

impl<P, R> Runner<P, R> {
    /// Resumes runs as [`recover`](Self::recover) does, continuously: runs with new answers from
    /// any process, runs whose process has ended, and runs whose deadline passes, on time. The
    /// workflows come from [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow); runs of
    /// other workflows are left to other programs. A watch covers the app of this runner and all
    /// tenants with such runs, whichever process made their runners by [`for_app`](Self::for_app).
    /// A runner that was made by `for_app` watches only its app. The apps of other programs in the
    /// same store are left to those programs.
    ///
    /// The watch is a separate future. Drop it to end it, for example at the end of a
    /// `tokio::select!`. Runs that it drives then stop at their current step and can be resumed.
    /// While a store is unreachable, locked, full or read-only, the watch waits for it. The watch
    /// ends by itself only when the store fails permanently, with that error.
    ///
    /// ```no_run
    /// # use adk_core as adk;
    /// # async fn run(runner: adk::Runner) {
    /// let watch = runner.watch();
    /// let watch = watch.inspect(|run| println!("{} continued: {:?}", run.run_id, run.result));
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
    /// Sets the time between two scans of the store for new answers, new deadlines, and runs whose
    /// process has ended. Default: one second. Known deadlines are handled on time.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Sets the number of runs that are driven concurrently. Further runs wait. At least 1, default
    /// 1024.
    pub fn at_most(mut self, runs: usize) -> Self {
        self.at_most = runs.max(1);
        self
    }

    /// Ignores runs for as long as `is_left` returns true, such as runs that the program answers
    /// and then drives itself.
    pub fn leave(mut self, is_left: impl Fn(RunId) -> bool + Send + 'static) -> Self {
        self.is_left = Box::new(is_left);
        self
    }

    /// Sets the function that drives runs to their end or their next wait, such as
    /// [`Runner::resume_by_name`](super::Runner::resume_by_name) of a runner for the app of the
    /// run. A run that the function refuses with [`ErrorKind::RunBusy`] is offered again later,
    /// after other runs. By default, the watch drives the runs itself.
    pub fn resume_by<F>(mut self, resume: impl Fn(RunInfo) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Vec<Waiting>>> + Send + 'static,
    {
        self.resume = Some(Box::new(move |run| Box::pin(resume(run))));
        self
    }

    /// Calls a function for each run that continued, with its end or its current waits, and for
    /// each run that could not be resumed.
    pub fn inspect(mut self, on_recovered: impl FnMut(Recovered) + Send + 'static) -> Self {
        self.on_recovered = Box::new(on_recovered);
        self
    }

    fn drive(&self, run: RunInfo) -> BoxFuture<'static, Recovered> {
        let Some(resume) = &self.resume else {
            return Box::pin(self.shared.clone().drive(run));
        };
        let (run_id, session, workflow) = (run.run_id, run.session.clone(), run.workflow.clone());
        let resumed = resume(run);
        Box::pin(async move {
            Recovered {
                run_id,
                session,
                workflow,
                result: resumed.await,
            }
        })
    }

    async fn run(mut self) -> Error {
        let mut driven = FuturesUnordered::new();
        let mut runs = WatchedRuns::default();
        let mut current_scan: Option<BoxFuture<'static, Result<StoreScan>>> = None;
        let mut pause = Box::pin(tokio::time::sleep(Duration::ZERO));
        loop {
            if current_scan.is_none() && pause.is_elapsed() && driven.len() < self.at_most {
                let room = self.at_most - driven.len();
                let scan = scan_store(
                    self.shared.clone(),
                    runs.unavailable(),
                    runs.sessions(),
                    room,
                );
                current_scan = Some(Box::pin(scan));
            }
            // All futures that hold a connection of the store are polled here, also while another
            // future waits for one.
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
                    // The run may have left new work in the store, and another run can be driven
                    // now.
                    pause.as_mut().reset(Instant::now());
                    if !ended
                        .result
                        .as_ref()
                        .is_err_and(|error| error.kind() == ErrorKind::RunBusy)
                    {
                        (self.on_recovered)(ended);
                    }
                }
                WatchStep::Scanned(scanned) => {
                    current_scan = None;
                    let mut wait = runs
                        .next_retry()
                        .map_or(self.every, |next| next.min(self.every));
                    match scanned {
                        Ok(StoreScan {
                            ready,
                            next,
                            is_full,
                        }) => {
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
                // Another run can be driven only after one has ended, which starts a scan
                // immediately.
                pause.as_mut().reset(Instant::now() + self.every);
            }
        }
    }
}

/// Returns whether the failure of the store passes or can be repaired by an operator: a locked
/// file, a full disk, a restarting server.
fn is_temporary(error: &Error) -> bool {
    use StoreErrorKind::{Full, Locked, OutcomeUnknown, ReadOnly, Unavailable};
    matches!(
        error.kind(),
        ErrorKind::Store(Full | Locked | OutcomeUnknown | ReadOnly | Unavailable)
    )
}

/// Next event of a watch.
enum WatchStep {
    Ended(Recovered),
    Scanned(Result<StoreScan>),
    Scan,
}

/// The runs that a watch drives, refuses or tries again later.
#[derive(Default)]
struct WatchedRuns {
    driven: HashMap<RunId, SessionKey>,
    /// Runs that this program cannot drive.
    refused: HashSet<RunId>,
    /// Runs whose store has failed or that were refused as busy, with the time of the next attempt
    /// and the length of the pause.
    postponed: HashMap<RunId, (Instant, Duration)>,
}

impl WatchedRuns {
    /// Marks a run as driven. Returns whether it was not driven before.
    fn begin(&mut self, run: &RunInfo) -> bool {
        self.driven
            .insert(run.run_id, run.session.clone())
            .is_none()
    }

    /// Returns the sessions of the driven runs.
    fn sessions(&self) -> HashSet<SessionKey> {
        self.driven.values().cloned().collect()
    }

    /// Removes a run from the driven runs. A run that is busy, because another process drives it,
    /// is tried again after `busy`.
    fn record_end(&mut self, ended: &Recovered, busy: Duration) {
        let run = ended.run_id;
        self.driven.remove(&run);
        let Err(error) = &ended.result else {
            self.postponed.remove(&run);
            return;
        };
        match error.kind() {
            // A program that has the workflow of the run resumes it.
            ErrorKind::TopologyChanged => drop(self.refused.insert(run)),
            // Another process has claimed the run first, or cannot drive it now.
            ErrorKind::RunBusy => drop(
                self.postponed
                    .insert(run, (Instant::now() + busy, INTERVAL / 2)),
            ),
            _ if error.is_of_store() => {
                let before = self
                    .postponed
                    .get(&run)
                    .map_or(INTERVAL / 2, |(_, before)| *before);
                let wait = (before * 2).min(LONGEST_PAUSE);
                self.postponed.insert(run, (Instant::now() + wait, wait));
            }
            // The run has failed.
            _ => {}
        }
    }

    /// Returns the time until a postponed run is tried again.
    fn next_retry(&self) -> Option<Duration> {
        let now = Instant::now();
        self.postponed
            .values()
            .filter(|(until, _)| *until > now)
            .map(|(until, _)| *until - now)
            .min()
    }

    /// Returns the runs that must not be driven now.
    fn unavailable(&mut self) -> HashSet<RunId> {
        let now = Instant::now();
        self.postponed
            .retain(|_, (until, _)| *until + LONGEST_PAUSE > now);
        let postponed = self
            .postponed
            .iter()
            .filter(|(_, (until, _))| *until > now)
            .map(|(run, _)| run);
        self.driven
            .keys()
            .chain(&self.refused)
            .chain(postponed)
            .copied()
            .collect()
    }
}

/// Result of a scan of the store.
struct StoreScan {
    ready: Vec<RunInfo>,
    /// Time until the next deadline.
    next: Option<Duration>,
    /// Whether the store has more work now.
    is_full: bool,
}

/// Answers waits past their deadline, and returns at most `room` runs that can continue. A queued
/// run can continue when its session has no driven run and no earlier run that can continue.
async fn scan_store(
    shared: Arc<RunnerShared>,
    unavailable: HashSet<RunId>,
    busy: HashSet<SessionKey>,
    room: usize,
) -> Result<StoreScan> {
    let expiry = shared.expire().await?;
    let names: Vec<_> = shared
        .workflows
        .iter()
        .map(|known| known.workflow().meta().name.to_owned())
        .collect();
    let mut filter = RunFilter::ready()
        .oldest_first()
        .workflows(names)
        .limit(PAGE);
    let mut ready = Vec::new();
    let mut is_full = expiry.is_full;
    loop {
        let page = shared.ready(&filter).await?;
        let Some(last) = page.last() else { break };
        filter = filter.after(last.run_id);
        let is_last = page.len() < PAGE;
        ready.extend(
            page.into_iter()
                .filter(|run| !unavailable.contains(&run.run_id)),
        );
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
    Ok(StoreScan {
        ready,
        next: expiry.next,
        is_full,
    })
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
