//! `adk prune`.

use crate::output::Output;
use crate::store::Place;
use adk_core::engine::RunFilter;
use adk_core::session::{EventFilter, now_micros};
use adk_core::{Result, Runner};
use clap::Args;
use serde_json::json;
use std::time::Duration;

#[derive(Args)]
pub struct Prune {
    /// The minimum time since the end of a run or the last write of a session, such as `30d`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    older_than: Duration,
    /// Also delete sessions without unfinished runs, with their events, runs and artifacts
    #[arg(long)]
    sessions: bool,
    /// Only count the runs and sessions
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
        let age = u64::try_from(self.older_than.as_micros()).unwrap_or(u64::MAX);
        let before = now_micros().saturating_sub(age);
        let runs = if self.dry_run {
            runner.count_ended(before).await?
        } else {
            runner.delete_ended(before).await?
        };
        let sessions = if self.sessions {
            Some(self.sessions(runner, before).await?)
        } else {
            None
        };
        if self.output.json {
            let mut report = json!({"runs": runs, "isDryRun": self.dry_run});
            if let Some(sessions) = sessions {
                report["sessions"] = sessions.into();
            }
            self.output.json(&report)?;
        } else {
            let verb = if self.dry_run { "to delete" } else { "deleted" };
            let sessions = sessions.map(|many| format!(" and {}", count(many, "session")));
            let sessions = sessions.unwrap_or_default();
            let line = format!("{}{sessions} {verb}", count(runs, "run"));
            self.output.line(line)?;
        }
        opened.close().await
    }
    /// Deletes the old sessions, or only counts them.
    async fn sessions(&self, runner: &Runner, before: u64) -> Result<u64> {
        let mut deleted = 0;
        for session in runner.sessions(None).await? {
            // The list is in the order of the last change.
            if session.updated >= before {
                break;
            }
            if session.unreadable.is_some() {
                continue;
            }
            let handle = runner.session(&session.key.user, &session.key.id);
            let unfinished = RunFilter::unfinished().session(&session.key).limit(1);
            let now = handle.get(&EventFilter::new().last(0)).await?;
            let is_old = now.is_some_and(|now| now.updated < before);
            if is_old && runner.runs(&unfinished).await?.is_empty() {
                deleted += u64::from(self.dry_run || handle.delete().await?);
            }
        }
        Ok(deleted)
    }
}

fn count(many: u64, noun: &str) -> String {
    format!("{many} {noun}{}", if many == 1 { "" } else { "s" })
}
