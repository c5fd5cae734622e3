//! [`Stage`]: the state that the agents of an execution share: decisions, the schedule, and the
//! record of touched keys.

use super::{Choices, Seen, Wrong};
use crate::tree::{SECRET, has_prefix, is_secret};
use adk_build::{At, Event, Path, UNWRITTEN_KEY};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

/// The number of turns after which an execution tries to end.
const TIRED: usize = 20;
/// The number of further rounds after which a loop is given up.
const ROUNDS: usize = 12;

#[derive(Clone, Default)]
pub struct Stage(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    choices: Option<Choices>,
    values: u32,
    waiting: Vec<Waiting>,
    tickets: usize,
    store: BTreeMap<String, Value>,
    touched: BTreeMap<String, Vec<Touch>>,
    turns: usize,
    /// For loops without `max`: the rounds before and after the execution tried to end.
    rounds: BTreeMap<String, (usize, usize)>,
    given_up: BTreeSet<String>,
    seen: Seen,
    names: Names,
}

/// Names of steps.
#[derive(Default)]
pub struct Names {
    /// The parallel blocks, each with whether its first branch wins.
    pub parallels: BTreeMap<String, bool>,
    /// The blocks that skip failed parts.
    pub skips: BTreeSet<String>,
    pub workflows: BTreeSet<String>,
}

struct Waiting {
    ticket: usize,
    released: bool,
    waker: Waker,
}

struct Touch {
    path: Path,
    writes: bool,
}

impl Stage {
    pub fn new(names: Names) -> Self {
        Self(Arc::new(Mutex::new(State {
            names,
            ..State::default()
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Starts an execution and returns its number. Only keys that sessions share exist.
    pub fn begin(&self, choices: Choices) -> usize {
        let mut state = self.state();
        let State {
            seen,
            names,
            mut store,
            ..
        } = std::mem::take(&mut *state);
        store.retain(|key, _| has_prefix(key));
        *state = State {
            choices: Some(choices),
            seen,
            names,
            store,
            ..State::default()
        };
        state.seen.executions += 1;
        state.seen.executions
    }

    /// Whether a block skips failed parts.
    pub fn skips(&self, name: &str) -> bool {
        self.state().names.skips.contains(name)
    }

    /// Ends an execution and returns its decisions.
    pub fn end(&self) -> Option<Choices> {
        let mut state = self.state();
        state.races();
        state.seen.turns += state.turns;
        state.choices.take()
    }

    /// Returns the results of all executions.
    pub fn results(&self) -> Seen {
        std::mem::take(&mut self.state().seen)
    }

    pub fn choose(&self, options: usize) -> usize {
        self.state()
            .choices
            .as_mut()
            .map_or(0, |choices| choices.choose(options))
    }

    pub fn wrong(&self, wrong: Wrong) {
        let mut state = self.state();
        if state.given_up.is_empty() {
            state.seen.wrong.insert(wrong);
        }
    }

    /// Counts an answer, in time or late.
    pub fn count_answer(&self, in_time: bool) {
        let seen = &mut self.state().seen;
        *(if in_time {
            &mut seen.answered
        } else {
            &mut seen.expired
        }) += 1;
    }

    pub fn ended(&self, name: &str) {
        let mut state = self.state();
        if !state.given_up.contains(name) {
            state.seen.ended.insert(name.to_owned());
        }
    }

    /// Whether the execution should try to end.
    pub fn is_tired(&self) -> bool {
        self.state().turns > TIRED
    }

    /// Returns a value of the type of a key. The value is unique if the type allows it.
    pub fn value(&self, key: &str) -> Value {
        self.any(super::super::tree::type_of(key))
    }

    /// Returns a value that fits a schema.
    pub fn value_of(&self, schema: &Value) -> Value {
        self.any(match schema["type"].as_str() {
            Some("boolean") => "bool",
            Some("string") => "String",
            _ => "Vec<String>",
        })
    }

    fn any(&self, ty: &str) -> Value {
        let tired = self.is_tired();
        let mut state = self.state();
        state.values += 1;
        let number = state.values;
        drop(state);
        match ty {
            "bool" => json!(tired || self.choose(2) == 1),
            "String" => json!(format!("v{number}")),
            SECRET => json!({"$secret": format!("v{number}")}),
            _ => (0..self.choose(3))
                .map(|i| json!(format!("v{number}.{i}")))
                .collect(),
        }
    }

    /// Waits for permission to continue; one agent runs at a time.
    pub async fn pass(&self) {
        let mut own = None;
        poll_fn(|task| {
            let mut state = self.state();
            let Some(ticket) = own else {
                let ticket = state.tickets;
                own = Some(ticket);
                state.tickets += 1;
                state.waiting.push(Waiting {
                    ticket,
                    released: false,
                    waker: task.waker().clone(),
                });
                return Poll::Pending;
            };
            let at = state
                .waiting
                .iter()
                .position(|waiting| waiting.ticket == ticket);
            match at.filter(|at| state.waiting[*at].released) {
                Some(at) => {
                    state.waiting.remove(at);
                    state.turns += 1;
                    Poll::Ready(())
                }
                None => Poll::Pending,
            }
        })
        .await;
    }

    /// Lets one waiting agent continue. Returns whether there was one.
    pub fn release(&self) -> bool {
        let mut state = self.state();
        // A cancelled branch leaves its place here and does not wake up.
        state.waiting.retain(|waiting| !waiting.released);
        let count = state.waiting.len();
        if count == 0 {
            return false;
        }
        let at = if count == 1 {
            0
        } else {
            state
                .choices
                .as_mut()
                .map_or(0, |choices| choices.choose(count))
        };
        state.waiting[at].released = true;
        let waker = state.waiting[at].waker.clone();
        drop(state);
        waker.wake();
        true
    }

    /// Counts another round of a loop without `max`. Returns whether there were enough.
    pub fn rounds(&self, name: &str, enough: usize) -> bool {
        let mut state = self.state();
        let tired = state.turns > TIRED;
        let (before, after) = state.rounds.entry(name.to_owned()).or_default();
        if tired {
            *after += 1
        } else {
            *before += 1
        }
        *before >= enough || *after >= ROUNDS.min(enough)
    }

    pub fn give_up(&self, name: &str) {
        let mut state = self.state();
        state.given_up.insert(name.to_owned());
        state.seen.given_up.insert(name.to_owned());
    }

    /// Records that an agent reads a stored key.
    pub fn read(&self, key: &str, path: &Path, found: Option<&Value>) {
        let mut state = self.state();
        state.touch(key, path, false);
        // No event contains `temp:` keys and secrets.
        let is_kept =
            key.starts_with("temp:") || is_secret(key.rsplit('/').next().unwrap_or_default());
        if !is_kept && state.store.get(key) != found && state.given_up.is_empty() {
            let what = format!(
                "{path} reads `{key}`: {found:?}, but {:?} was written",
                state.store.get(key)
            );
            state.seen.wrong.insert(Wrong::Value { what });
        }
    }

    /// Records the write of a key that no event contains.
    pub fn wrote(&self, key: &str, path: &Path) {
        self.state().touch(key, path, true);
    }

    /// Records an event.
    pub fn event(&self, event: &Event) {
        let mut state = self.state();
        if let At::Item(_) = event.path.at() {
            // An element starts with empty keys.
            let prefix = state.prefix(&event.path);
            state.store.retain(|key, _| !key.starts_with(&prefix));
        }
        for (key, value) in event.actions.state_delta.iter() {
            state.store.insert(key.to_string(), Value::clone(value));
            if event.author != "user" {
                state.touch(key, &event.path, true);
            }
        }
        // Writes of discarded branches are removed.
        let unwritten = event.metadata(UNWRITTEN_KEY).and_then(Value::as_array);
        let unwritten = unwritten.into_iter().flatten().filter_map(Value::as_str);
        unwritten
            .filter(|key| !has_prefix(key))
            .for_each(|key| drop(state.store.remove(key)));
    }
}

impl State {
    fn touch(&mut self, key: &str, path: &Path, writes: bool) {
        let touch = Touch {
            path: path.clone(),
            writes,
        };
        match self.touched.get_mut(key) {
            Some(touched) => touched.push(touch),
            None => drop(self.touched.insert(key.to_owned(), vec![touch])),
        }
    }

    /// Returns the prefix of the keys of an element.
    fn prefix(&self, path: &Path) -> String {
        let mut prefix = String::new();
        for node in nodes(path).into_iter().skip(1) {
            match node.at() {
                At::Item(item) => prefix += &format!("{}[{item}]/", node.name()),
                _ if self.names.workflows.contains(node.name().as_str()) => {
                    prefix += &format!("{}/", node.name())
                }
                _ => {}
            }
        }
        prefix
    }

    /// Finds concurrent accesses to one key.
    fn races(&mut self) {
        // Accesses after a loop that was given up do not count.
        let touched = if self.given_up.is_empty() {
            std::mem::take(&mut self.touched)
        } else {
            BTreeMap::new()
        };
        for (key, touched) in touched {
            let races = touched.iter().enumerate().any(|(i, a)| {
                touched[..i].iter().any(|b| {
                    let together = self.together(&a.path, &b.path);
                    let one = a.writes != b.writes || key.starts_with("temp:");
                    (a.writes || b.writes) && together.is_some_and(|first| one || !first)
                })
            });
            if races {
                let key = key.rsplit('/').next().unwrap_or_default().to_owned();
                self.seen.wrong.insert(Wrong::Race { key });
            }
        }
    }

    /// Returns `None` if one of two places is before the other. Places are concurrent if they
    /// diverge below a parallel block or at an `each`; the value says whether the first branch of
    /// that block wins.
    fn together(&self, a: &Path, b: &Path) -> Option<bool> {
        if a == b {
            return None;
        }
        let (a, b) = (nodes(a), nodes(b));
        let differ = |at: &usize| a[*at].name() != b[*at].name() || a[*at].at() != b[*at].at();
        let at = (0..a.len().min(b.len())).find(differ)?;
        if a[at].name() == b[at].name() {
            matches!((a[at].at(), b[at].at()), (At::Item(_), At::Item(_))).then_some(false)
        } else {
            self.names
                .parallels
                .get(a[at.checked_sub(1)?].name().as_str())
                .copied()
        }
    }
}

/// Returns the nodes of a path, from the root.
fn nodes(path: &Path) -> Vec<&Path> {
    let mut nodes: Vec<_> = std::iter::successors(Some(path), |path| path.parent()).collect();
    nodes.reverse();
    nodes
}
