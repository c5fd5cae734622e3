//! Runs that go on by themselves: as soon as they are answered, and when a deadline passes.

use super::recover::{Known, Recovered};
use super::{Runner, Shared};
use crate::engine::{RunInfo, Waiting, now_micros};
use crate::{BoxFuture, Error, ErrorKind, Result};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How often the store is looked at, unless [`Watch::every`] says otherwise.
const EVERY: Duration = Duration::from_secs(1);

/// What [`Runner::watch`] returns: awaited it takes up runs until it is dropped.
#[must_use = "nothing is watched until it is awaited"]
pub struct Watch {
    shared: Arc<Shared>,
    every: Duration,
    told: Box<dyn FnMut(Recovered) + Send>,
}

impl<P> Runner<P> {
    /// Takes up runs as [`recover`](Self::recover) does, and does not end: those that are answered, by whatever process,
    /// those whose process has ended, and those whose deadline passes, on time. The workflows are those of
    /// [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow); other runs are left to others.
    ///
    /// It is a future of its own; drop it to end it, for example at the end of a `tokio::select!`. What it drives then stays
    /// where it is and can be taken up again. It ends by itself only when the store fails for good, with that error.
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
        Watch { shared: self.shared.clone(), every: EVERY, told: Box::new(drop) }
    }
}

impl Watch {
    /// How often the store is looked at for new answers, new deadlines, and runs whose process has ended. Default: each
    /// second. A deadline that is known is taken on time.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Is told of each run that went on: how it ended, or what it waits for by now.
    pub fn inspect(mut self, told: impl FnMut(Recovered) + Send + 'static) -> Self {
        self.told = Box::new(told);
        self
    }

    async fn run(mut self) -> Error {
        let mut driven = FuturesUnordered::new();
        // Runs that are on their way here, and those that cannot be taken up by this program.
        let (mut ours, mut refused) = (HashSet::new(), HashSet::new());
        loop {
            let mut next = self.every;
            match look(&self.shared).await {
                Ok((ready, wait)) => {
                    next = wait.map_or(next, |wait| wait.min(next));
                    for (run, known) in ready {
                        if !refused.contains(&run.run_id) && ours.insert(run.run_id) {
                            driven.push(taken(self.shared.clone(), known, run));
                        }
                    }
                }
                // A file that is locked, a server that starts again.
                Err(error) if error.is_retryable() => {}
                Err(error) => return error,
            }
            let mut sleep = pin!(tokio::time::sleep(next));
            // Each run that ends is told at once, and may have left something to look at.
            let ended = poll_fn(|task| match driven.poll_next_unpin(task) {
                Poll::Ready(Some(ended)) => Poll::Ready(Some(ended)),
                _ => sleep.as_mut().poll(task).map(|()| None),
            });
            let Some(ended) = ended.await else { continue };
            ours.remove(&ended.run_id);
            match &ended.result {
                // Another process was faster.
                Err(error) if error.kind() == ErrorKind::RunBusy => continue,
                Err(_) => drop(refused.insert(ended.run_id)),
                Ok(_) => {}
            }
            (self.told)(ended);
        }
    }
}

/// Answers what has waited too long; gives the runs that can go on, and how long it is to the next deadline.
async fn look(shared: &Shared) -> Result<(Vec<(RunInfo, Arc<dyn Known>)>, Option<Duration>)> {
    let is_ours = |waiting: &Waiting| shared.known(root(waiting)).is_some();
    let next = shared.expire(is_ours).await?;
    let runs = shared.engine.unfinished(&shared.app).await?;
    let ready = runs.into_iter().filter(|run| run.is_ready);
    let known = ready.filter_map(|run| shared.known(&run.workflow).map(|known| (run, known.clone())));
    let next = next.map(|deadline| Duration::from_micros(deadline.saturating_sub(now_micros())));
    Ok((known.collect(), next))
}

/// The name of the workflow that a wait belongs to: the first of its path.
pub(super) fn root(waiting: &Waiting) -> &str {
    let mut path = &waiting.path;
    while let Some(parent) = path.parent() {
        path = parent;
    }
    path.name()
}

async fn taken(shared: Arc<Shared>, known: Arc<dyn Known>, run: RunInfo) -> Recovered {
    let result = known.go_on(shared, run.run_id).await;
    Recovered { run_id: run.run_id, workflow: run.workflow, result }
}

impl Shared {
    /// The workflow of that name, if it was given to the runner.
    pub(super) fn known(&self, name: &str) -> Option<&Arc<dyn Known>> {
        self.workflows.iter().find(|known| known.name() == name)
    }

    /// Answers the waits whose deadline has passed, with their defaults or an error; the earliest deadline of the others,
    /// in microseconds since 1970.
    pub(super) async fn expire(&self, of: impl Fn(&Waiting) -> bool) -> Result<Option<u64>> {
        let mut next = None::<u64>;
        for waiting in self.engine.waiting(&self.app, None).await?.iter().filter(|waiting| of(waiting)) {
            let Some(deadline) = waiting.deadline else { continue };
            if deadline > now_micros() {
                next = Some(next.map_or(deadline, |next| next.min(deadline)));
                continue;
            }
            match self.engine.resolve(&self.app, &waiting.id, super::recover::too_late(waiting)).await {
                Err(error) if !matches!(error.kind(), ErrorKind::Answered | ErrorKind::UnknownWait) => {
                    return Err(error);
                }
                // Somebody has answered in the meantime.
                _ => {}
            }
        }
        Ok(next)
    }
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
