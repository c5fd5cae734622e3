//! [`RunFilter`]: a selection of runs to list.

use super::answerer::Answerer;
use super::registry::{RunRecord, RunStatus, Waiting};
use crate::session::SessionKey;
use crate::{AnsweredBy, RunId};
use adk_spec::setters;
use std::ops::Bound::{self, Excluded, Unbounded};

/// A selection of runs of an app, and their order. The default selects runs that have not ended,
/// the newest first.
///
/// ```
/// # use adk_build as adk;
/// use adk::engine::RunFilter;
/// let failed = RunFilter::failed().user("ann").limit(20);
/// # let _ = failed;
/// ```
///
/// A store may keep millions of runs, so all of them are listed in pages:
///
/// ```
/// # use adk_build as adk;
/// use adk::Runner;
/// use adk::engine::{MemoryJournal, RunFilter};
/// # async fn list() -> adk::Result<()> {
/// # let runner: Runner = Runner::builder().engine(MemoryJournal::new()).build()?;
/// let mut page = RunFilter::any().limit(100);
/// loop {
///     let runs = runner.runs(&page).await?;
///     let Some(last) = runs.last() else { break };
///     page = page.after(last.run_id);
///     for run in runs {
///         println!("{} {:?} {:?} {:?}", run.run_id, run.status, run.ended(), run.usage);
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFilter {
    /// The states to select.
    pub state: RunState,
    /// Only this run.
    pub run: Option<RunId>,
    /// Only runs of this user.
    pub user: Option<String>,
    /// In lists of waits of a user: also the waits of other users with one of these `by`.
    pub answered_by: Vec<AnsweredBy>,
    /// Only runs of this session of the user.
    pub session: Option<String>,
    /// Only runs of these workflows; `None` for all.
    pub workflows: Option<Vec<String>>,
    /// Only runs that follow this one in the list.
    pub after: Option<RunId>,
    /// Only runs whose status was written at this time or later, in microseconds since 1970.
    pub changed_since: u64,
    /// Whether the runs are sorted by the time when their status was written, the last first.
    pub by_change: bool,
    /// Only runs that follow this one in a list [by change](Self::by_change): the time when its
    /// status was written, and its id.
    pub after_change: Option<(u64, RunId)>,
    /// Whether the oldest runs come first; otherwise the newest do.
    pub oldest_first: bool,
    /// The largest number of runs; `None` for all.
    pub limit: Option<usize>,
}

/// The states that a [`RunFilter`] selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunState {
    /// Runs that have not ended.
    #[default]
    Unfinished,
    /// Unfinished runs that can continue and that no process drives.
    Ready,
    /// Runs that have ended well.
    Finished,
    /// Runs that have failed.
    Failed,
    /// Runs that were cancelled.
    Cancelled,
    /// Runs that wait for earlier runs of their session.
    Queued,
    /// Runs that a process drives or can continue, except for paused ones.
    Running,
    /// Runs that wait for an answer, or have one that they have not read.
    Paused,
    /// All runs.
    Any,
}

impl RunState {
    /// Returns true if a run with this status is selected. [`Ready`](Self::Ready) also needs that
    /// no process drives the run.
    pub(super) fn has(self, status: &RunStatus) -> bool {
        match self {
            Self::Unfinished | Self::Ready => status.is_open(),
            Self::Finished => *status == RunStatus::Finished,
            Self::Failed => matches!(status, RunStatus::Failed(_)),
            Self::Cancelled => *status == RunStatus::Cancelled,
            Self::Queued => *status == RunStatus::Queued,
            Self::Running => *status == RunStatus::Running,
            Self::Paused => *status == RunStatus::Paused,
            Self::Any => true,
        }
    }
}

impl RunFilter {
    /// Selects runs that have not ended.
    pub fn unfinished() -> Self {
        Self::default()
    }

    /// Selects runs that can continue and that no process drives.
    pub fn ready() -> Self {
        Self {
            state: RunState::Ready,
            ..Self::default()
        }
    }

    /// Selects runs that have ended well.
    pub fn finished() -> Self {
        Self {
            state: RunState::Finished,
            ..Self::default()
        }
    }

    /// Selects runs that have failed.
    pub fn failed() -> Self {
        Self {
            state: RunState::Failed,
            ..Self::default()
        }
    }

    /// Selects runs that were cancelled.
    pub fn cancelled() -> Self {
        Self {
            state: RunState::Cancelled,
            ..Self::default()
        }
    }

    /// Selects all runs, also those that have ended.
    pub fn any() -> Self {
        Self {
            state: RunState::Any,
            ..Self::default()
        }
    }

    /// Selects one run in any state.
    pub fn of_run(run: RunId) -> Self {
        Self {
            run: Some(run),
            ..Self::any()
        }
    }

    /// Selects only runs of this user.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Selects only runs of one session.
    #[must_use]
    pub fn session(mut self, key: &SessionKey) -> Self {
        self.user = Some(key.user.clone());
        self.session = Some(key.id.clone());
        self
    }

    /// Selects only waits that belong to this caller, or whose `by` includes the caller. A list of
    /// runs has only those of the caller.
    #[must_use]
    pub fn answerer(mut self, answerer: &Answerer) -> Self {
        self.user.clone_from(&answerer.user);
        self.answered_by = answerer
            .roles
            .iter()
            .cloned()
            .map(AnsweredBy::Role)
            .collect();
        self.answered_by.push(AnsweredBy::Other);
        self
    }

    setters! { []
        /// Selects only runs of these workflows, by name.
        workflows(names: impl IntoIterator<Item = impl Into<String>>) = {
            Some(names.into_iter().map(Into::into).collect())
        };
        /// Selects only runs that follow this one in the list: the next page, after the last run of
        /// the page before.
        after(run: RunId) = Some(run);
    }

    /// Sorts the runs that began first to the front.
    #[must_use]
    pub fn oldest_first(mut self) -> Self {
        self.oldest_first = true;
        self
    }

    /// Limits the number of runs.
    #[must_use]
    pub fn limit(mut self, most: usize) -> Self {
        self.limit = Some(most);
        self
    }

    /// Returns true if a run is selected, apart from its state.
    pub fn selects(&self, record: &RunRecord) -> bool {
        let key = &record.session;
        self.run.is_none_or(|run| run == record.run_id)
            && self.user.as_ref().is_none_or(|user| *user == key.user)
            && self.session.as_ref().is_none_or(|id| *id == key.id)
            && self
                .workflows
                .as_ref()
                .is_none_or(|names| names.contains(&record.workflow))
    }

    /// Returns true if a wait of a selected run is selected.
    pub fn selects_wait(&self, wait: &Waiting) -> bool {
        let is_own = |user: &String| *user == wait.user;
        let is_answerer = || {
            wait.by
                .as_ref()
                .is_some_and(|by| self.answered_by.contains(by))
        };
        self.user.as_ref().is_none_or(is_own) || is_answerer()
    }

    /// Returns true if a run with this id is selected that was last changed at this time.
    pub fn selects_change(&self, updated: u64, run: RunId) -> bool {
        updated >= self.changed_since && self.after_change.is_none_or(|last| (updated, run) < last)
    }

    /// Returns the range of ids that may be selected.
    pub fn range(&self) -> (Bound<RunId>, Bound<RunId>) {
        match self.after {
            None => (Unbounded, Unbounded),
            Some(after) if self.oldest_first => (Excluded(after), Unbounded),
            Some(after) => (Unbounded, Excluded(after)),
        }
    }
}
