//! [`Marks`]: where the text of strangers and the private data in a key, an event or a turn come
//! from, in workflows with `#[guards(...)]`.
//!
//! Each turn of an agent has a [`MarkCell`]. What the turn reads adds its marks to the cell, and
//! what the turn emits gets the marks of the cell. Runs without guards have no cells.

mod context;
mod guard;
mod stamp;

pub(crate) use guard::{Blocked, allows, wait_name};
pub(crate) use stamp::{Shown, Stamp};

use super::{KeyScope, Overlay, Run};
use crate::Name;
use crate::spec::{AgentMeta, Guards, Labels};
use crate::store::event::{Event, MARKS_KEY, StateDelta};
use crate::store::session::{MARKED_ARTIFACTS, PRIVATE_MARK, UNTRUSTED_MARK, marked_key};
use crate::sync::lock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex};

/// The source of text that strangers wrote, and the source of data that must not leave. Where
/// several sources meet, the first one stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Marks {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) untrusted: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) private: Option<Name>,
}

impl Marks {
    pub(crate) const NONE: Self = Self {
        untrusted: None,
        private: None,
    };

    pub(crate) fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Adds the marks of something that was read.
    pub(crate) fn join(&mut self, other: Self) {
        self.untrusted = self.untrusted.take().or(other.untrusted);
        self.private = self.private.take().or(other.private);
    }

    /// Returns the marks of a value without text.
    pub(crate) fn without_text(self) -> Self {
        Self {
            untrusted: None,
            ..self
        }
    }

    /// Returns the marks that labels give to a result.
    pub(crate) fn of_labels(labels: Labels, source: impl FnOnce() -> Name) -> Self {
        let [untrusted, private] =
            [Labels::UNTRUSTED, Labels::PRIVATE].map(|label| labels.has(label));
        if !untrusted && !private {
            return Self::NONE;
        }
        let source = source();
        Self {
            untrusted: untrusted.then(|| source.clone()),
            private: private.then_some(source),
        }
    }

    /// Returns the marks of an event. Only a run with guards gives marks to its events.
    pub(crate) fn of_event(event: &Event, rules: &GuardRules) -> Self {
        let shows = event
            .content
            .as_ref()
            .is_some_and(|content| !content.parts.is_empty())
            || event.actions.compaction.is_some();
        match event.metadata(MARKS_KEY) {
            Some(Value::Object(marks)) => {
                let source = |name| marks.get(name).and_then(Value::as_str).map(Name::shared);
                Self {
                    untrusted: source("untrusted"),
                    private: source("private"),
                }
            }
            _ if shows => rules.of_unlabelled("a run without guards"),
            _ => Self::NONE,
        }
    }

    fn to_json(&self) -> Value {
        let both = [("untrusted", &self.untrusted), ("private", &self.private)];
        let set = both
            .into_iter()
            .filter_map(|(name, source)| Some((name.to_owned(), source.as_deref()?.into())));
        Value::Object(Map::from_iter(set))
    }

    /// Returns the sources with the ends of the keys that name them.
    fn both(self) -> [(&'static str, Option<Name>); 2] {
        [
            (UNTRUSTED_MARK, self.untrusted),
            (PRIVATE_MARK, self.private),
        ]
    }

    /// Returns the marks of a stored key. Uncommitted writes come first.
    pub(crate) fn of_key(key: &str, pending: Option<&Overlay>, run: &Run) -> Self {
        Self::read(key, |mark| {
            let pending = pending.and_then(|pending| pending.state_delta.get(mark).cloned());
            pending.or_else(|| run.get(mark))
        })
    }

    /// Returns the marks that writes give to a stored key.
    pub(crate) fn of_writes_in(key: &str, delta: &StateDelta) -> Self {
        Self::read(key, |mark| delta.get(mark).cloned())
    }

    fn read(key: &str, get: impl Fn(&str) -> Option<Arc<Value>>) -> Self {
        let source = |end: &str| get(&[key, end].concat())?.as_str().map(Name::shared);
        Self {
            untrusted: source(UNTRUSTED_MARK),
            private: source(PRIVATE_MARK),
        }
    }

    /// Returns the marks of memory, which other sessions have written.
    pub(crate) fn of_memory() -> Self {
        Self {
            untrusted: Some(Name::literal("the memory of other sessions")),
            private: None,
        }
    }

    /// Returns the marks of all artifacts.
    pub(crate) fn of_artifacts(run: &Run) -> Self {
        let mut marks = Self::of_key(MARKED_ARTIFACTS, None, run);
        marks.join(Self::of_key(
            &["user:", MARKED_ARTIFACTS].concat(),
            None,
            run,
        ));
        marks
    }

    /// Returns the marks of all keys of a scope, of the conversation and of all artifacts: those of
    /// something that may have read anything.
    pub(crate) fn of_everything(scope: Option<&KeyScope>, pending: &Overlay, run: &Run) -> Self {
        let mut state = run.session().state();
        if let Some(own) = run.own_keys() {
            state = own.visible_state(state);
        }
        let temp = run.temp_keys();
        let all = state
            .iter()
            .chain(temp.iter())
            .chain(pending.state_delta.iter());
        let mut marks = Self::NONE;
        for (key, value) in all {
            let (Some(marked), Some(source)) = (marked_key(key), value.as_str()) else {
                continue;
            };
            if scope.is_some_and(|scope| !scope.sees(marked)) {
                continue;
            }
            let source = Some(Name::shared(source));
            marks.join(if key.ends_with(UNTRUSTED_MARK) {
                Self {
                    untrusted: source,
                    private: None,
                }
            } else {
                Self {
                    untrusted: None,
                    private: source,
                }
            });
        }
        marks
    }

    /// Returns the marks of the error of a run, which may quote anything.
    pub(crate) fn of_error(run: &Run) -> Self {
        let mut marks = Self::of_everything(None, &Overlay::default(), run);
        if let Some(rules) = run.guard_rules() {
            marks.join(rules.failed.marks());
        }
        marks
    }

    /// Returns the marks of a stored key as writes that clear nothing.
    pub(crate) fn of_writes(self, key: &str) -> impl Iterator<Item = (Name, Value)> {
        self.both().into_iter().filter_map(move |(end, source)| {
            let mark = Name::from([key, end].concat());
            Some((mark, Value::from(source?.as_str())))
        })
    }

    /// Adds the marks of a stored key to writes. A mark that the key no longer has becomes null.
    /// Marks that are in the writes already stay. `always` also writes marks that the key never
    /// had.
    pub(crate) fn write(self, key: &str, delta: &mut StateDelta, run: &Run, always: bool) {
        for (end, source) in self.both() {
            let mark = [key, end].concat();
            if delta.contains_key(&mark) {
                continue;
            }
            match source {
                Some(source) => delta.insert(mark, Value::from(source.as_str())),
                None if always || run.get(&mark).is_some_and(|value| !value.is_null()) => {
                    delta.insert(mark, Value::Null);
                }
                None => {}
            }
        }
    }
}

impl From<[Option<Name>; 2]> for Marks {
    fn from([untrusted, private]: [Option<Name>; 2]) -> Self {
        Self { untrusted, private }
    }
}

impl From<Marks> for [Option<Name>; 2] {
    fn from(marks: Marks) -> Self {
        [marks.untrusted, marks.private]
    }
}

/// The rules of the workflow of a run.
#[derive(Debug)]
pub(crate) struct GuardRules {
    /// Whether everything without a label counts as everything that a label can say.
    pub(crate) strict: bool,
    /// The marks of messages of the user.
    pub(crate) message: Marks,
    /// The marks of all that failed turns of this run have read, which errors may quote.
    failed: MarkCell,
}

impl GuardRules {
    pub(crate) fn new(guards: &Guards<'_>, root: &AgentMeta<'_>) -> Self {
        let message = root.request_input();
        let source = |keys: &[&str], takes_user: bool| {
            let is_message = |key: &&&str| takes_user && **key == "user" || message == Some(**key);
            let found = keys.iter().find(is_message)?;
            Some(match *found {
                "user" => Name::literal("the message of the user"),
                key => input_source(key),
            })
        };
        Self {
            strict: guards.strict,
            message: Marks {
                untrusted: source(guards.untrusted, true),
                private: source(guards.private, false),
            },
            failed: MarkCell::default(),
        }
    }
}

impl GuardRules {
    /// Returns the marks of something without labels.
    pub(crate) fn of_unlabelled(&self, source: &'static str) -> Marks {
        let source = self.strict.then(|| Name::literal(source));
        Marks {
            untrusted: source.clone(),
            private: source,
        }
    }
}

/// Returns the source of a key that guards name.
fn input_source(key: &str) -> Name {
    Name::from(format!("`{key}`"))
}

/// Marks that grow while a turn or a call reads.
#[derive(Debug, Default)]
pub(crate) struct MarkCell(Mutex<CellState>);

#[derive(Debug, Default)]
struct CellState {
    marks: Marks,
    /// Whether the agent is a function that `trusts`.
    trusts: bool,
    /// The content of the next event.
    next: Shown,
}

impl MarkCell {
    pub(crate) fn new(marks: Marks) -> Arc<Self> {
        let state = CellState {
            marks,
            ..CellState::default()
        };
        Arc::new(Self(Mutex::new(state)))
    }

    pub(crate) fn join(&self, marks: Marks) {
        if !marks.is_none() {
            lock(&self.0).marks.join(marks);
        }
    }

    pub(crate) fn marks(&self) -> Marks {
        lock(&self.0).marks.clone()
    }

    /// Makes the results of this turn clean, on the word of the author of the function.
    pub(crate) fn trust(&self) {
        lock(&self.0).trusts = true;
    }

    /// Sets what the next event shows.
    pub(crate) fn show(&self, shown: Shown) {
        lock(&self.0).next = shown;
    }

    /// Takes what the next event shows.
    fn take_next(&self) -> Shown {
        std::mem::take(&mut lock(&self.0).next)
    }

    /// Returns the marks of an event and of the keys that it writes.
    fn results(&self, shown: &Shown) -> (Marks, Marks) {
        let state = lock(&self.0);
        let marks = if state.trusts {
            Marks::NONE
        } else {
            state.marks.clone()
        };
        match shown {
            Shown::Turn => (marks.clone(), marks),
            Shown::Closed => (marks.clone().without_text(), marks),
            Shown::Given(given) => (given.clone(), Marks::NONE),
        }
    }
}

impl Run {
    /// Returns the rules of the workflow; `None` without `#[guards(...)]`.
    #[inline]
    pub(crate) fn guard_rules(&self) -> Option<&GuardRules> {
        self.guards.get().map(|rules| &**rules)
    }

    /// Returns the cell of a turn that begins; `None` without guards.
    #[inline]
    pub(crate) fn new_cell(&self) -> Option<Arc<MarkCell>> {
        self.guards.get().map(|_| Arc::default())
    }

    /// Gives a nested run the rules of this run.
    pub(crate) fn share_guards(&self, nested: &Self) {
        if let Some(rules) = self.guard_rules() {
            let rules = GuardRules {
                strict: rules.strict,
                message: rules.message.clone(),
                failed: MarkCell::default(),
            };
            let _ = nested.guards.set(Box::new(rules));
        }
    }

    /// Sets the rules of the workflow, before the run has a context.
    pub(crate) fn set_guards(&self, root: &AgentMeta<'_>) {
        if let Some(guards) = root.guards {
            let _ = self.guards.set(Box::new(GuardRules::new(guards, root)));
        }
    }
}
