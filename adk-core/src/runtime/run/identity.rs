//! [`RunIdentity`]: the claim of a run, and its beginning.

use crate::id::IdSeed;
use crate::store::engine::{ClaimId, RunRecord};
use crate::store::session::{Session, now_micros};

/// The claim of a run, its beginning, and the trace that it continues.
pub(crate) struct RunIdentity {
    /// The claim of this process; each write of the run carries it.
    pub(crate) claim: ClaimId,
    /// The random bits in the ids of the events of the run.
    pub(super) seed: IdSeed,
    /// The place in the log at which the run began. Events of other runs from there on are
    /// concurrent.
    pub(crate) began: u64,
    /// The trace that the run continues, as text.
    pub(crate) trace_parent: Option<Box<str>>,
}

impl RunIdentity {
    /// Creates the identity of a run that has no id yet.
    pub(crate) fn first(trace_parent: Option<Box<str>>) -> Self {
        let seed = IdSeed::random();
        Self {
            claim: ClaimId::first(seed.run(now_micros())),
            seed,
            began: u64::MAX,
            trace_parent,
        }
    }

    /// Creates the identity of a run whose beginning is not in the log.
    pub(crate) fn new(claim: ClaimId, trace_parent: Option<Box<str>>) -> Self {
        Self {
            claim,
            seed: IdSeed::random(),
            began: u64::MAX,
            trace_parent,
        }
    }

    /// Creates the identity of a run that has begun already.
    pub(crate) fn of_record(claim: ClaimId, record: &RunRecord) -> Self {
        Self {
            claim,
            seed: IdSeed::random(),
            began: record.begins,
            trace_parent: record.trace.as_deref().map(Box::from),
        }
    }

    /// Begins a recorded run. The record receives the place in the log and the state of the session
    /// as it is now.
    pub(crate) fn begin(&mut self, record: &mut RunRecord, session: &Session) {
        self.began = session.len() as u64;
        record.state = session.state().into_iter().collect();
        record.begins = self.began;
        record.is_queued = false;
    }
}
