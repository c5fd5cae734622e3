//! [`RunJournal`]: the recorded part of a run, and what it tells about the blocks of the run.

use crate::runtime::run::is_update;
use crate::store::engine::{Claim, ClaimedRun, Done, is_failure};
use crate::store::event::{Event, LEFT_OUT_KEY, STATE_UPDATE_KEY, StateDelta};
use crate::{Name, Path};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The recorded part of a run. It does not change during a replay.
pub(crate) struct RunJournal {
    pub(super) events: Vec<RecordedEvent>,
    /// The index of each event of this run in `events`, by its path and number.
    pub(super) slots: HashMap<String, usize>,
    pub(super) temp: HashMap<String, StateDelta>,
    steps: HashMap<String, Value>,
    pub(super) done: HashMap<String, Done>,
    /// The ids of the waits of the run.
    waits: Vec<String>,
    pub(super) begins: u64,
}

pub(super) struct RecordedEvent {
    pub(super) event: Arc<Event>,
    /// The slot and the path of the event as text; `None` for an event of another run.
    pub(super) own: Option<(String, String)>,
    /// Whether the event is an update of state, which is not numbered with other events.
    pub(super) is_update: bool,
    /// The recorded call of the tool that made the update.
    pub(super) call: Option<String>,
}

impl RunJournal {
    /// Reads the journal of a claimed run. Also returns the claim.
    pub(super) fn new(claimed: ClaimedRun) -> (Self, Claim) {
        let ClaimedRun {
            claim,
            record,
            events,
            temp,
            steps,
            done,
            waits,
            ..
        } = claimed;
        let (mut counts, mut slots) = (HashMap::<String, u32>::new(), HashMap::new());
        let recorded = events.into_iter().enumerate().map(|(index, event)| {
            let is_own = event.invocation_id == record.run_id;
            let is_update = is_own && is_update(&event);
            let (mut own, mut call) = (None, None);
            if is_own {
                let path = event.path.to_string();
                let slot = if is_update {
                    let (slot, by) = update_slot(&event, &path);
                    call = by;
                    slot
                } else {
                    let nth = counts.entry(path.clone()).or_default();
                    *nth += 1;
                    format!("{path}!{}", *nth - 1)
                };
                slots.insert(slot.clone(), index);
                own = Some((slot, path));
            }
            RecordedEvent {
                event,
                own,
                is_update,
                call,
            }
        });
        let events: Vec<_> = recorded.collect();
        let done = done
            .into_iter()
            .map(|done| (done.path.to_string(), done))
            .collect();
        let journal = Self {
            events,
            slots,
            temp,
            steps,
            done,
            waits,
            begins: record.begins,
        };
        (journal, claim)
    }

    pub(super) fn event(&self, path: &str, nth: u32) -> Option<&Arc<Event>> {
        let index = *self.slots.get(&format!("{path}!{nth}"))?;
        self.events.get(index).map(|recorded| &recorded.event)
    }

    /// Returns the record of a call.
    pub(crate) fn step(&self, key: &str) -> Option<&Value> {
        self.steps.get(key)
    }

    /// Returns whether a call is answered from its record.
    pub(super) fn is_recorded(&self, call: &str) -> bool {
        self.steps
            .get(call)
            .is_some_and(|record| !is_failure(record))
    }

    /// Returns whether the agent at this path or an enclosing agent has finished.
    pub(super) fn has_finished(&self, path: &str) -> bool {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        let is_done = |end: usize| {
            self.done.contains_key(&path[..end]) || self.done.contains_key(first_turn(&path[..end]))
        };
        !self.done.is_empty() && ends.into_iter().any(is_done)
    }

    /// Returns whether the journal contains anything below that path, which is a round or an
    /// element of a block.
    pub(crate) fn has_begun(&self, path: &Path) -> bool {
        let path = path.to_string();
        let is_inside = |place: &str| {
            place
                .strip_prefix(&*path)
                .is_some_and(|rest| rest.starts_with(['/', ':', '!']))
        };
        self.keys().any(|key| key == path || is_inside(key))
    }

    /// Returns the number of rounds that the loop at that path has begun.
    pub(crate) fn rounds_begun(&self, block: &Path) -> u32 {
        let block = format!("{block}#");
        let number = |key: &str| {
            let rest = key.strip_prefix(&*block)?;
            rest[..rest
                .find(|found: char| !found.is_ascii_digit())
                .unwrap_or(rest.len())]
                .parse()
                .ok()
        };
        self.keys().filter_map(number).max().unwrap_or_default()
    }

    /// Returns the branches or elements of a block that have begun, named as in a path after the
    /// block: `[3]` for an element, and the name of its first step for a branch.
    pub(crate) fn parts_begun(&self, block: &Path) -> HashSet<String> {
        let block = block.to_string();
        let part = |key: &str| {
            let inside = key
                .strip_prefix(&*block)
                .filter(|rest| rest.starts_with(['/', '[']))?;
            let inside = inside.strip_prefix('/').unwrap_or(inside);
            let is_end =
                |(at, found): (usize, char)| (at > 0 && "/#[:!@".contains(found)).then_some(at);
            let end = inside
                .char_indices()
                .find_map(is_end)
                .unwrap_or(inside.len());
            Some(inside[..end].to_owned())
        };
        self.keys().filter_map(part).collect()
    }

    /// Returns the number of elements that the `each` at that path executes from a list of that
    /// length; `None` if the journal does not contain its start.
    pub(crate) fn elements(&self, each: &Path, length: usize) -> Option<usize> {
        let path = each.to_string();
        let own = self
            .events
            .iter()
            .filter(|event| event.own.as_ref().is_some_and(|own| own.1 == path));
        let mut cut = own.filter_map(|event| {
            let left_out = event
                .event
                .details
                .as_ref()?
                .custom_metadata
                .get(LEFT_OUT_KEY)?;
            usize::try_from(left_out.get("max")?.as_u64()?).ok()
        });
        let block = format!("{path}[");
        cut.next().or_else(|| {
            self.keys()
                .any(|key| key.starts_with(&block))
                .then_some(length)
        })
    }

    /// Returns the number of recorded events at this path, updates excluded.
    pub(crate) fn count_recorded(&self, path: &Path) -> u32 {
        let path = path.to_string();
        let is_own = |event: &RecordedEvent| event.own.as_ref().is_some_and(|own| own.1 == path);
        let own = self
            .events
            .iter()
            .filter(|event| !event.is_update && is_own(event));
        own.fold(0, |count, _| count.saturating_add(1))
    }

    /// Returns whether the journal contains an event from after a block in `branch`. Steps of one
    /// branch run in order. So any event of this branch or of an enclosing one proves it, if it
    /// came after the start of the block and from outside the block.
    pub(crate) fn is_past(&self, block: &Path, branch: Option<&str>) -> bool {
        let block = block.to_string();
        let is_inside = |path: &str| {
            path.strip_prefix(&*block)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#', '[']))
        };
        let is_around = |event: &Event| match (event.branch.as_deref(), branch) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(outer), Some(own)) => own
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        };
        let own = self
            .events
            .iter()
            .filter_map(|RecordedEvent { event, own, .. }| Some((event, &own.as_ref()?.1)));
        let mut after = own.skip_while(|(_, path)| !is_inside(path));
        after.any(|(event, path)| !is_inside(path) && is_around(event))
    }

    /// Adds the keys that an event wrote.
    pub(super) fn collect_keys(&self, event: &Event, slot: &str, keys: &mut Vec<Name>) {
        let temp = self.temp.get(slot).into_iter().flat_map(StateDelta::iter);
        keys.extend(
            event
                .actions
                .state_delta
                .iter()
                .chain(temp)
                .map(|(key, _)| key.clone()),
        );
        let unwritten = event.unwritten();
        if !unwritten.is_empty() {
            keys.retain(|key| !unwritten.contains(&key.as_str()));
        }
    }

    /// Returns the keys of the journal entries of the run: slots of events, calls, marks of
    /// finished agents, and waits. Each begins with its path.
    fn keys(&self) -> impl Iterator<Item = &str> {
        let keys = self
            .slots
            .keys()
            .chain(self.steps.keys())
            .chain(self.temp.keys())
            .chain(self.done.keys());
        let waits = self
            .waits
            .iter()
            .filter_map(|id| Some(id.split_once('/')?.1));
        keys.map(String::as_str).chain(waits)
    }
}

/// Returns the slot of an update, and the key of the tool call that made it.
fn update_slot(event: &Event, path: &str) -> (String, Option<String>) {
    let metadata = event
        .details
        .as_ref()
        .and_then(|details| details.custom_metadata.get(STATE_UPDATE_KEY));
    let field = |key: &str| metadata.and_then(|metadata| metadata.get(key)?.as_str());
    let update = field("update").unwrap_or_default();
    match field("call") {
        Some(call) => (
            format!("{path}!{call}/{update}"),
            Some(format!("{path}:{call}")),
        ),
        None => (format!("{path}!update/{update}"), None),
    }
}

/// Returns the path of the first turn of the agent at this path. A later turn has its number
/// (`w/triage@2`), and is marked as finished under the first turn.
pub(super) fn first_turn(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    path[name..].find('@').map_or(path, |at| &path[..name + at])
}
