//! How a trace is compared with what the interpreter says, and what the log alone tells of its values.

use adk_core::Event;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that has to happen, or branches whose order among each other is free.
#[derive(Debug)]
pub enum Item {
    Leaf(String),
    Branches {
        /// How the path of everything in the block begins.
        inside: String,
        branches: Vec<Branch>,
    },
}

#[derive(Debug)]
pub struct Branch {
    /// The path of the branch.
    pub at: String,
    pub items: Vec<Item>,
    pub may_break_off: bool,
}

/// Whether these lines are what was expected; the start of it is enough for a branch that may break off.
pub fn compare(items: &[Item], mut lines: &[String], may_break_off: bool) -> Result<(), String> {
    for item in items {
        match item {
            Item::Leaf(expected) => match lines.split_first() {
                Some((line, rest)) if line == expected => lines = rest,
                None if may_break_off => return Ok(()),
                other => return Err(format!("expected `{expected}`, got {:?}", other.map(|(line, _)| line))),
            },
            Item::Branches { inside, branches } => {
                let count = lines.iter().take_while(|line| line.starts_with(inside)).count();
                let (here, rest) = lines.split_at(count);
                lines = rest;
                let mut found = 0;
                for branch in branches {
                    let own: Vec<_> = here.iter().filter(|line| of(line, &branch.at)).cloned().collect();
                    found += own.len();
                    compare(&branch.items, &own, may_break_off || branch.may_break_off)?;
                }
                if found != here.len() {
                    return Err(format!("{inside}: lines of no branch among {here:?}"));
                }
            }
        }
    }
    match lines {
        [] => Ok(()),
        more => Err(format!("unexpected {more:?}")),
    }
}

fn of(line: &str, at: &str) -> bool {
    line.strip_prefix(at).is_some_and(|rest| !at.ends_with('/') && rest.starts_with(['/', '#', '[', ' ']))
}

/// Whether an event is one of an `each` itself: `Some(true)` for the lists at its end.
pub fn of_each(event: &Event) -> Option<bool> {
    event.author.starts_with('e').then(|| !event.path.to_string().ends_with(']'))
}

/// The values that depend on how far cancelled branches came: what an agent found in its key is what the log has
/// written there last, since the element around began; lists hold what the elements have written last.
pub fn replay(log: &[Arc<Event>]) -> Result<(), String> {
    let mut state: BTreeMap<String, Value> = BTreeMap::new();
    // By the path of a block: what its elements are stored behind, up to the number, and how many there are.
    let mut blocks: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for event in log.iter().filter(|event| event.author != "user") {
        let path = event.path.to_string();
        match of_each(event) {
            Some(false) => {
                let item = event.actions.state_delta.iter().next().ok_or("an item")?.0;
                let (element, _) = item.rsplit_once('/').ok_or("the key of an item")?;
                state.retain(|key, _| !key.starts_with(&format!("{element}/")));
                let (block, _) = path.rsplit_once('[').ok_or("the path of an element")?;
                let (stored, _) = element.rsplit_once('[').ok_or("the place of an element")?;
                blocks.entry(block.to_owned()).or_insert((stored.to_owned(), 0)).1 += 1;
            }
            Some(true) => {
                let none = (String::new(), 0);
                let (stored, count) = blocks.get(&path).unwrap_or(&none);
                for (key, list) in event.actions.state_delta.iter() {
                    let name = key.rsplit('/').next().unwrap_or_default();
                    let values = (0..*count).filter_map(|n| state.get(&format!("{stored}[{n}]/{name}")));
                    let expected: Value = values.cloned().collect();
                    if **list != expected {
                        return Err(format!("{path}: {key} is {list}, but the elements have {expected}"));
                    }
                }
            }
            None if event.author.starts_with('a') => {
                for (key, _) in event.actions.state_delta.iter() {
                    let held = state.get(&**key).map_or("nothing".to_owned(), Value::to_string);
                    if event.text() != held {
                        return Err(format!(
                            "{path} has found {} in {key}, which holds {held}",
                            event.text()
                        ));
                    }
                }
            }
            None => {}
        }
        let delta = event.actions.state_delta.iter();
        state.extend(delta.map(|(key, value)| (key.to_string(), Value::clone(value))));
    }
    Ok(())
}
