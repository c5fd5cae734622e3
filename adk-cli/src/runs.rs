//! `adk runs`, `adk show` and `adk cancel`.

use crate::events::{events_of, summary};
use crate::output::{Cell, Output, Style, age, date, seconds, short};
use crate::store::Place;
use crate::waits::{WaitJson, question, waits_of};
use adk_core::engine::{RunFilter, RunInfo, RunState, RunStatus, Waiting};
use adk_core::model::Usage;
use adk_core::session::StateMap;
use adk_core::{Error, ErrorKind, Event, Result, RunId};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The longest text of a step or a state key that `adk show` prints.
const LONGEST: usize = 80;

#[derive(Args)]
pub struct Runs {
    /// Which runs
    #[arg(long, value_enum, default_value_t = Status::Any)]
    status: Status,
    /// Only runs of this user
    #[arg(long)]
    user: Option<String>,
    /// The most runs to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Status {
    /// All
    Any,
    /// That run or wait
    Unfinished,
    /// That could go on and that no process drives
    Ready,
    /// That have ended well
    Finished,
    /// That have failed
    Failed,
    /// That were cancelled
    Cancelled,
}

#[derive(Args)]
pub struct OneRun {
    /// The id of the run
    #[arg(value_parser = run_id)]
    run: RunId,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

/// The id of a run, as it is printed.
pub fn run_id(text: &str) -> Result<RunId, String> {
    text.parse().map_err(|_| "it is no id of a run; help: `adk runs` lists them".to_owned())
}

/// A run as programs read it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson<'a> {
    run_id: RunId,
    app: &'a str,
    user: &'a str,
    session: &'a str,
    workflow: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    is_ready: bool,
    created: f64,
    updated: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// A run with all that `adk show` knows of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunDetails<'a> {
    #[serde(flatten)]
    run: RunJson<'a>,
    waiting: Vec<WaitJson<'a>>,
    steps: Vec<Step>,
    state: BTreeMap<&'a str, &'a Value>,
}

/// What happened at one place of the tree.
#[derive(Serialize)]
struct Step {
    path: String,
    events: usize,
    /// The last event, in short.
    last: String,
}

impl<'a> From<&'a RunInfo> for RunJson<'a> {
    fn from(run: &'a RunInfo) -> Self {
        let (status, error) = run.status.to_row();
        Self {
            run_id: run.run_id,
            app: &run.session.app,
            user: &run.session.user,
            session: &run.session.id,
            workflow: &run.workflow,
            status,
            error,
            is_ready: run.is_ready,
            created: seconds(run.created),
            updated: seconds(run.updated),
            ended: run.ended().map(seconds),
            usage: run.usage,
        }
    }
}

impl Runs {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open().await?;
        let mut filter = RunFilter::any().limit(self.limit.saturating_add(1));
        filter.state = match self.status {
            Status::Any => RunState::Any,
            Status::Unfinished => RunState::Unfinished,
            Status::Ready => RunState::Ready,
            Status::Finished => RunState::Finished,
            Status::Failed => RunState::Failed,
            Status::Cancelled => RunState::Cancelled,
        };
        filter.user = self.user;
        let mut runs = opened.runner.runs(&filter).await?;
        let has_more = runs.len() > self.limit;
        runs.truncate(self.limit);
        if self.output.json {
            self.output.json(&runs.iter().map(RunJson::from).collect::<Vec<_>>())?;
            return opened.close().await;
        }
        let rows = runs.iter().map(|run| {
            let tokens =
                run.usage.map_or(String::new(), |used| (used.input_tokens + used.output_tokens).to_string());
            [
                run.run_id.to_string().into(),
                Cell::from(&*run.workflow),
                status(run),
                age(run.created).into(),
                tokens.into(),
                Cell::from(&*run.session.user),
                Cell::from(&*run.session.id),
            ]
        });
        let heads = ["RUN", "WORKFLOW", "STATUS", "AGE", "TOKENS", "USER", "SESSION"];
        self.output.table(heads, rows.collect())?;
        if has_more {
            eprintln!("note: there are more; `--limit` lists them");
        }
        opened.close().await
    }
}

/// The status, and whether nobody drives a run that could go on.
fn status(run: &RunInfo) -> Cell {
    let style = match run.status {
        RunStatus::Finished => Style::Green,
        RunStatus::Failed(_) => Style::Red,
        RunStatus::Paused => Style::Yellow,
        _ => Style::Plain,
    };
    let (status, _) = run.status.to_row();
    let ready = if run.is_ready { ", ready" } else { "" };
    Cell::new(format!("{status}{ready}"), style)
}

impl OneRun {
    pub async fn show(self) -> Result<()> {
        let opened = self.place.open().await?;
        let run = opened.find(self.run).await?;
        let waiting = waits_of(&opened, self.run).await?;
        let (session, events) = events_of(&opened, &run, None).await?;
        let steps = steps(&events);
        if self.output.json {
            let waiting = waiting.iter().map(WaitJson::from).collect();
            let state = session.state.iter().map(|(key, value)| (&**key, &**value)).collect();
            self.output.json(&RunDetails { run: (&run).into(), waiting, steps, state })?;
        } else {
            self.people(&run, &waiting, &steps, &session.state)?;
        }
        opened.close().await
    }

    pub async fn cancel(self) -> Result<()> {
        let opened = self.place.open().await?;
        let status = opened.runner.cancel(self.run).await?;
        if status != RunStatus::Cancelled {
            let (status, _) = status.to_row();
            let message = format!("run `{}` cannot be cancelled: it has ended ({status})", self.run);
            return Err(Error::new(ErrorKind::Agent, message)
                .with_help("`adk runs --status unfinished` lists those that can"));
        }
        if self.output.json {
            self.output.json(&RunJson::from(&opened.find(self.run).await?))?;
        } else {
            self.output.line(format!("run {} is cancelled", self.run))?;
        }
        opened.close().await
    }

    fn people(&self, run: &RunInfo, waiting: &[Waiting], steps: &[Step], state: &StateMap) -> Result<()> {
        let mut rows: Vec<[Cell; 2]> = vec![
            ["run".into(), run.run_id.to_string().into()],
            ["workflow".into(), Cell::from(&*run.workflow)],
            ["status".into(), status(run)],
            ["app".into(), Cell::from(&*run.session.app)],
            ["user".into(), Cell::from(&*run.session.user)],
            ["session".into(), Cell::from(&*run.session.id)],
            ["began".into(), format!("{} ({} ago)", date(run.created), age(run.created)).into()],
            ["updated".into(), format!("{} ({} ago)", date(run.updated), age(run.updated)).into()],
        ];
        rows.extend(run.usage.map(|usage| ["used".into(), used(&usage).into()]));
        if let RunStatus::Failed(error) = &run.status {
            rows.push(["error".into(), Cell::new(error, Style::Red)]);
        }
        for wait in waiting {
            rows.push(["waits".into(), Cell::new(&wait.id, Style::Yellow)]);
            let until = wait.deadline.map(|deadline| ["  until".into(), date(deadline).into()]);
            let question = question(wait);
            let question = (!question.is_empty()).then(|| ["  asks".into(), Cell::from(&*question)]);
            rows.extend(question.into_iter().chain(until));
            rows.push(["  schema".into(), wait.schema.to_string().into()]);
        }
        self.output.columns(rows)?;
        self.output.line("")?;
        let rows = steps.iter().map(|step| {
            let depth = step.path.matches('/').count();
            let name = step.path.rsplit('/').next().unwrap_or_default();
            [
                format!("{:depth$}{name}", "", depth = 2 * depth).into(),
                step.events.to_string().into(),
                Cell::from(&*step.last),
            ]
        });
        self.output.table(["STEP", "EVENTS", "LAST"], rows.collect())?;
        self.output.line("")?;
        let mut rows: Vec<_> = state
            .iter()
            .map(|(key, value)| [Cell::from(&**key), short(&value.to_string(), LONGEST).into()])
            .collect();
        rows.sort_by(|[one, _], [other, _]| one.text().cmp(other.text()));
        self.output.table(["STATE", "VALUE"], rows)
    }
}

fn used(usage: &Usage) -> String {
    let Usage { calls, input_tokens, output_tokens, tool_calls, cost, .. } = usage;
    let cost = if cost.is_zero() { String::new() } else { format!(", cost {cost} USD") };
    format!(
        "model calls {calls}, tool calls {tool_calls}, tokens in {input_tokens}, tokens out {output_tokens}{cost}"
    )
}

/// The places of a run as a tree: each below the one around it, in the order of their first events.
fn steps(events: &[Arc<Event>]) -> Vec<Step> {
    // With the numbers of the places on the way to it, by which they are sorted.
    let mut places: HashMap<String, (Vec<usize>, Step)> = HashMap::new();
    for event in events {
        let path = event.path.to_string();
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let mut way = Vec::new();
        for place in ends.map(|end| &path[..end]) {
            way.push(places.len());
            let step = || Step { path: place.to_owned(), events: 0, last: String::new() };
            let (known, _) = places.entry(place.to_owned()).or_insert_with(|| (way.clone(), step()));
            way.clone_from(known);
        }
        if let Some((_, step)) = places.get_mut(&path) {
            step.events += 1;
            step.last = short(&summary(event).join("; "), LONGEST);
        }
    }
    let mut steps: Vec<_> = places.into_values().collect();
    steps.sort_by(|(one, _), (other, _)| one.cmp(other));
    steps.into_iter().map(|(_, step)| step).collect()
}
