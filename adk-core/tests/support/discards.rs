//! Discarded branches and elements in the log, and the required restoration of their writes.

use adk_build::{Event, LEFT_OUT_KEY};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The values of all keys.
pub type State = BTreeMap<String, Value>;

/// Returns a property of the parts that a block discarded or skipped, from its event.
pub fn left_out<'a>(event: &'a Event, what: &str) -> Option<&'a Value> {
    event
        .details
        .as_ref()?
        .custom_metadata
        .get(LEFT_OUT_KEY)?
        .get(what)
}

/// Returns the paths of the failed parts of a block.
pub fn failed_parts(event: &Event) -> impl Iterator<Item = &str> {
    let failed = left_out(event, "failed").and_then(Value::as_array);
    failed
        .into_iter()
        .flatten()
        .filter_map(|part| part["path"].as_str())
}

/// The parts of a block whose writes are discarded, from the last event of the block.
pub enum Discards<'a> {
    AllBut(&'a str),
    These(BTreeSet<&'a str>),
}

impl<'a> Discards<'a> {
    pub fn from_event(event: &'a Event) -> Option<Self> {
        if let Some(winner) = event.winner() {
            return Some(Self::AllBut(winner));
        }
        let cancelled = left_out(event, "cancelled").and_then(Value::as_array);
        let cancelled = cancelled.into_iter().flatten().filter_map(Value::as_str);
        let these: BTreeSet<_> = failed_parts(event).chain(cancelled).collect();
        (!these.is_empty()).then_some(Self::These(these))
    }

    fn has(&self, block: &str, part: &str) -> bool {
        match self {
            Self::AllBut(winner) => {
                part.strip_prefix(block)
                    .and_then(|rest| rest.strip_prefix('/'))
                    != Some(winner)
            }
            Self::These(these) => these.contains(part),
        }
    }
}

/// Returns the writes that the last event of a block must contain. For each key whose last write is
/// from a discarded part, that is the last write of another part, or the value before the block.
/// `writes` returns the writes of each event.
pub fn undone(
    block: &str,
    log: &[Arc<Event>],
    writes: impl Fn(usize) -> State,
    earlier: &[State],
    discards: &Discards<'_>,
) -> State {
    let part = |event: &Event| {
        let path = event.path.to_string();
        let rest = path
            .strip_prefix(block)
            .filter(|rest| rest.starts_with(['/', '[']))?;
        let end = rest[1..]
            .find(['/', '#', '@', '['])
            .map_or(rest.len(), |end| end + 1);
        Some(format!("{block}{}", &rest[..end]))
    };
    let mut last: BTreeMap<String, (Value, bool)> = BTreeMap::new();
    for (at, event) in log.iter().enumerate() {
        let Some(part) = part(event) else { continue };
        let is_discarded = discards.has(block, &part);
        for (key, value) in writes(at) {
            // Keys of inner elements are visible there only.
            if key.matches('[').count() > block.matches('[').count() {
                continue;
            }
            let held = last
                .entry(key.clone())
                .or_insert_with(|| (earlier[at].get(&key).cloned().unwrap_or_default(), false));
            if is_discarded {
                held.1 = true
            } else {
                *held = (value, false)
            }
        }
    }
    last.into_iter()
        .filter(|(_, held)| held.1)
        .map(|(key, held)| (key, held.0))
        .collect()
}
