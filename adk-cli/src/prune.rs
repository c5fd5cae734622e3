//! `adk prune`.

use crate::output::Output;
use crate::store::Place;
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::session::now_micros;
use adk_core::{Result, RunId};
use clap::Args;
use serde_json::json;
use std::time::Duration;

/// The number of runs that one transaction deletes.
const BATCH: usize = 100;

#[derive(Args)]
pub struct Prune {
    /// The minimum time since the end of a run, such as `30d` or `12h`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    older_than: Duration,
    /// Only count the runs
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

impl Prune {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open().await?;
        let runner = &opened.runner;
        let registry = runner.engine().registry_for(|| "delete runs".to_owned())?;
        let age = u64::try_from(self.older_than.as_micros()).unwrap_or(u64::MAX);
        let before = now_micros().saturating_sub(age);
        let is_old = |run: &RunInfo| run.ended().is_some_and(|ended| ended < before);
        let mut page = RunFilter::any().oldest_first().limit(BATCH);
        let mut count = 0;
        loop {
            let runs = runner.runs(&page).await?;
            // Runs are in the order of their creation, and no run ends before that.
            let is_last = runs.last().is_none_or(|run| run.created >= before);
            let old: Vec<RunId> = runs
                .iter()
                .filter(|run| is_old(run))
                .map(|run| run.run_id)
                .collect();
            count += if self.dry_run {
                old.len() as u64
            } else {
                registry
                    .delete_ended(runner.app_name(), &old, before)
                    .await?
            };
            match runs.last() {
                Some(last) if !is_last => page = page.after(last.run_id),
                _ => break,
            }
        }
        if self.output.json {
            self.output
                .json(&json!({"runs": count, "isDryRun": self.dry_run}))?;
        } else {
            let verb = if self.dry_run { "to delete" } else { "deleted" };
            let noun = if count == 1 { "run" } else { "runs" };
            self.output.line(format!("{count} {noun} {verb}"))?;
        }
        opened.close().await
    }
}
