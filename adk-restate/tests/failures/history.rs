//! The results of a run in a form that is equal for two runs of one workflow, and the rules for the
//! order and repetition of its calls.

use super::effects::Seen;
use super::shapes::show;
use adk::{Event, RunId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Returns the events of a run by branch, in their order. Each line begins with the number of
/// earlier events outside of all branches.
pub fn by_branch(events: &[Arc<Event>], run: RunId) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut outside = 0;
    for event in events {
        let branch = event.branch.as_deref().unwrap_or_default().to_owned();
        all.entry(branch.clone())
            .or_default()
            .push(format!("{outside} {}", line(event, run)));
        outside += usize::from(branch.is_empty());
    }
    all
}

fn line(event: &Event, run: RunId) -> String {
    let parts: Vec<_> = event
        .content
        .iter()
        .flat_map(|content| content.parts.iter().map(show))
        .collect();
    let delta: BTreeMap<_, _> = event
        .actions
        .state_delta
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    let metadata = event
        .details
        .as_deref()
        .map(|details| serde_json::json!(details.custom_metadata));
    let (author, path, escalate) = (&event.author, &event.path, event.actions.escalate);
    let text = format!("{author} {path} {parts:?} {delta:?} {escalate:?} {metadata:?}");
    text.replace(&run.to_string(), "RUN")
}

/// Describes the difference between the events of two runs, or returns `None`.
pub fn difference(
    expected: &BTreeMap<String, Vec<String>>,
    found: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let branches: HashSet<_> = expected.keys().chain(found.keys()).collect();
    branches.into_iter().find_map(|branch| {
        let none = Vec::new();
        let (expected, found) = (
            expected.get(branch).unwrap_or(&none),
            found.get(branch).unwrap_or(&none),
        );
        let at =
            (0..expected.len().max(found.len())).find(|at| expected.get(*at) != found.get(*at))?;
        let (expected, found) = (expected.get(at), found.get(at));
        Some(format!(
            "branch `{branch}`, event {at}:\nexpected {expected:?}\nfound    {found:?}"
        ))
    })
}

/// Returns the branch of each agent with events.
pub fn branches(events: &[Arc<Event>]) -> HashMap<String, String> {
    let branch = |event: &Arc<Event>| event.branch.as_deref().unwrap_or_default().to_owned();
    events
        .iter()
        .map(|event| (event.path.to_string(), branch(event)))
        .collect()
}

/// Calls of an undisturbed run, with their order.
pub struct Calls {
    /// The calls by key, each with the line where it begins, the line where it ends, and its
    /// branch.
    calls: HashMap<String, (usize, usize, String)>,
}

impl Calls {
    pub fn new(seen: &[Seen], branches: &HashMap<String, String>) -> Self {
        let mut calls = HashMap::new();
        for (at, line) in seen.iter().enumerate() {
            match line {
                Seen::Begin(key, _) => {
                    let path = key.rsplit_once(':').map_or(&**key, |(path, _)| path);
                    // A failed agent has no event, so use the branch of the nearest enclosing agent
                    // that has one.
                    let above = path
                        .match_indices('/')
                        .map(|(at, _)| at)
                        .chain([path.len()])
                        .rev();
                    let branch = above.filter_map(|end| branches.get(&path[..end])).next();
                    let branch = branch.cloned().unwrap_or_default();
                    let earlier = calls.insert(key.clone(), (at, usize::MAX, branch));
                    assert!(
                        earlier.is_none(),
                        "{key} is called twice in an undisturbed run"
                    );
                }
                Seen::End(key) => calls.get_mut(key).expect("what ends has begun").1 = at,
                Seen::Kill | Seen::Cut(_) | Seen::Whole => {}
            }
        }
        Self { calls }
    }

    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Reports whether the call `second` is made only after the call `first` is recorded.
    fn is_after(&self, first: &str, second: &str) -> bool {
        let ((_, end, one), (begin, _, other)) = (&self.calls[first], &self.calls[second]);
        // Tool calls of one model reply do not wait for each other, even if one of them waits for a
        // person.
        let is_one_turn = |turn: &str| {
            second
                .strip_prefix(turn)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let is_beside = first
            .rsplit_once('.')
            .is_some_and(|(turn, _)| is_one_turn(turn));
        end < begin && !is_beside && (is_around(one, other) || is_around(other, one))
    }

    /// Checks the calls of a run with kills. Each call was made. It was repeated only after a kill,
    /// and before any call that needed its record. Returns the number of repeated calls.
    pub fn check(&self, seen: &[Seen]) -> Result<usize, String> {
        let mut begun: HashMap<&str, usize> = HashMap::new();
        let (mut kills, mut again, mut cut_off) = (0, 0, None);
        for line in seen {
            match line {
                Seen::Kill => kills += 1,
                Seen::Cut(process) => (kills, cut_off) = (kills + 1, Some(*process)),
                Seen::Whole => (kills, cut_off) = (kills + 1, None),
                Seen::End(_) => {}
                Seen::Begin(key, _) if !self.calls.contains_key(key) => {
                    return Err(format!("unknown call {key}"));
                }
                Seen::Begin(key, process) => {
                    let Some(earlier) = begun.insert(key, kills) else {
                        continue;
                    };
                    again += 1;
                    // While a process is cut off, it and the server may each detect the cut at any
                    // time. The call in flight may therefore be repeated without a further kill. A
                    // request to the cut-off process may also arrive late, after other processes
                    // have continued.
                    if cut_off.is_none() && earlier == kills {
                        return Err(format!("{key} was made again without a kill"));
                    }
                    let later = begun.keys().find(|later| self.is_after(key, later));
                    if let Some(later) = later.filter(|_| cut_off != Some(*process)) {
                        return Err(format!("{key} was made again after {later}"));
                    }
                }
            }
        }
        match self.calls.keys().find(|key| !begun.contains_key(&***key)) {
            Some(key) => Err(format!("{key} was never called")),
            None => Ok(again),
        }
    }
}

/// Reports whether the branch `inner` is the branch `outer` or a part of it.
fn is_around(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}
