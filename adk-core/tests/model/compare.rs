//! Comparison of a trace with the interpreter, and the values that only the log determines.

use crate::discards::{Discards, State, failed_parts, left_out, undone};
use crate::grow::KEPT;
use crate::support::SKIP;
use crate::tree::{BLIND, BRIEF, OBSERVER};
use adk_build::{Event, FailedAttempt, UNWRITTEN_KEY};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// An expected line, or branches whose relative order is free.
#[derive(Debug)]
pub enum Item {
    Leaf(String),
    /// Items that appear only if the branch is cancelled.
    Forgotten(Vec<Item>),
    Branches {
        /// The path of the block.
        at: String,
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

/// Checks that the lines are the expected ones. For a branch that may be cancelled, a prefix is
/// enough.
pub fn compare(items: &[Item], mut lines: &[String], may_break_off: bool) -> Result<(), String> {
    for item in items {
        match item {
            Item::Leaf(expected) => match lines.split_first() {
                Some((line, rest)) if line == expected => lines = rest,
                None if may_break_off => return Ok(()),
                other => {
                    return Err(format!(
                        "expected `{expected}`, got {:?}",
                        other.map(|(line, _)| line)
                    ));
                }
            },
            Item::Forgotten(items) => {
                if may_break_off && compare(items, lines, true).is_ok() {
                    return Ok(());
                }
            }
            Item::Branches { at, branches } => {
                let count = lines
                    .iter()
                    .take_while(|line| is_inside(line, at, &['/', '[']))
                    .count();
                let (here, rest) = lines.split_at(count);
                lines = rest;
                let mut found = 0;
                for branch in branches {
                    let own: Vec<_> = here
                        .iter()
                        .filter(|line| belongs_to(line, &branch.at))
                        .cloned()
                        .collect();
                    found += own.len();
                    compare(&branch.items, &own, may_break_off || branch.may_break_off)?;
                }
                if found != here.len() {
                    return Err(format!("{at}: lines without a branch among {here:?}"));
                }
            }
        }
    }
    match lines {
        [] => Ok(()),
        more => Err(format!("unexpected {more:?}")),
    }
}

fn belongs_to(line: &str, at: &str) -> bool {
    !at.ends_with('/') && is_inside(line, at, &['/', '#', '[', ' '])
}

fn is_inside(line: &str, at: &str, next: &[char]) -> bool {
    line.strip_prefix(at)
        .is_some_and(|rest| rest.starts_with(next))
}

/// Returns the lines in the order of a request: branches and elements one after the other, without
/// losers of races and skipped parts. Each line carries its data.
pub fn in_order<T: Clone>(items: &[Item], lines: &[(String, T)], parts: &Parts) -> Vec<T> {
    let (mut lines, mut ordered) = (lines, Vec::new());
    for item in items {
        match item {
            Item::Leaf(expected) => match lines.split_first() {
                Some(((line, data), rest)) if line == expected => {
                    ordered.push(data.clone());
                    lines = rest;
                }
                _ => break,
            },
            Item::Forgotten(items) => {
                let texts: Vec<_> = lines.iter().map(|(line, _)| line.clone()).collect();
                if compare(items, &texts, true).is_ok() {
                    ordered.extend(in_order(items, lines, parts));
                    break;
                }
            }
            Item::Branches { at, branches } => {
                let count = lines
                    .iter()
                    .take_while(|(line, _)| is_inside(line, at, &['/', '[']))
                    .count();
                let (here, rest) = lines.split_at(count);
                lines = rest;
                for branch in branches.iter().filter(|branch| parts.count(at, &branch.at)) {
                    let own: Vec<_> = here
                        .iter()
                        .filter(|(line, _)| belongs_to(line, &branch.at))
                        .cloned()
                        .collect();
                    ordered.extend(in_order(&branch.items, &own, parts));
                }
            }
        }
    }
    ordered
}

/// The parts of blocks that count.
pub struct Parts {
    won: BTreeMap<String, String>,
    left_out: BTreeSet<String>,
}

impl Parts {
    pub fn from_log(log: &[Arc<Event>]) -> Self {
        let left_out = log
            .iter()
            .flat_map(|event| failed_parts(event))
            .map(str::to_owned)
            .collect();
        Self {
            won: winners(log),
            left_out,
        }
    }

    fn count(&self, block: &str, part: &str) -> bool {
        let has_lost = self
            .won
            .get(block)
            .is_some_and(|winner| part != format!("{block}/{winner}"));
        !has_lost && !self.left_out.contains(part)
    }
}

/// Formats events, except those of the user and of the observing agents.
pub fn to_lines(events: &[Arc<Event>]) -> Vec<String> {
    let is_seen = |event: &&Arc<Event>| {
        !["user", BRIEF, BLIND, OBSERVER].contains(&&*event.author)
            && left_out(event, "cancelled").is_none()
    };
    let lines = events.iter().filter(is_seen).map(|event| {
        let mut line = format!("{} {}", event.path, event.branch.as_deref().unwrap_or("-"));
        for (key, value) in event.actions.state_delta.iter() {
            match of_block(event) {
                _ if event.winner().is_some() || failed_parts(event).next().is_some() => {}
                Some(_) if !is_element(event) => write!(line, " {key}=*").unwrap(),
                _ => write!(line, " {key}={value}").unwrap(),
            }
        }
        if let Some(FailedAttempt {
            attempt, of, again, ..
        }) = event.failed_attempt()
        {
            write!(
                line,
                " failed {attempt} of {of}{}",
                if again { ", again" } else { "" }
            )
            .unwrap();
        }
        if let Some(winner) = event.winner() {
            write!(line, " won by {winner}").unwrap();
        }
        if let Some(over) = left_out(event, "over") {
            write!(line, " without {over}").unwrap();
        }
        for part in failed_parts(event) {
            write!(line, " without {part}").unwrap();
        }
        line
    });
    lines.collect()
}

/// Returns the winners of races, by the paths of their blocks.
pub fn winners(events: &[Arc<Event>]) -> BTreeMap<String, String> {
    let won = |event: &Arc<Event>| Some((event.path.to_string(), event.winner()?.to_owned()));
    events.iter().filter_map(won).collect()
}

/// Returns the first letter of the block that emitted an event.
fn of_block(event: &Event) -> Option<char> {
    let first = event.author.trim_start_matches(SKIP).chars().next();
    first.filter(|first| matches!(first, 'e' | 't'))
}

/// Whether an event starts an element.
fn is_element(event: &Event) -> bool {
    event.path.to_string().ends_with(']')
}

/// The elements of an `each`.
#[derive(Default)]
struct Elements {
    /// The prefix of their stored keys, up to the index.
    stored: String,
    count: usize,
    left_out: BTreeSet<String>,
}

/// Checks the values that depend on the progress of cancelled branches. A value that an agent read
/// is the last one in the log since its element started. A list holds the last values of the
/// elements. After a race, the keys of the winner hold its last values.
pub fn replay(log: &[Arc<Event>], state: &mut State) -> Result<(), String> {
    let mut blocks: BTreeMap<String, Elements> = BTreeMap::new();
    let mut earlier: Vec<State> = Vec::new();
    for (at, event) in log.iter().enumerate() {
        earlier.push(state.clone());
        if event.author == "user" {
            continue;
        }
        let path = event.path.to_string();
        let delta = || {
            event
                .actions
                .state_delta
                .iter()
                .map(|(key, value)| (key.to_string(), Value::clone(value)))
        };
        match of_block(event) {
            Some('e') if is_element(event) => {
                let item = delta().next().ok_or("an item")?.0;
                let (element, _) = item.rsplit_once('/').ok_or("the key of an item")?;
                state.retain(|key, _| !key.starts_with(&format!("{element}/")));
                let (block, _) = path.rsplit_once('[').ok_or("the path of an element")?;
                let (stored, _) = element.rsplit_once('[').ok_or("the place of an element")?;
                let block = blocks.entry(block.to_owned()).or_default();
                stored.clone_into(&mut block.stored);
                block.count += 1;
            }
            Some('e') => {
                let block = blocks.entry(path.clone()).or_default();
                block
                    .left_out
                    .extend(failed_parts(event).map(str::to_owned));
                let is_of_lists = left_out(event, "failed")
                    .or(left_out(event, "cancelled"))
                    .is_none();
                for (key, list) in delta().filter(|_| is_of_lists) {
                    let name = key.rsplit('/').next().unwrap_or_default();
                    let whole = (0..block.count)
                        .filter(|n| !block.left_out.contains(&format!("{path}[{n}]")));
                    let values =
                        whole.filter_map(|n| state.get(&format!("{}[{n}]/{name}", block.stored)));
                    let expected: Value = values.cloned().collect();
                    if list != expected {
                        return Err(format!(
                            "{path}: {key} is {list}, but the elements have {expected}"
                        ));
                    }
                }
            }
            _ if event.author.starts_with('a') => {
                let keys = delta().map(|(key, _)| key);
                check_reads(event, &path, keys, state)?;
            }
            _ => {}
        }
        if let Some(discards) = Discards::from_event(event) {
            let writes = |at: usize| {
                let delta = log[at].actions.state_delta.iter();
                delta
                    .map(|(key, value)| (key.to_string(), Value::clone(value)))
                    .collect()
            };
            let undone = undone(&path, &log[..at], writes, &earlier, &discards);
            if undone != delta().collect() {
                return Err(format!(
                    "{path}: {undone:?} must be undone, but its actions are {:?}",
                    event.actions
                ));
            }
        }
        state.extend(delta());
        let unwritten = event.metadata(UNWRITTEN_KEY).and_then(Value::as_array);
        // A discarded `state` key holds null from now on.
        let names = unwritten
            .into_iter()
            .flatten()
            .map(|key| key.as_str().unwrap());
        names
            .filter(|name| !name.starts_with(KEPT))
            .for_each(|name| drop(state.remove(name)));
    }
    Ok(())
}

/// Checks that an agent has read the held values.
fn check_reads(
    event: &Event,
    path: &str,
    keys: impl Iterator<Item = String>,
    state: &State,
) -> Result<(), String> {
    for key in keys {
        let held = state.get(&key);
        let held = held.map_or("nothing".to_owned(), Value::to_string);
        let text = event.text();
        if text != held {
            return Err(format!("{path} read {text} from {key}, which holds {held}"));
        }
    }
    Ok(())
}
