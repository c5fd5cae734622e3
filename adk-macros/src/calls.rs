//! Workflows and agents that run each other in a circle, over several calls of our macros. Of these rustc would say that types
//! have no end, and list a cycle of consts that nobody wrote.
//!
//! The macro that is expanded last closes the circle, and tells it. What is told is certain: a plain name is what the block
//! declares in which both stand. Of paths through modules rustc speaks as it does.

use crate::source::Place;
use crate::twice::ours;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Mutex;

/// What was expanded, by file and bracket.
type Known = HashMap<(PathBuf, Place), Callers>;
/// What each name runs.
type Callers = HashMap<String, Vec<String>>;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Remembers what a workflow or an agent runs, by plain names.
pub(crate) fn know(own: String, calls: Vec<String>) {
    if calls.is_empty() {
        return;
    }
    if let Some(call) = ours()
        && let Ok(mut known) = KNOWN.lock()
    {
        let known = known.get_or_insert_default().entry((call.file, call.around.bracket)).or_default();
        known.entry(own).or_default().extend(calls);
    }
}

/// Those of the names that lead back to who is expanded, each with all that is on the way.
pub(crate) fn back(own: &str, names: &[String]) -> HashMap<String, Vec<String>> {
    let find = || {
        let call = ours()?;
        let known = KNOWN.lock().ok()?;
        let callers = known.as_ref()?.get(&(call.file, call.around.bracket))?;
        Some(ways(callers, own, names))
    };
    find().unwrap_or_default()
}

fn ways(callers: &Callers, own: &str, names: &[String]) -> HashMap<String, Vec<String>> {
    let mut dead = HashSet::new();
    let way = |name: &String| Some((name.clone(), way(callers, own, name, &mut dead)?));
    names.iter().filter_map(way).collect()
}

/// The shortest way. `dead` is what leads nowhere.
fn way<'a>(
    callers: &'a Callers,
    own: &str,
    name: &'a str,
    dead: &mut HashSet<String>,
) -> Option<Vec<String>> {
    let mut seen: HashMap<&str, Option<&str>> = HashMap::from([(name, None)]);
    let mut open = VecDeque::from([name]);
    while let Some(at) = open.pop_front() {
        for next in callers.get(at).into_iter().flatten() {
            if next == own {
                let mut way: Vec<_> = std::iter::successors(Some(at), |at| seen.get(at).copied().flatten())
                    .map(String::from)
                    .collect();
                way.reverse();
                return Some(way);
            }
            if !dead.contains(next) && !seen.contains_key(next.as_str()) {
                seen.insert(next, Some(at));
                open.push_back(next);
            }
        }
    }
    dead.extend(seen.into_keys().map(String::from));
    None
}

/// That such a way leads back: `A` runs `B`, which runs `C` in turn.
pub(crate) fn told(way: &[String], own: &str) -> String {
    let mut text = String::new();
    for (at, name) in way.iter().enumerate() {
        text += &if at == 0 { format!("`{name}`") } else { format!(" runs `{name}`, which") };
    }
    format!("agent-reused: {text} runs `{own}` in turn")
}

#[cfg(test)]
mod tests {
    use super::{Callers, told, ways};

    #[test]
    fn a_circle_is_found_from_each_of_its_ends() {
        let calls = [("a", vec!["b", "x"]), ("b", vec!["c"]), ("x", vec!["a"]), ("d", vec!["c"])];
        let callers: Callers = calls
            .into_iter()
            .map(|(name, calls)| (name.into(), calls.into_iter().map(String::from).collect()))
            .collect();
        let names = ["x", "a", "nobody", "d"].map(String::from);
        let found = ways(&callers, "c", &names);
        assert_eq!(found.len(), 3);
        let said = |name: &str| told(found.get(name).unwrap(), "c");
        assert_eq!(said("d"), "agent-reused: `d` runs `c` in turn");
        assert_eq!(said("a"), "agent-reused: `a` runs `b`, which runs `c` in turn");
        assert_eq!(said("x"), "agent-reused: `x` runs `a`, which runs `b`, which runs `c` in turn");
        assert!(ways(&callers, "nobody", &names).is_empty());
    }
}
