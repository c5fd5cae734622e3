//! [`Runner::delete_ended`]: deletes the runs that have ended long ago.

use super::Runner;
use crate::store::engine::{RunFilter, RunInfo};
use crate::{Result, RunId};

/// The number of runs that one transaction deletes.
const BATCH: usize = 100;

impl<P, R> Runner<P, R> {
    /// Deletes the runs of this app that have ended before a time, in microseconds since 1970, with
    /// their journals and waits, in batches. Returns their number. Runs that have not ended stay,
    /// and so do the sessions with all events. Deleted runs are unknown from then on, so a failed
    /// run cannot be resumed.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Config`](crate::ErrorKind::Config) when the engine does not keep
    /// runs, or when the store fails. Runs that were deleted before the error stay deleted.
    pub async fn delete_ended(&self, before: u64) -> Result<u64> {
        let registry = self.registry()?;
        let (app, mut pages, mut deleted) = (self.app_name(), EndedPages::new(before), 0);
        while let Some(runs) = pages.next(self).await? {
            deleted += registry.delete_ended(app, &runs, before).await?;
        }
        Ok(deleted)
    }

    /// Counts the runs that [`delete_ended`](Self::delete_ended) would delete.
    ///
    /// # Errors
    /// Fails as [`delete_ended`](Self::delete_ended) does.
    pub async fn count_ended(&self, before: u64) -> Result<u64> {
        self.registry()?;
        let (mut pages, mut count) = (EndedPages::new(before), 0);
        while let Some(runs) = pages.next(self).await? {
            count += runs.len() as u64;
        }
        Ok(count)
    }

    fn registry(&self) -> Result<&dyn crate::store::engine::RunRegistry> {
        let what = || "delete runs".to_owned();
        self.shared.engine.registry_for(what)
    }
}

/// Pages of runs that have ended before a time, the oldest runs first.
struct EndedPages {
    before: u64,
    page: Option<RunFilter>,
}

impl EndedPages {
    fn new(before: u64) -> Self {
        let page = Some(RunFilter::any().oldest_first().limit(BATCH));
        Self { before, page }
    }

    async fn next<P, R>(&mut self, runner: &Runner<P, R>) -> Result<Option<Vec<RunId>>> {
        let Some(page) = self.page.take() else {
            return Ok(None);
        };
        let runs = runner.runs(&page).await?;
        // Runs are in the order of their creation, and no run ends before that.
        let last = runs.get(BATCH - 1).filter(|run| run.created < self.before);
        self.page = last.map(|run| page.after(run.run_id));
        let is_old = |run: &&RunInfo| run.ended().is_some_and(|ended| ended < self.before);
        let old = runs.iter().filter(is_old).map(|run| run.run_id);
        Ok(Some(old.collect()))
    }
}
