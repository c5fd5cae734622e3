//! [`Pauses`]: wakes the streams that stay open while their runs wait for answers.
//!
//! A stream over a pause drives nothing and reads nothing. It holds its permit and an entry, which
//! all streams of the run share. Answers through this process, and answers of others whose run the
//! watch of this process resumes, wake it at once. Runs that another process resumes are found by
//! one task for all streams. It runs while a stream waits, and reads at most [`RUNS_PER_ROUND`]
//! runs in a second, regardless of the number of streams.

use super::limits::lock;
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::{ErrorKind, RunId, Runner};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// The time between two rounds of the task that reads paused runs.
const ROUND: Duration = Duration::from_secs(1);

/// The number of runs that one round reads. Further runs follow in the next rounds.
const RUNS_PER_ROUND: usize = 64;

/// An answer to a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WaitAnswer {
    pub(crate) wait: String,
    /// The user who has answered, if this process knows the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
}

/// The paused runs that streams wait for.
#[derive(Default)]
pub(crate) struct Pauses {
    runs: Mutex<PausedRuns>,
    is_closing: watch::Sender<bool>,
}

#[derive(Default)]
struct PausedRuns {
    by_id: BTreeMap<RunId, PausedRun>,
    /// Whether the task that reads them runs.
    are_read: bool,
}

struct PausedRun {
    runner: Runner,
    /// The time of the last change of the run that its streams have seen.
    updated: u64,
    /// The answers that came through this process since the first stream waits.
    answers: watch::Sender<Vec<WaitAnswer>>,
    streams: usize,
}

impl Pauses {
    /// Ends all streams of paused runs, because the server stops.
    pub(crate) fn close(&self) {
        self.is_closing.send_replace(true);
    }

    async fn wait_closing(&self) {
        drop(self.is_closing.subscribe().wait_for(|is| *is).await);
    }

    /// Wakes the streams of a run.
    pub(crate) fn wake(&self, run: RunId) {
        if let Some(paused) = lock(&self.runs).by_id.get(&run) {
            paused.answers.send_modify(|_| {});
        }
    }

    /// Notes an answer for the streams of a run, which [`wake`](Self::wake) wakes.
    pub(crate) fn note_answer(&self, run: RunId, wait: &str, user: Option<&str>) {
        if let Some(paused) = lock(&self.runs).by_id.get(&run) {
            let answer = WaitAnswer {
                wait: wait.to_owned(),
                user: user.map(str::to_owned),
            };
            paused.answers.send_if_modified(|answers| {
                answers.push(answer);
                false
            });
        }
    }

    /// Reads the next runs after `place`, and wakes the streams of those that have changed. Returns
    /// the last run, or `None` at the end of the list.
    async fn read_round(&self, place: Option<RunId>) -> Option<RunId> {
        let after = place.map_or(Unbounded, Excluded);
        let round: Vec<_> = lock(&self.runs)
            .by_id
            .range((after, Unbounded))
            .take(RUNS_PER_ROUND)
            .map(|(run, paused)| (*run, paused.runner.clone(), paused.updated))
            .collect();
        for (run, runner, updated) in &round {
            // If the store fails, a later round reads the run.
            let Ok(now) = runner.runs(&RunFilter::of_run(*run)).await else {
                continue;
            };
            if now.first().is_none_or(|now| has_changed(now, *updated)) {
                self.wake(*run);
            }
        }
        let (last, ..) = round.get(RUNS_PER_ROUND - 1)?;
        Some(*last)
    }
}

/// Returns whether a run that has paused at a time does not wait since then.
fn has_changed(run: &RunInfo, updated: u64) -> bool {
    run.status != RunStatus::Paused || run.is_ready || run.updated != updated
}

/// A stream of a run that waits for answers. Dropping it removes the stream from [`Pauses`].
pub(crate) struct PausedStream {
    pauses: Arc<Pauses>,
    runner: Runner,
    run: RunId,
    answers: watch::Receiver<Vec<WaitAnswer>>,
}

impl PausedStream {
    /// Enters a stream, which no later answer escapes.
    pub(crate) fn new(pauses: &Arc<Pauses>, runner: &Runner, run: RunId) -> Self {
        let mut all = lock(&pauses.runs);
        if !all.are_read {
            all.are_read = true;
            tokio::spawn(read_rounds(pauses.clone()));
        }
        let paused = all.by_id.entry(run).or_insert_with(|| PausedRun {
            runner: runner.clone(),
            updated: 0,
            answers: watch::Sender::default(),
            streams: 0,
        });
        paused.streams += 1;
        Self {
            pauses: pauses.clone(),
            runner: runner.clone(),
            run,
            answers: paused.answers.subscribe(),
        }
    }

    /// Waits until some of the open waits of a run were answered, or until the run has changed
    /// otherwise. Removes the waits that are no longer open from the list, and returns the answers.
    /// Returns `None` if the server stops first, or the store fails.
    pub(crate) async fn answers(
        &mut self,
        updated: u64,
        open: &mut Vec<String>,
    ) -> Option<Vec<WaitAnswer>> {
        if let Some(paused) = lock(&self.pauses.runs).by_id.get_mut(&self.run) {
            paused.updated = paused.updated.max(updated);
        }
        loop {
            let answers = self.closed_waits(open).await?;
            let filter = RunFilter::of_run(self.run);
            let now = self.runner.runs(&filter).await.ok()?.into_iter().next();
            if !answers.is_empty() || now.is_none_or(|now| has_changed(&now, updated)) {
                return Some(answers);
            }
            tokio::select! {
                changed = self.answers.changed() => changed.ok()?,
                () = self.pauses.wait_closing() => return None,
            }
        }
    }

    /// Removes the waits that are no longer open, and returns the answers of those that have one.
    async fn closed_waits(&mut self, open: &mut Vec<String>) -> Option<Vec<WaitAnswer>> {
        let noted = self.answers.borrow_and_update().clone();
        let (mut answers, mut still_open) = (Vec::new(), Vec::new());
        let waits = self.runner.engine().waits()?;
        for wait in open.drain(..) {
            let user = match noted.iter().find(|noted| noted.wait == wait) {
                Some(noted) => noted.user.clone(),
                None => match waits.open_wait(self.runner.app_name(), &wait).await {
                    Ok(_) => {
                        still_open.push(wait);
                        continue;
                    }
                    Err(error) if error.kind() == ErrorKind::Answered => None,
                    Err(error) if error.is_of_store() => return None,
                    // The run was cancelled, or no longer waits for this value.
                    Err(_) => continue,
                },
            };
            answers.push(WaitAnswer { wait, user });
        }
        *open = still_open;
        Some(answers)
    }
}

impl Drop for PausedStream {
    fn drop(&mut self) {
        let mut all = lock(&self.pauses.runs);
        if let Some(paused) = all.by_id.get_mut(&self.run) {
            paused.streams -= 1;
            if paused.streams == 0 {
                all.by_id.remove(&self.run);
            }
        }
    }
}

/// Reads paused runs until no stream waits or the server stops.
async fn read_rounds(pauses: Arc<Pauses>) {
    let mut place = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            () = pauses.wait_closing() => return,
        }
        {
            let mut all = lock(&pauses.runs);
            if all.by_id.is_empty() {
                all.are_read = false;
                return;
            }
        }
        place = pauses.read_round(place).await;
    }
}
