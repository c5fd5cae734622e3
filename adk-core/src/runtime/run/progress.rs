//! [`RunProgress`]: what a run has done, and what it has yet to write.

use super::KeyScope;
use super::failures::Failures;
use super::lost_waits::LostWaits;
use crate::model::{Usage, UsageByAgent};
use crate::store::engine::{BranchReport, Done, Waiting};
use crate::sync::lock;
use crate::{BoxFuture, LoopEnd, Path, Result};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// The future report of a remote branch.
type PendingReport = BoxFuture<'static, Result<BranchReport>>;

/// The usage of a run so far, all with the names of agents. Boxed, so that a run that waits for its
/// first reply is small.
#[derive(Default)]
struct CountedUsage {
    all: Option<Box<UsageByAgent>>,
    part: MeasuredPart,
}

/// The usage of the part of the run that is being polled, if that part is measured.
#[derive(Default)]
pub(super) struct MeasuredPart {
    is_measured: bool,
    usage: Option<Box<UsageByAgent>>,
}

/// What a run has done, and what it has yet to write.
#[derive(Default)]
pub(crate) struct RunProgress {
    usage: Mutex<CountedUsage>,
    loops: Mutex<Vec<LoopEnd>>,
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    /// Agents that have finished since the last commit.
    done: Mutex<Vec<Done>>,
    pub(super) failures: Failures,
    pub(super) lost_waits: LostWaits,
    /// Reports of remote branches whose blocks were dropped before the branches ended.
    reports: Mutex<Vec<(PendingReport, Option<Arc<KeyScope>>)>>,
    /// One more than the greatest known place in the log. Counted only if branches may run in
    /// other processes.
    places: AtomicU64,
    /// A lock for updates that no store can isolate from other branches.
    pub(super) updating: tokio::sync::Mutex<()>,
}

impl RunProgress {
    pub(crate) fn usage(&self) -> Usage {
        let usage = lock(&self.usage);
        usage
            .all
            .as_ref()
            .map(|all| all.total())
            .unwrap_or_default()
    }

    pub(crate) fn usage_by_agent(&self) -> UsageByAgent {
        let usage = lock(&self.usage);
        usage.all.as_deref().cloned().unwrap_or_default()
    }

    pub(super) fn add_usage(&self, add: &dyn Fn(&mut UsageByAgent)) {
        let mut usage = lock(&self.usage);
        add(usage.all.get_or_insert_default());
        if usage.part.is_measured {
            add(usage.part.usage.get_or_insert_default());
        }
    }

    /// Begins to measure a part of the run. Returns the enclosing part.
    pub(super) fn begin_part(&self) -> MeasuredPart {
        let part = MeasuredPart {
            is_measured: true,
            usage: None,
        };
        std::mem::replace(&mut lock(&self.usage).part, part)
    }

    /// Returns the usage since [`begin_part`](Self::begin_part), and continues to measure the
    /// enclosing part, of which this one is a part.
    pub(super) fn end_part(&self, enclosing: MeasuredPart) -> Option<Box<UsageByAgent>> {
        let usage = &mut lock(&self.usage).part;
        let part = std::mem::replace(usage, enclosing).usage?;
        if usage.is_measured {
            *usage.usage.get_or_insert_default().as_mut() += &*part;
        }
        Some(part)
    }

    pub(crate) fn end_loop(&self, end: LoopEnd) {
        lock(&self.loops).push(end);
    }

    /// Forgets the loop ends at the matching paths, because their work was discarded.
    pub(crate) fn forget_loops(&self, is_match: impl Fn(&Path) -> bool) {
        lock(&self.loops).retain(|end| !is_match(&end.path));
    }

    pub(crate) fn take_loops(&self) -> Vec<LoopEnd> {
        std::mem::take(&mut *lock(&self.loops))
    }

    /// Registers an open wait until the returned guard is dropped.
    pub(crate) fn add_waiting(&self, waiting: Waiting) -> impl Drop + Send {
        let mut all = lock(&self.waiting);
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, waiting);
        WaitingGuard {
            progress: self,
            number,
        }
    }

    /// Returns the open waits, in the order in which they began.
    pub(crate) fn open_waits(&self) -> Vec<Waiting> {
        lock(&self.waiting).values().cloned().collect()
    }

    /// Adds an agent that has finished, for the next commit.
    pub(super) fn add_finished(&self, done: Done) {
        lock(&self.done).push(done);
    }

    /// Takes the agents that have finished since the last commit.
    pub(crate) fn take_finished(&self) -> Vec<Done> {
        std::mem::take(&mut *lock(&self.done))
    }

    /// Keeps the future report of a remote branch whose block was dropped before the report came.
    pub(crate) fn keep_report(&self, report: PendingReport, scope: Option<Arc<KeyScope>>) {
        lock(&self.reports).push((report, scope));
    }

    /// Takes the reports of remote branches whose blocks were dropped.
    pub(crate) fn take_reports(&self) -> Vec<(PendingReport, Option<Arc<KeyScope>>)> {
        std::mem::take(&mut *lock(&self.reports))
    }

    /// Notes the place of an event in the log.
    pub(super) fn note_place(&self, place: u64) {
        self.places.fetch_max(place + 1, Relaxed);
    }

    /// Returns one more than the greatest noted place.
    pub(super) fn places(&self) -> u64 {
        self.places.load(Relaxed)
    }
}

struct WaitingGuard<'a> {
    progress: &'a RunProgress,
    number: u64,
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        lock(&self.progress.waiting).remove(&self.number);
    }
}
