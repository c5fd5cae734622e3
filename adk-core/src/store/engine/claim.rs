//! [`Claim`]: the right to drive a run.

use super::registry::{ClaimedRun, RunRecord};
use crate::{Result, RunId};
use std::fmt;
use std::sync::Arc;

/// Names one claim of a run. Every write of a run carries it, and a store refuses the writes of a claim that is not the
/// current one: a fencing token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId {
    /// The run.
    pub run_id: RunId,
    /// 1 for the process that began the run; each later claim has the next number. 0 for all processes of a run that an
    /// [engine above](Self::driven_above) drives.
    pub epoch: u64,
}

impl ClaimId {
    /// The claim of the process that begins a run.
    pub const fn first(run_id: RunId) -> Self {
        Self { run_id, epoch: 1 }
    }

    /// The claim of a run that an engine above the store drives, see [`RunDriver`](super::RunDriver). All processes share it:
    /// that engine decides which of them executes the run. It lasts until the run has ended or is cancelled.
    pub const fn driven_above(run_id: RunId) -> Self {
        Self { run_id, epoch: 0 }
    }

    /// Whether an engine above the store drives the run.
    pub const fn is_driven_above(self) -> bool {
        self.epoch == 0
    }
}

/// The right to drive a run. The store makes it when a run is claimed; dropping it, at any moment, gives back this claim
/// and no other.
#[must_use = "dropping a claim gives the run back"]
pub struct Claim {
    id: ClaimId,
    release: Option<Box<dyn FnOnce(ClaimId) + Send + Sync>>,
}

impl Claim {
    /// A claim that calls `release` when it is dropped. It is called from `Drop`, so it must not block.
    pub fn new(id: ClaimId, release: impl FnOnce(ClaimId) + Send + Sync + 'static) -> Self {
        Self { id, release: Some(Box::new(release)) }
    }

    /// A claim that nothing has to be told of, for an engine that decides elsewhere which process drives a run.
    pub fn unfenced(run_id: RunId) -> Self {
        Self { id: ClaimId::driven_above(run_id), release: None }
    }

    /// Which claim it is.
    pub fn id(&self) -> ClaimId {
        self.id
    }

    /// The end of the run is stored, and the claim with it: there is nothing left to give back.
    pub(crate) fn closed(mut self) {
        self.release = None;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release(self.id);
        }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Claim({:?})", self.id)
    }
}

/// Decides from its record whether this program can drive a run. An engine may call it more than once.
pub type ClaimCheck = Arc<dyn Fn(&RunRecord) -> Result<()> + Send + Sync>;

impl ClaimedRun {
    /// A run without stored events or steps.
    pub fn new(claim: Claim, record: RunRecord) -> Self {
        Self {
            claim,
            record,
            events: Vec::new(),
            temp: Default::default(),
            steps: Default::default(),
            done: Vec::new(),
            waits: Vec::new(),
            starts_over: false,
        }
    }

    /// A run that an engine executes once more by itself: it begins with the state that it began with, and gets
    /// everything again from [`Slot::deliver`](super::Slot::deliver), [`step`](super::Journal::step) and
    /// [`answer`](super::Journal::answer).
    pub fn starting_over(record: RunRecord) -> Self {
        Self { starts_over: true, ..Self::new(Claim::unfenced(record.run_id), record) }
    }
}
