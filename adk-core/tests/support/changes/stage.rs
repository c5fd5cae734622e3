//! [`Stage`]: what the world outside sees of a run. It counts each call, and decides where the process stops.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;

/// How the question about a tool call begins.
pub const ASKS: &str = "May the tool";

tokio::task_local! {
    /// The step of the journal that is being executed.
    pub static STEP: u64;
}

/// Shared by all processes of a run: in memory, or by the lines of a file.
#[derive(Clone, Default)]
pub struct Stage {
    seen: Arc<Mutex<Seen>>,
    file: Option<Arc<PathBuf>>,
}

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
    /// What each call of a model was given.
    given: Vec<String>,
    /// How often each function of the program was called that is not recorded.
    hooks: BTreeMap<&'static str, u32>,
}

#[derive(Default)]
struct Made {
    times: u32,
    execution: u32,
    is_recorded: bool,
}

impl Stage {
    /// What other processes have written to a file, to which this one adds.
    pub fn of_file(file: &Path) -> Self {
        let stage = Self { seen: Arc::default(), file: Some(Arc::new(file.to_owned())) };
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let (verb, what) = line.split_once(' ').unwrap();
            stage.seen().apply(verb, what);
        }
        stage
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Keeps a fact, for other processes as well.
    fn tell(&self, verb: &str, what: &str) {
        if let Some(file) = &self.file {
            let line = format!("{verb} {what}\n");
            let mut file = OpenOptions::new().create(true).append(true).open(&**file).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
        self.seen().apply(verb, what);
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
        self.tell("execution", "begins");
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
        self.tell("begin", &call);
        if let Ok(step) = STEP.try_with(|step| *step) {
            self.seen().steps.entry(step).or_default().push(call);
        }
    }

    /// A tool call that runs, see [`begin`](Self::begin). Its answer must not be stored, and no person has refused it.
    pub fn begin_tool(&self, name: &str, id: &str, path: &str, args: &Map<String, Value>) {
        let question = format!("{path}: {ASKS} `{name}` be called with {}?", json!(args));
        if self.seen().refused.contains(&question) {
            self.fault(&format!("`{name}` runs for `{id}`, which a person has refused"));
        }
        if self.seen().answered.contains(id) {
            self.fault(&format!("`{name}` runs for `{id}`, which has an answer"));
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
        let calls = self.seen().steps.remove(&step);
        calls.iter().flatten().for_each(|call| self.record(call));
    }

    /// The journal has the record of a call.
    pub fn record(&self, call: &str) {
        self.tell("record", call);
    }

    /// The calls that this execution has made and that have no record.
    pub fn unrecorded(&self) -> Vec<String> {
        let seen = self.seen();
        let is_new = |made: &Made| made.execution == seen.execution && !made.is_recorded;
        seen.calls.iter().filter(|(_, made)| is_new(made)).map(|(call, _)| call.clone()).collect()
    }

    /// Whether the process has stopped at its point.
    pub fn has_stopped(&self) -> bool {
        let seen = self.seen();
        seen.points > seen.at
    }

    /// The answer to a tool call is stored.
    pub fn answer(&self, id: &str) {
        self.tell("answer", id);
    }

    /// A person has refused a tool call.
    pub fn refuse(&self, question: &str) {
        self.tell("refuse", question);
    }

    /// Whether a call that fails once is to fail now.
    pub fn fails(&self, call: &str) -> bool {
        let fails = !self.seen().failed.contains(call);
        if fails {
            self.tell("fail", call);
        }
        fails
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

    /// A call of a model is given this.
    pub fn give(&self, what: String) {
        self.seen().given.push(what);
    }

    pub fn given(&self) -> Vec<String> {
        self.seen().given.clone()
    }

    /// A callback or a function of the program is called.
    pub fn hook(&self, name: &'static str) {
        *self.seen().hooks.entry(name).or_default() += 1;
    }

    pub fn hooks(&self) -> BTreeMap<&'static str, u32> {
        self.seen().hooks.clone()
    }

    pub fn fault(&self, fault: &str) {
        self.tell("fault", fault);
    }

    pub fn first_fault(&self) -> Option<String> {
        self.seen().faults.first().cloned()
    }
}

impl Seen {
    fn apply(&mut self, verb: &str, what: &str) {
        match verb {
            "execution" => self.execution += 1,
            "begin" => self.begin(what),
            "record" => self.calls.entry(what.to_owned()).or_default().is_recorded = true,
            "answer" => drop(self.answered.insert(what.to_owned())),
            "refuse" => drop(self.refused.insert(what.to_owned())),
            "fail" => drop(self.failed.insert(what.to_owned())),
            _ => self.faults.push(what.to_owned()),
        }
    }

    fn begin(&mut self, call: &str) {
        let made = self.calls.entry(call.to_owned()).or_default();
        made.times += 1;
        if made.is_recorded {
            self.faults.push(format!("`{call}` is recorded and made again"));
        } else if made.execution == self.execution {
            self.faults.push(format!("`{call}` is made twice by one execution"));
        }
        made.execution = self.execution;
    }
}

fn tool_call(name: &str, id: &str) -> String {
    format!("tool {name} {id}")
}
