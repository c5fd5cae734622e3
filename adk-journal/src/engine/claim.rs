//! [`Claim`]: the right to drive a run.

use super::refuse;
use super::registry::{ClaimedRun, RunRecord, RunStatus};
use crate::id::IdSeed;
use crate::{Result, RunId};
use std::fmt;
use std::sync::Arc;

/// The name of one claim of a run. Every write of a run carries it, and a store refuses the writes
/// of a claim that is not the current one: a fencing token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId {
    /// The run.
    pub run_id: RunId,
    /// The number of the claim. The first claim of a run has the number 1, or a random number
    /// where the caller has chosen the id of the run. Each later claim has the next number.
    /// All processes of a run that an [engine above](Self::driven_above) drives share the
    /// number 0.
    pub epoch: u64,
}

impl ClaimId {
    /// Returns the claim of the process that begins a run.
    pub const fn first(run_id: RunId) -> Self {
        Self { run_id, epoch: 1 }
    }

    /// Returns the claim of a process that begins a run whose id the caller has chosen. Another
    /// request may bring the same id, so the number is random: the store keeps the claim that comes
    /// first, and refuses the writes of the other one.
    pub fn chosen(run_id: RunId) -> Self {
        Self {
            run_id,
            epoch: IdSeed::random().claim(),
        }
    }

    /// Returns the claim of a run that an engine above the store drives, see
    /// [`RunDriver`](super::RunDriver). All processes share it: that engine decides which of them
    /// executes the run. It lasts until the run has ended or is cancelled.
    pub const fn driven_above(run_id: RunId) -> Self {
        Self { run_id, epoch: 0 }
    }

    /// Returns true if an engine above the store drives the run.
    pub const fn is_driven_above(self) -> bool {
        self.epoch == 0
    }

    /// Returns true if an engine above the store drives or has driven the run whose last claim this
    /// is: a cancellation adds 1 to the number.
    pub fn was_driven_above(self, status: &RunStatus) -> bool {
        self.is_driven_above() || (self.epoch == 1 && *status == RunStatus::Cancelled)
    }

    /// Returns the claim that follows this last one of a run. `is_held` says that a living process
    /// holds it.
    ///
    /// # Errors
    /// [`refuse::cancelled`], and [`refuse::run_busy`] when the claim is held. A run that an engine
    /// above the store drives is refused even after its end, because its recorded calls are not in
    /// this store.
    pub fn next(self, status: &RunStatus, is_held: bool) -> Result<Self> {
        if *status == RunStatus::Cancelled {
            return Err(refuse::cancelled(self.run_id));
        }
        if self.is_driven_above() || is_held {
            return Err(refuse::run_busy(self.run_id));
        }
        let epoch = self.epoch + 1;
        Ok(Self { epoch, ..self })
    }
}

/// The right to drive a run. The store makes it when a run is claimed; dropping it, at any moment,
/// releases this claim and no other.
#[must_use = "dropping a claim releases the run"]
pub struct Claim {
    id: ClaimId,
    release: Option<Box<dyn FnOnce(ClaimId) + Send + Sync>>,
}

impl Claim {
    /// Creates a claim that calls `release` when it is dropped. `release` is called from `Drop`, so
    /// it must not block.
    pub fn new(id: ClaimId, release: impl FnOnce(ClaimId) + Send + Sync + 'static) -> Self {
        Self {
            id,
            release: Some(Box::new(release)),
        }
    }

    /// Creates a claim without a release, for an engine above the store that decides which process
    /// drives a run.
    pub fn unfenced(run_id: RunId) -> Self {
        Self {
            id: ClaimId::driven_above(run_id),
            release: None,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> ClaimId {
        self.id
    }

    /// Drops the claim without a release: the end of the run is stored, which ended the claim.
    pub fn close(mut self) {
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

/// A function that decides from the record whether this program can drive the run. An engine may
/// call it more than once.
pub type ClaimCheck = Arc<dyn Fn(&RunRecord) -> Result<()> + Send + Sync>;

impl ClaimedRun {
    /// Creates a claimed run without stored events or steps.
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

    /// Creates a run that an engine executes again by itself: it begins with its first state, and
    /// gets everything again from [`Slot::deliver`](super::Slot::deliver),
    /// [`step`](super::Journal::step) and [`answer`](super::Journal::answer).
    pub fn starting_over(record: RunRecord) -> Self {
        Self {
            starts_over: true,
            ..Self::new(Claim::unfenced(record.run_id), record)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_claim_follows_the_last_one() {
        let run_id = RunId::new();
        let next =
            |epoch, status: RunStatus, is_held| ClaimId { run_id, epoch }.next(&status, is_held);
        let after = next(3, RunStatus::Paused, false);
        assert_eq!(after.ok().map(|next| next.epoch), Some(4));
        for (status, epoch, is_held, kind) in [
            (RunStatus::Cancelled, 0, true, ErrorKind::Cancelled),
            (RunStatus::Running, 3, true, ErrorKind::RunBusy),
            (RunStatus::Finished, 0, false, ErrorKind::RunBusy),
        ] {
            let error = next(epoch, status, is_held).map_err(|error| error.kind());
            assert_eq!(error, Err(kind));
        }
    }

    #[test]
    fn a_cancellation_adds_to_the_claim_of_an_engine_above() {
        let run_id = RunId::new();
        let was_driven = |epoch, status| ClaimId { run_id, epoch }.was_driven_above(&status);
        assert!(was_driven(0, RunStatus::Running));
        assert!(was_driven(1, RunStatus::Cancelled));
        assert!(!was_driven(1, RunStatus::Running));
    }
}
