//! [`World`]: the state at the end of a history, for the checks of its author.

use adk_core::engine::CallKind;
use adk_core::{Error, ErrorKind, Event, LEFT_OUT_KEY};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The world at the end of one history: what was called, what is written, and how the run ended.
///
/// Calls stay in the world when the process dies: a call that was made and not recorded is made
/// again, and counts twice.
#[derive(Clone)]
#[non_exhaustive]
pub struct World {
    pub(super) calls: Vec<Call>,
    /// The keys of the session at the end, in the order of their names.
    pub keys: BTreeMap<String, Value>,
    /// The stored events, in the order of the log.
    pub events: Vec<Arc<Event>>,
    /// The end of the run.
    pub end: HistoryEnd,
    /// The questions to people, in the order in which they were asked.
    pub questions: Vec<PersonAnswer>,
    /// The number of times that the process died.
    pub deaths: usize,
    /// What has happened other than in the default order, in words.
    pub choices: Vec<String>,
    pub(super) resources: Arc<dyn Any + Send + Sync>,
}

/// A call that was made: its effects have happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The kind of the call.
    pub kind: CallKind,
    /// The name of the tool, of the function or of the `cx.step(...)`; `model` for a model.
    pub name: String,
    /// The path of the agent, with rounds.
    pub path: String,
    /// The key of the call: `paying/payer:tool.pay@0`. A call that is made again has the same key.
    pub place: String,
    /// Whether the result was recorded. A call that was made before a death is not.
    pub is_recorded: bool,
    /// The arguments of a tool call; null for other calls, and for calls inside of agents that are
    /// tools.
    pub args: Value,
    pub(super) index: u32,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PersonAnswer {
    /// The key of the question: `paying/fine:await@0`.
    pub place: String,
    /// The answer; `None` if the person has not answered in time.
    pub answer: Option<Value>,
}

/// The end of the run of a history.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum HistoryEnd {
    /// The run has finished.
    Finished,
    /// The run still waits for people.
    Waiting,
    /// The run has failed.
    Failed(Arc<Error>),
    /// Nothing can happen any more, and the run has not ended; or it has not ended after 2,000
    /// actions.
    Stuck,
}

impl World {
    /// Returns how often a tool, a function or a `cx.step(...)` of this name was called. A function
    /// with a context counts only by its steps. A call that a person has refused does not count; a
    /// call that a callback has answered in place of its tool does.
    pub fn calls(&self, name: &str) -> usize {
        self.calls_of(name).count()
    }

    /// Returns the calls of a tool, a function or a `cx.step(...)` of this name.
    pub fn calls_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(move |call| {
            let is_code = matches!(
                call.kind,
                CallKind::Tool | CallKind::Function | CallKind::Step
            );
            is_code && call.name == name
        })
    }

    /// Returns all calls in the order in which they were made, those of models included.
    pub fn all_calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the value of a key at the end.
    pub fn key(&self, name: &str) -> Option<&Value> {
        self.keys.get(name)
    }

    /// Returns whether a step of this name has stored an event: which way the run took.
    pub fn ran(&self, step: &str) -> bool {
        let has_step = |event: &&Arc<Event>| {
            let nodes = std::iter::successors(Some(&event.path), |path| path.parent());
            nodes.into_iter().any(|path| **path.name() == *step)
        };
        self.events.iter().any(|event| has_step(&event))
    }

    /// Returns whether the run has finished.
    pub fn is_finished(&self) -> bool {
        matches!(self.end, HistoryEnd::Finished)
    }

    /// Returns the value of [`resources`](super::Explore::resources), if it is of that type.
    pub fn resources<T: 'static>(&self) -> Option<&T> {
        self.resources.downcast_ref()
    }

    /// Returns whether any part has failed, also if a `try` or `on_error` has handled it. Such a
    /// part has cut its siblings off, so their order matters.
    pub(super) fn has_failure(&self) -> bool {
        let is_handled = |event: &Arc<Event>| {
            event.failed_attempt().is_some() || event.metadata(LEFT_OUT_KEY).is_some()
        };
        matches!(self.end, HistoryEnd::Failed(_)) || self.events.iter().any(is_handled)
    }

    /// Returns why the end of the run is bad by itself.
    pub(super) fn fault(&self, may_fail: bool) -> Option<String> {
        match &self.end {
            HistoryEnd::Finished | HistoryEnd::Waiting => None,
            HistoryEnd::Failed(error) if may_fail && error.kind() != ErrorKind::Diverged => None,
            HistoryEnd::Failed(error) => Some(format!("the run fails: {error}")),
            HistoryEnd::Stuck => Some("the run does not end".to_owned()),
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("calls", &self.calls)
            .field("keys", &self.keys)
            .field("end", &self.end)
            .field("questions", &self.questions)
            .field("choices", &self.choices)
            .finish_non_exhaustive()
    }
}

/// The result of a check: `bool`, `()` of a check that asserts, or a `Result` whose error says what
/// is wrong.
pub trait Verdict {
    /// Returns what is wrong; `None` if all is right.
    fn fault(self) -> Option<String>;
}

impl Verdict for () {
    fn fault(self) -> Option<String> {
        None
    }
}

impl Verdict for bool {
    fn fault(self) -> Option<String> {
        (!self).then(|| "a check returns false".to_owned())
    }
}

impl<E: fmt::Display> Verdict for Result<(), E> {
    fn fault(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}
