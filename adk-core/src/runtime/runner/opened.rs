//! [`OpenedRun`]: a run whose session is open, on its way to a stream.

use super::cancel::DriveGuard;
use super::follow::FollowedRun;
use super::root::Start;
use crate::runtime::run::Run;
use crate::store::engine::Claim;
use crate::store::session::SessionTurn;
use crate::{BoxFuture, Result, RunId};
use std::sync::Arc;

/// Future that opens the session of a run.
pub(super) type Opening = BoxFuture<'static, Result<OpenOutcome>>;

/// Result of opening the session of a run.
pub(super) enum OpenOutcome {
    /// The run waits for its turn under this id.
    Queued(RunId, Opening),
    /// The run begins or is resumed.
    Opened(OpenedRun),
}

/// Run that has not been polled yet.
pub(super) struct OpenedRun {
    pub(super) run: Arc<Run>,
    pub(super) claim: Option<Claim>,
    pub(super) turn: Option<SessionTurn>,
    pub(super) guard: Option<DriveGuard>,
    pub(super) execution: Execution,
}

/// Function that runs the workflow in its root context, or follows its driver, and reads the
/// output.
pub(super) type Body<'a, T> =
    Box<dyn FnOnce(Arc<Run>, Execution) -> BoxFuture<'a, Result<T>> + Send + 'a>;

/// Process that executes a run.
pub(super) enum Execution {
    /// This process, with the first event of the run.
    Local(Start),
    /// Another process, whose run is followed.
    Followed(FollowedRun),
}
