//! `adk events`: prints the events of a run, and follows them with `--follow`.

use crate::output::{Output, Style, printable, short};
use crate::runs::run_id;
use crate::store::{Opened, Place};
use adk_core::engine::RunInfo;
use adk_core::memory::iso;
use adk_core::session::{EventFilter, SessionSnapshot};
use adk_core::{Event, Result, RunId};
use clap::Args;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// The time between two reads of the store.
const EVERY: Duration = Duration::from_millis(500);

/// The maximum length of a printed state value or of the printed arguments of a call, in
/// characters.
const LONGEST: usize = 80;

#[derive(Args)]
pub struct Events {
    /// The id of the run
    #[arg(value_parser = run_id)]
    run: RunId,
    /// Print new events until the run has ended or waits; with `--json` one event per line
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

impl Events {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open().await?;
        let (mut next, mut has_noted) = (None, false);
        loop {
            // Read the status before the events, so that no event of an ended run is missed.
            let run = opened.find(self.run).await?;
            let (session, events) = events_of(&opened, &run, next).await?;
            next = Some(session.len);
            self.print(&events)?;
            if !self.follow || !can_continue(&run) {
                return opened.close().await;
            }
            if run.is_ready && !has_noted {
                eprintln!(
                    "note: no process drives the run; it continues when a process resumes it"
                );
                has_noted = true;
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    fn print(&self, events: &[Arc<Event>]) -> Result<()> {
        if self.output.json && !self.follow {
            return self.output.json(&events);
        }
        for event in events {
            if self.output.json {
                self.output.json(event)?;
                continue;
            }
            let path = self
                .output
                .paint(&printable(&event.path.to_string()), Style::Bold);
            let author = if event.author == *event.path.name() {
                ""
            } else {
                &*event.author
            };
            let author = if author.is_empty() {
                String::new()
            } else {
                format!(" ({})", printable(author))
            };
            self.output
                .line(format!("{} {path}{author}", iso(event.timestamp)))?;
            for line in summary(event).iter().flat_map(|text| text.lines()) {
                self.output.line(format!("    {}", printable(line)))?;
            }
        }
        Ok(())
    }
}

fn can_continue(run: &RunInfo) -> bool {
    run.is_ready || run.status.is_active()
}

/// Returns the session of a run and the events of the run from a place of the log onwards.
pub async fn events_of(
    opened: &Opened,
    run: &RunInfo,
    from: Option<usize>,
) -> Result<(SessionSnapshot, Vec<Arc<Event>>)> {
    let filter = match from {
        Some(place) => EventFilter::new().places(place..usize::MAX),
        None => EventFilter::new().since(UNIX_EPOCH + Duration::from_micros(run.created)),
    };
    let key = &run.session;
    let session = opened
        .runner
        .session(&key.user, &key.id)
        .get(&filter)
        .await?;
    let mut session = session.ok_or_else(|| key.missing())?;
    let mut events = std::mem::take(&mut session.events);
    events.retain(|event| event.invocation_id == run.run_id);
    Ok((session, events))
}

/// Describes the text and the actions of an event, one line for each.
pub fn summary(event: &Event) -> Vec<String> {
    let mut lines = vec![event.text()];
    let calls = event.function_calls();
    lines.extend(calls.map(|call| {
        format!(
            "calls {}({})",
            call.name,
            short(&serde_json::json!(call.args).to_string(), LONGEST)
        )
    }));
    let answers = event.function_responses();
    lines.extend(answers.map(|answer| {
        format!(
            "{} returned {}",
            answer.name,
            short(&serde_json::json!(answer.response).to_string(), LONGEST)
        )
    }));
    let state = event.actions.state_delta.iter();
    lines.extend(
        state.map(|(key, value)| format!("{key} = {}", short(&value.to_string(), LONGEST))),
    );
    let files = event.actions.artifact_delta.iter();
    lines.extend(files.map(|(name, version)| format!("saves {name}, version {version}")));
    lines.extend(
        event
            .actions
            .transfer_to_agent
            .iter()
            .map(|agent| format!("hands over to {agent}")),
    );
    lines.extend(
        event
            .actions
            .escalates()
            .then(|| "ends its loop".to_owned()),
    );
    let error = event.details.as_ref().and_then(|details| {
        details
            .error_message
            .as_ref()
            .or(details.error_code.as_ref())
    });
    lines.extend(error.map(|error| format!("error: {error}")));
    lines.retain(|line| !line.is_empty());
    lines
}
