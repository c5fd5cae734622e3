//! Workflows and agents that run each other in a circle, over several calls of our macros. Of these rustc would say that types
//! have no end, and list a cycle of consts that nobody wrote.
//!
//! The macro that is expanded last closes the circle, and tells it. What is told is certain: a plain name is what the block
//! declares in which both stand, and a path is followed as far as files tell where it leads. Of others rustc speaks as it
//! does.

use crate::source::Definition;
use crate::twice::ours;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::Mutex;
use syn::Path;

/// What each workflow or agent that was expanded runs.
type Callers<T> = HashMap<T, Vec<T>>;

static KNOWN: Mutex<Option<Callers<Definition>>> = Mutex::new(None);

/// Remembers what a workflow or an agent runs.
pub(crate) fn know<'p>(own: &str, calls: impl IntoIterator<Item = &'p Path>) {
    let mut calls = calls.into_iter().peekable();
    if calls.peek().is_none() {
        return;
    }
    if let Some(call) = ours() {
        let calls: Vec<_> = calls.flat_map(|path| call.lead(&names(path))).collect();
        if let Ok(mut known) = KNOWN.lock() {
            known.get_or_insert_default().entry(call.own(own)).or_default().extend(calls);
        }
    }
}

/// Paths by their names, each with all that is on the way back to who is expanded: nothing for itself.
pub(crate) type Back = HashMap<Vec<String>, Vec<String>>;

/// Those of the paths that lead back.
pub(crate) fn back<'p>(own: &str, paths: impl IntoIterator<Item = &'p Path>) -> Back {
    let mut paths = paths.into_iter().peekable();
    let call = paths.peek().and_then(|_| ours());
    let find = |call: crate::source::Call| {
        let own = call.own(own);
        let known = KNOWN.lock().ok()?;
        let none = Callers::new();
        let mut ways = Ways { callers: known.as_ref().unwrap_or(&none), own: &own, dead: HashSet::new() };
        let way = |path: &'p Path| {
            let path = names(path);
            let way = call.lead(&path).iter().find_map(|name| ways.from(name))?;
            Some((path, way.iter().map(|name| call.shown(name)).collect()))
        };
        Some(paths.filter_map(way).collect())
    };
    call.and_then(find).unwrap_or_default()
}

/// The names of a path; none where it leads to another crate, or has more than names.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let is_plain = path.segments.iter().all(|segment| segment.arguments.is_none());
    if path.leading_colon.is_none() && is_plain {
        path.segments.iter().map(|segment| crate::workflow::unraw(&segment.ident)).collect()
    } else {
        Vec::new()
    }
}

/// What leads to `own`. `dead` is what leads nowhere.
struct Ways<'a, T> {
    callers: &'a Callers<T>,
    own: &'a T,
    dead: HashSet<T>,
}

impl<T: Clone + Eq + Hash> Ways<'_, T> {
    /// The shortest way.
    fn from(&mut self, name: &T) -> Option<Vec<T>> {
        if name == self.own {
            return Some(Vec::new());
        }
        let mut seen: HashMap<&T, Option<&T>> = HashMap::from([(name, None)]);
        let mut open = VecDeque::from([name]);
        while let Some(at) = open.pop_front() {
            for next in self.callers.get(at).into_iter().flatten() {
                if next == self.own {
                    let way = std::iter::successors(Some(at), |at| seen.get(at).copied().flatten());
                    let mut way: Vec<_> = way.cloned().collect();
                    way.reverse();
                    return Some(way);
                }
                if !self.dead.contains(next) && !seen.contains_key(next) {
                    seen.insert(next, Some(at));
                    open.push_back(next);
                }
            }
        }
        self.dead.extend(seen.into_keys().cloned());
        None
    }
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
    use super::{Callers, Ways, told};
    use std::collections::HashSet;

    #[test]
    fn a_circle_is_found_from_each_of_its_ends() {
        let calls = [("a", vec!["b", "x"]), ("b", vec!["c"]), ("x", vec!["a"]), ("d", vec!["c"])];
        let callers: Callers<String> = calls
            .into_iter()
            .map(|(name, calls)| (name.into(), calls.into_iter().map(String::from).collect()))
            .collect();
        let found = |own: &str| {
            let own = own.to_owned();
            let mut ways = Ways { callers: &callers, own: &own, dead: HashSet::new() };
            ["x", "a", "nobody", "d", "c"].map(|name| ways.from(&name.to_owned()))
        };
        let [x, a, nobody, d, c] = found("c");
        let said = |way: Option<Vec<String>>| told(&way.unwrap(), "c");
        assert_eq!(said(d), "agent-reused: `d` runs `c` in turn");
        assert_eq!(said(a), "agent-reused: `a` runs `b`, which runs `c` in turn");
        assert_eq!(said(x), "agent-reused: `x` runs `a`, which runs `b`, which runs `c` in turn");
        assert_eq!((nobody, c), (None, Some(Vec::new())));
        assert_eq!(found("no one"), [const { None }; 5]);
    }
}
