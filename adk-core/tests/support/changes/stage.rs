//! [`Stage`]: what the world outside sees of a run. It counts each call, and decides where the process stops.

use adk_core::Path;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;

/// How the question about a tool call begins.
pub const ASKS: &str = "May the tool";

tokio::task_local! {
    /// The step of the journal that is being executed.
    pub static STEP: u64;
}

/// Shared by all processes of a run.
#[derive(Clone, Default)]
pub struct Stage(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    execution: u32,
    points: usize,
    at: usize,
    stopped: Arc<Notify>,
    calls: BTreeMap<String, Made>,
    /// The calls that began inside of each step of the journal.
    steps: HashMap<u64, Vec<String>>,
    next_step: u64,
    /// Ids of tool calls of which an answer is stored.
    answered: BTreeSet<String>,
    /// The tool calls that a person has refused, as they were asked.
    refused: BTreeSet<String>,
    failed: BTreeSet<String>,
    faults: Vec<String>,
}

#[derive(Default)]
struct Made {
    times: u32,
    execution: u32,
    is_recorded: bool,
}

impl Stage {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap()
    }

    /// Forgets all calls.
    pub fn reset(&self) {
        *self.seen() = Seen::default();
    }

    /// Begins a process that stops at a point.
    pub fn begin_process(&self, at: usize) {
        let mut seen = self.seen();
        (seen.points, seen.at) = (0, at);
        seen.stopped = Arc::default();
    }

    /// Begins an execution of the run. A process may have several, one after the other.
    pub fn begin_execution(&self) {
        self.seen().execution += 1;
    }

    /// The points that this process has passed.
    pub fn points(&self) -> usize {
        self.seen().points
    }

    /// Waits until the process stops.
    pub async fn stopped(&self) {
        let stopped = self.seen().stopped.clone();
        stopped.notified().await;
    }

    /// A point at which the process may stop.
    pub async fn point(&self) {
        let is_reached = {
            let mut seen = self.seen();
            seen.points += 1;
            seen.points > seen.at
        };
        if is_reached {
            self.seen().stopped.notify_one();
            std::future::pending().await
        }
    }

    /// A call that the world outside sees. It must not be one that is recorded, and an execution makes it once.
    pub fn begin(&self, call: String) {
        let mut seen = self.seen();
        let execution = seen.execution;
        let made = seen.calls.entry(call.clone()).or_default();
        made.times += 1;
        let fault = if made.is_recorded {
            Some(format!("`{call}` is recorded and made again"))
        } else if made.execution == execution {
            Some(format!("`{call}` is made twice by one execution"))
        } else {
            None
        };
        made.execution = execution;
        seen.faults.extend(fault);
        if let Ok(step) = STEP.try_with(|step| *step) {
            seen.steps.entry(step).or_default().push(call);
        }
    }

    /// A tool call that runs, see [`begin`](Self::begin). Its answer must not be stored, and no person has refused it.
    pub fn begin_tool(&self, name: &str, id: &str, path: &Path, args: &Map<String, Value>) {
        let question = format!("{path}: {ASKS} `{name}` be called with {}?", json!(args));
        if self.seen().refused.contains(&question) {
            self.fault(format!("`{name}` runs for `{id}`, which a person has refused"));
        }
        if self.seen().answered.contains(id) {
            self.fault(format!("`{name}` runs for `{id}`, which has an answer"));
        }
        self.begin(tool_call(name, id));
    }

    /// The number of a step of the journal that begins.
    pub fn begin_step(&self) -> u64 {
        let mut seen = self.seen();
        seen.next_step += 1;
        seen.next_step
    }

    /// The journal has the record of a step.
    pub fn record_step(&self, step: u64) {
        let mut seen = self.seen();
        for call in seen.steps.remove(&step).unwrap_or_default() {
            seen.calls.entry(call).or_default().is_recorded = true;
        }
    }

    /// The answer to a tool call is stored.
    pub fn answer(&self, id: &str) {
        self.seen().answered.insert(id.to_owned());
    }

    /// A person has refused a tool call.
    pub fn refuse(&self, question: String) {
        self.seen().refused.insert(question);
    }

    /// Whether a call that fails once is to fail now.
    pub fn fails(&self, call: &str) -> bool {
        self.seen().failed.insert(call.to_owned())
    }

    /// How often a tool ran for a call.
    pub fn times(&self, name: &str, id: &str) -> u32 {
        self.seen().calls.get(&tool_call(name, id)).map_or(0, |made| made.times)
    }

    /// How often calls were made whose text begins like this.
    pub fn count(&self, begin: &str) -> u32 {
        let seen = self.seen();
        seen.calls.iter().filter(|(call, _)| call.starts_with(begin)).map(|(_, made)| made.times).sum()
    }

    /// Whether the journal has the record of a tool call.
    pub fn is_recorded(&self, name: &str, id: &str) -> bool {
        self.seen().calls.get(&tool_call(name, id)).is_some_and(|made| made.is_recorded)
    }

    pub fn fault(&self, fault: String) {
        self.seen().faults.push(fault);
    }

    pub fn first_fault(&self) -> Option<String> {
        self.seen().faults.first().cloned()
    }
}

fn tool_call(name: &str, id: &str) -> String {
    format!("tool {name} {id}")
}
