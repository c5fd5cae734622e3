//! [`Stage`]: the outside view of a run. It counts each call, and decides where the process stops.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;

/// The prefix of a question about a tool call.
pub const ASKS: &str = "May the tool";

tokio::task_local! {
    /// The journal step that is being executed.
    pub static STEP: u64;
}

/// State that all processes of a run share: in memory, or as lines of a file.
#[derive(Clone, Default)]
pub struct Stage {
    seen: Arc<Mutex<Seen>>,
    file: Option<Arc<PathBuf>>,
}

#[derive(Default)]
struct Seen {
    execution: u32,
    process: Process,
    calls: BTreeMap<String, Made>,
    /// The calls that started inside each journal step.
    steps: HashMap<u64, Vec<String>>,
    next_step: u64,
    /// Ids of tool calls with a stored answer.
    answered: BTreeSet<String>,
    /// Questions about tool calls that a person refused.
    refused: BTreeSet<String>,
    failed: BTreeSet<String>,
    faults: Vec<String>,
    /// The requests of model calls.
    requests: Vec<String>,
    /// The number of calls of each unrecorded function of the program.
    hooks: BTreeMap<&'static str, u32>,
}

/// The process of this test, and where it stops.
#[derive(Default)]
struct Process {
    /// The number of points that the process has reached.
    points: usize,
    /// The number of points that the process passes.
    at: usize,
    stopped: Arc<Notify>,
}

#[derive(Default)]
struct Made {
    times: u32,
    execution: u32,
    is_recorded: bool,
}

impl Stage {
    /// Reads the facts that other processes wrote to a file. This process adds to the file.
    pub fn of_file(file: &Path) -> Self {
        let stage = Self {
            seen: Arc::default(),
            file: Some(Arc::new(file.to_owned())),
        };
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let (verb, what) = line.split_once(' ').unwrap();
            stage.seen().apply(verb, what);
        }
        stage
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Records a fact, also for other processes.
    fn tell(&self, verb: &str, what: &str) {
        if let Some(file) = &self.file {
            let line = format!("{verb} {what}\n");
            let mut file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(&**file)
                .unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
        self.seen().apply(verb, what);
    }

    /// Clears all calls.
    pub fn reset(&self) {
        *self.seen() = Seen::default();
    }

    /// Starts a process that stops at a point.
    pub fn begin_process(&self, at: usize) {
        self.seen().process = Process {
            at,
            ..Process::default()
        };
    }

    /// Starts an execution of the run. A process may have several, one after the other.
    pub fn begin_execution(&self) {
        self.tell("execution", "begins");
    }

    /// Returns the number of points that this process has passed.
    pub fn points(&self) -> usize {
        self.seen().process.points
    }

    /// Waits until the process stops.
    pub async fn stopped(&self) {
        let stopped = self.seen().process.stopped.clone();
        stopped.notified().await;
    }

    /// Passes a point at which the process may stop.
    pub async fn point(&self) {
        let is_reached = {
            let process = &mut self.seen().process;
            process.points += 1;
            process.has_stopped()
        };
        if is_reached {
            self.seen().process.stopped.notify_one();
            std::future::pending().await
        }
    }

    /// Records the start of an external call. The call must not be recorded in the journal, and an
    /// execution makes it at most once.
    pub fn begin(&self, call: String) {
        self.tell("begin", &call);
        if let Ok(step) = STEP.try_with(|step| *step) {
            self.seen().steps.entry(step).or_default().push(call);
        }
    }

    /// Records the start of a tool call, see [`begin`](Self::begin). The call must not have a
    /// stored answer or a refusal.
    pub fn begin_tool(&self, name: &str, id: &str, path: &str, args: &Map<String, Value>) {
        let question = format!("{path}: {ASKS} `{name}` be called with {}?", json!(args));
        if self.seen().refused.contains(&question) {
            self.fault(&format!(
                "`{name}` runs for `{id}`, which a person has refused"
            ));
        }
        if self.seen().answered.contains(id) {
            self.fault(&format!("`{name}` runs for `{id}`, which has an answer"));
        }
        self.begin(tool_call(name, id));
    }

    /// Starts a journal step and returns its number.
    pub fn begin_step(&self) -> u64 {
        let mut seen = self.seen();
        seen.next_step += 1;
        seen.next_step
    }

    /// Notes that the journal has recorded a step.
    pub fn record_step(&self, step: u64) {
        let calls = self.seen().steps.remove(&step);
        calls.iter().flatten().for_each(|call| self.record(call));
    }

    /// Notes that the journal has recorded a call.
    pub fn record(&self, call: &str) {
        self.tell("record", call);
    }

    /// Returns the calls of this execution without a record.
    pub fn unrecorded(&self) -> Vec<String> {
        let seen = self.seen();
        let is_new = |made: &Made| made.execution == seen.execution && !made.is_recorded;
        seen.calls
            .iter()
            .filter(|(_, made)| is_new(made))
            .map(|(call, _)| call.clone())
            .collect()
    }

    /// Whether the process has stopped at its point.
    pub fn has_stopped(&self) -> bool {
        self.seen().process.has_stopped()
    }

    /// Notes that the answer to a tool call is stored.
    pub fn answer(&self, id: &str) {
        self.tell("answer", id);
    }

    /// Notes that a person has refused a tool call.
    pub fn refuse(&self, question: &str) {
        self.tell("refuse", question);
    }

    /// Whether a call that fails once must fail now.
    pub fn fails(&self, call: &str) -> bool {
        let fails = !self.seen().failed.contains(call);
        if fails {
            self.tell("fail", call);
        }
        fails
    }

    /// Returns how often a tool ran for a call.
    pub fn times(&self, name: &str, id: &str) -> u32 {
        self.seen()
            .calls
            .get(&tool_call(name, id))
            .map_or(0, |made| made.times)
    }

    /// Returns the number of calls whose text has this prefix.
    pub fn count(&self, begin: &str) -> u32 {
        let seen = self.seen();
        seen.calls
            .iter()
            .filter(|(call, _)| call.starts_with(begin))
            .map(|(_, made)| made.times)
            .sum()
    }

    /// Whether the journal has recorded a tool call.
    pub fn is_recorded(&self, name: &str, id: &str) -> bool {
        self.seen()
            .calls
            .get(&tool_call(name, id))
            .is_some_and(|made| made.is_recorded)
    }

    /// Records the request of a model call.
    pub fn give(&self, what: String) {
        self.seen().requests.push(what);
    }

    pub fn requests(&self) -> Vec<String> {
        self.seen().requests.clone()
    }

    /// Counts a call of a callback or a function of the program.
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

impl Process {
    fn has_stopped(&self) -> bool {
        self.points > self.at
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
            self.faults
                .push(format!("`{call}` is recorded but repeated"));
        } else if made.execution == self.execution {
            self.faults
                .push(format!("`{call}` is made twice by one execution"));
        }
        made.execution = self.execution;
    }
}

fn tool_call(name: &str, id: &str) -> String {
    format!("tool {name} {id}")
}
