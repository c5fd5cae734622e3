//! `adk runs`, `adk show` and `adk cancel`.

use crate::events::{events_of, summary};
use crate::output::{Cell, Output, Style, age, short};
use crate::store::Place;
use crate::waits::{question, waits_of};
use adk_core::engine::{RunFilter, RunInfo, RunState, RunStatus, Waiting};
use adk_core::memory::iso;
use adk_core::model::Usage;
use adk_core::runner::{RunJson, WaitJson};
use adk_core::session::StateMap;
use adk_core::{Error, ErrorKind, Event, Result, RunId};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The maximum length of a step or a state value that `adk show` prints, in characters.
const LONGEST: usize = 80;

#[derive(Args)]
pub struct Runs {
    /// List only runs with this status
    #[arg(long, value_enum, default_value_t = Status::Any)]
    status: Status,
    /// List only runs of this user
    #[arg(long)]
    user: Option<String>,
    /// The maximum number of runs to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Status {
    /// All runs
    Any,
    /// Runs that have not ended
    Unfinished,
    /// Runs that can continue and that no process drives
    Ready,
    /// Runs that have finished without an error
    Finished,
    /// Runs that have failed
    Failed,
    /// Runs that were cancelled
    Cancelled,
}

#[derive(Args)]
pub struct RunArgs {
    /// The id of the run
    #[arg(value_parser = run_id)]
    run: RunId,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

/// Parses the id of a run.
pub fn run_id(text: &str) -> Result<RunId, String> {
    text.parse()
        .map_err(|_| "not a run id; help: `adk runs` lists the ids".to_owned())
}

/// The JSON of `adk show`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunDetails<'a> {
    #[serde(flatten)]
    run: RunJson<'a>,
    waiting: Vec<WaitJson<'a>>,
    steps: Vec<Step>,
    state: BTreeMap<&'a str, &'a Value>,
}

/// The events of one node of the tree, for `adk show`.
#[derive(Serialize)]
struct Step {
    path: String,
    events: usize,
    /// A summary of the last event.
    last: String,
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
            self.output
                .json(&runs.iter().map(RunJson::from).collect::<Vec<_>>())?;
            return opened.close().await;
        }
        let rows = runs.iter().map(|run| {
            let tokens = run.usage.map_or(String::new(), |used| {
                (used.input_tokens + used.output_tokens).to_string()
            });
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
        let heads = [
            "RUN", "WORKFLOW", "STATUS", "AGE", "TOKENS", "USER", "SESSION",
        ];
        self.output.table(heads, rows.collect())?;
        if has_more {
            eprintln!("note: more runs exist; a higher `--limit` lists them");
        }
        opened.close().await
    }
}

/// Returns the status as a field of a table. It is `ready` for a run that can continue and that no
/// process drives.
fn status(run: &RunInfo) -> Cell {
    let style = match run.status {
        RunStatus::Finished => Style::Green,
        RunStatus::Failed(_) => Style::Red,
        RunStatus::Paused => Style::Yellow,
        _ => Style::Plain,
    };
    let status = run.status.name();
    let ready = if run.is_ready { ", ready" } else { "" };
    Cell::new(format!("{status}{ready}"), style)
}

impl RunArgs {
    pub async fn show(self) -> Result<()> {
        let opened = self.place.open().await?;
        let run = opened.find(self.run).await?;
        let waiting = waits_of(&opened, self.run).await?;
        let (session, events) = events_of(&opened, &run, None).await?;
        let steps = steps(&events);
        if self.output.json {
            let waiting = waiting.iter().map(WaitJson::from).collect();
            let state = session
                .state
                .iter()
                .map(|(key, value)| (&**key, &**value))
                .collect();
            self.output.json(&RunDetails {
                run: (&run).into(),
                waiting,
                steps,
                state,
            })?;
        } else {
            self.print_details(&run, &waiting, &steps, &session.state)?;
        }
        opened.close().await
    }

    pub async fn cancel(self) -> Result<()> {
        let opened = self.place.open().await?;
        let status = opened.runner.cancel(self.run).await?;
        if status != RunStatus::Cancelled {
            let message = format!(
                "run `{}` cannot be cancelled: it has ended ({})",
                self.run,
                status.name()
            );
            return Err(Error::new(ErrorKind::Agent, message)
                .with_help("`adk runs --status unfinished` lists the runs that can be cancelled"));
        }
        if self.output.json {
            self.output
                .json(&RunJson::from(&opened.find(self.run).await?))?;
        } else {
            self.output.line(format!("run {} is cancelled", self.run))?;
        }
        opened.close().await
    }

    fn print_details(
        &self,
        run: &RunInfo,
        waiting: &[Waiting],
        steps: &[Step],
        state: &StateMap,
    ) -> Result<()> {
        let mut rows: Vec<[Cell; 2]> = vec![
            ["run".into(), run.run_id.to_string().into()],
            ["workflow".into(), Cell::from(&*run.workflow)],
            ["status".into(), status(run)],
            ["app".into(), Cell::from(&*run.session.app)],
            ["user".into(), Cell::from(&*run.session.user)],
            ["session".into(), Cell::from(&*run.session.id)],
            [
                "began".into(),
                format!("{} ({} ago)", iso(run.created), age(run.created)).into(),
            ],
            [
                "updated".into(),
                format!("{} ({} ago)", iso(run.updated), age(run.updated)).into(),
            ],
        ];
        rows.extend(
            run.usage
                .map(|usage| ["used".into(), usage_text(&usage).into()]),
        );
        if let RunStatus::Failed(error) = &run.status {
            rows.push(["error".into(), Cell::new(error.to_string(), Style::Red)]);
        }
        for wait in waiting {
            rows.push(["waits".into(), Cell::new(&wait.id, Style::Yellow)]);
            let until = wait
                .deadline
                .map(|deadline| ["  until".into(), iso(deadline).into()]);
            let question = question(wait);
            let question =
                (!question.is_empty()).then(|| ["  asks".into(), Cell::from(&*question)]);
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
        self.output
            .table(["STEP", "EVENTS", "LAST"], rows.collect())?;
        self.output.line("")?;
        let mut rows: Vec<_> = state
            .iter()
            .map(|(key, value)| {
                [
                    Cell::from(&**key),
                    short(&value.to_string(), LONGEST).into(),
                ]
            })
            .collect();
        rows.sort_by(|[left, _], [right, _]| left.text().cmp(right.text()));
        self.output.table(["STATE", "VALUE"], rows)
    }
}

fn usage_text(usage: &Usage) -> String {
    let Usage {
        calls,
        input_tokens,
        output_tokens,
        tool_calls,
        cost,
        ..
    } = usage;
    let cost = if cost.is_zero() {
        String::new()
    } else {
        format!(", cost {cost}")
    };
    format!(
        "model calls {calls}, tool calls {tool_calls}, tokens in {input_tokens}, tokens out \
         {output_tokens}{cost}"
    )
}

/// Returns the nodes of a run as a list in the order of the tree: each node follows its parent, and
/// siblings are in the order of their first events.
fn steps(events: &[Arc<Event>]) -> Vec<Step> {
    // The vector holds a number for each ancestor and for the node itself, in the order of first
    // events. The nodes are sorted by these vectors.
    let mut nodes: HashMap<String, (Vec<usize>, Step)> = HashMap::new();
    for event in events {
        let path = event.path.to_string();
        let ends = path
            .match_indices('/')
            .map(|(end, _)| end)
            .chain([path.len()]);
        let mut numbers = Vec::new();
        for node in ends.map(|end| &path[..end]) {
            numbers.push(nodes.len());
            let step = || Step {
                path: node.to_owned(),
                events: 0,
                last: String::new(),
            };
            let (known, _) = nodes
                .entry(node.to_owned())
                .or_insert_with(|| (numbers.clone(), step()));
            numbers.clone_from(known);
        }
        if let Some((_, step)) = nodes.get_mut(&path) {
            step.events += 1;
            step.last = short(&summary(event).join("; "), LONGEST);
        }
    }
    let mut steps: Vec<_> = nodes.into_values().collect();
    steps.sort_by(|(left, _), (right, _)| left.cmp(right));
    steps.into_iter().map(|(_, step)| step).collect()
}
