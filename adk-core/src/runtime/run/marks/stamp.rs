//! [`Stamp`]: the marks of an event and of the keys that it writes.

use super::{MarkCell, Marks};
use crate::Name;
use crate::runtime::run::{AnnouncedKeys, KeyScope, Run, stored_key};
use crate::store::event::{Event, MARKS_KEY};
use crate::store::session::{MARKED_ARTIFACTS, marked_key};
use std::sync::Arc;

/// The content of the next event of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) enum Shown {
    /// Anything that the turn has seen.
    #[default]
    Turn,
    /// The value of a type without text.
    Closed,
    /// Something from outside of the turn, such as a message. The keys that the event writes are
    /// clean, except for those with marks of their own.
    Given(Marks),
}

/// The marks of the next event of a turn.
#[derive(Clone)]
pub(crate) struct Stamp {
    pub(super) shown: Shown,
    pub(super) run: Arc<Run>,
    pub(super) cell: Arc<MarkCell>,
    pub(super) scope: Option<Arc<KeyScope>>,
    /// The keys of the agent, with their types.
    pub(super) announced: Option<AnnouncedKeys>,
}

impl Stamp {
    /// Returns the marks of an event that something else made in place of that of the turn.
    pub(crate) fn of_turn(mut self: Box<Self>) -> Box<Self> {
        self.shown = Shown::Turn;
        self
    }

    /// Writes the marks into an event, whose keys are stored keys. Keys that have marks already
    /// keep them.
    pub(crate) fn apply(&self, event: &mut Event) {
        let (said, turn) = self.cell.results(&self.shown);
        let run = &*self.run;
        let shows = event
            .content
            .as_ref()
            .is_some_and(|content| !content.parts.is_empty())
            || event.actions.compaction.is_some();
        if shows {
            let metadata = &mut event.details_mut().custom_metadata;
            metadata.insert(MARKS_KEY.to_owned(), said.to_json());
        }
        let mut files: Vec<&str> = Vec::new();
        for (name, _) in &event.actions.artifact_delta {
            files.push(if name.starts_with("user:") {
                "user:"
            } else {
                ""
            });
        }
        let delta = &mut event.actions.state_delta;
        let keys: Vec<Name> = delta.iter().map(|(key, _)| key.clone()).collect();
        for key in keys.iter().filter(|key| marked_key(key).is_none()) {
            let marks = if self.is_closed(key) {
                turn.clone().without_text()
            } else {
                turn.clone()
            };
            marks.write(key, delta, run, run.kind.is_nested());
        }
        if shows {
            set_new(&said, "", delta, run);
        }
        for prefix in files {
            set_new(&turn, &[prefix, MARKED_ARTIFACTS].concat(), delta, run);
        }
    }

    fn is_closed(&self, key: &str) -> bool {
        let scope = self.scope.as_deref();
        self.announced.as_ref().is_some_and(|announced| {
            let mut keys = announced.keys();
            keys.any(|own| own.is_closed() && *stored_key(scope, own.name) == *key)
        })
    }
}

/// Sets marks that the key does not have yet. Nothing clears them.
fn set_new(marks: &Marks, key: &str, delta: &mut crate::StateDelta, run: &Run) {
    for (mark, source) in marks.clone().of_writes(key) {
        if run.get(&mark).is_none_or(|value| value.is_null()) {
            delta.insert(mark, source);
        }
    }
}
