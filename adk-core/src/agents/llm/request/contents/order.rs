//! Order of concurrent events in a request. Events of a parallel block follow the order of its
//! branches in the source, and events of an `each` the order of its list, whichever branch or
//! element ended first. A request omits the events of branches that lost a race, and of branches
//! and elements that failed and were skipped. A branch or an element is called a part here.

use crate::WINNER_KEY;
use crate::store::event::{Event, LEFT_OUT_KEY};
use crate::{At, Path, RunId};
use serde_json::Value;
use std::iter::successors;
use std::ops::Range;
use std::sync::Arc;

/// Sorts the events of each block by the number of their part, a branch or an element. Events of
/// one part keep the order of the log. `places` contains the positions of the events in the log,
/// and is sorted in the same way.
pub(super) fn arrange(events: &mut [&Arc<Event>], places: &mut [usize]) {
    if events.iter().all(|event| event.branch.is_none()) {
        return;
    }
    let placed = places.iter().copied().zip(events.iter().copied());
    let mut arranged: Vec<_> = placed
        .map(|(place, event)| (place, event, parts(event)))
        .collect();
    // Iterative, because a path from outside may have any depth.
    let mut open = vec![(0..arranged.len(), 0)];
    while let Some((range, depth)) = open.pop() {
        let mut at = range.start;
        while at < range.end {
            let end = end_of_block(&arranged, at..range.end, depth);
            arranged[at..end].sort_by_key(|(_, _, parts)| parts.get(depth).map(|(_, part)| *part));
            open.extend(runs_of_parts(&arranged, at..end, depth).map(|part| (part, depth + 1)));
            at = end;
        }
    }
    for (to, (place, event, _)) in arranged.into_iter().enumerate() {
        (events[to], places[to]) = (event, place);
    }
}

type WithParts<'a> = (usize, &'a Arc<Event>, Vec<(&'a Path, u32)>);

fn parts(event: &Event) -> Vec<(&Path, u32)> {
    if event.branch.is_some() {
        event.path.parts()
    } else {
        Vec::new()
    }
}

/// Returns the end of the range of events that belong to the same block as the first event of
/// `range`. The block is at nesting level `depth`.
fn end_of_block(events: &[WithParts<'_>], range: Range<usize>, depth: usize) -> usize {
    let (_, first, parts) = &events[range.start];
    let Some((block, _)) = parts.get(depth) else {
        return range.start + 1;
    };
    let is_in = |(_, event, parts): &&WithParts<'_>| {
        event.invocation_id == first.invocation_id
            && parts
                .get(depth)
                .is_some_and(|(node, _)| node.is_beside(block))
    };
    range.start + events[range].iter().take_while(is_in).count()
}

/// Returns the ranges of events that have equal parts at `depth`, if they contain a further block
/// to sort.
fn runs_of_parts<'a>(
    events: &'a [WithParts<'_>],
    range: Range<usize>,
    depth: usize,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let start = range.start;
    let same = move |a: &WithParts<'_>, b: &WithParts<'_>| {
        a.2.get(depth).map(|(_, part)| part) == b.2.get(depth).map(|(_, part)| part)
    };
    let parts = events[range].chunk_by(same).scan(start, move |at, part| {
        let range = *at..*at + part.len();
        *at = range.end;
        Some((
            range,
            part.iter().any(|(_, _, parts)| parts.len() > depth + 1),
        ))
    });
    parts
        .filter(|(range, is_deeper)| *is_deeper && range.len() > 1)
        .map(|(range, _)| range)
}

/// The branches or elements of a block whose events a request omits. The last event of the block
/// names them.
pub(super) struct LeftOut {
    run: RunId,
    block: Path,
    /// The beginning that the branch names of all parts of the block have in common.
    prefix: String,
    /// The branch names of the omitted parts, or of the kept parts.
    branches: Vec<String>,
    /// Whether `branches` names the kept parts. All other parts of the block are then omitted.
    are_kept: bool,
}

impl LeftOut {
    /// Reads the omitted parts from the event in which a block reports them.
    pub(super) fn read(event: &Event) -> Option<Self> {
        let metadata = &event.details.as_ref()?.custom_metadata;
        let block = &event.path;
        let around = event
            .branch
            .as_deref()
            .map(|branch| format!("{branch}."))
            .unwrap_or_default();
        let prefix = [&around, &**block.name()].concat();
        let branch = |child: &str| format!("{prefix}.{child}");
        let (branches, are_kept) = if let Some(Value::String(winner)) = metadata.get(WINNER_KEY) {
            (vec![branch(winner)], true)
        } else {
            let failed = metadata.get(LEFT_OUT_KEY)?.get("failed")?.as_array()?;
            let paths = failed
                .iter()
                .filter_map(|part| part.get("path")?.as_str()?.parse::<Path>().ok());
            let branch = |path: Path| match path.at() {
                At::Item(index) => format!("{prefix}[{index}]"),
                _ => branch(path.name()),
            };
            (paths.map(branch).collect(), false)
        };
        Some(Self {
            run: event.invocation_id,
            block: block.clone(),
            prefix,
            branches,
            are_kept,
        })
    }

    /// Reports whether an event belongs to an omitted part.
    pub(super) fn holds(&self, event: &Event) -> bool {
        let Some(branch) = event.branch.as_deref() else {
            return false;
        };
        let is_in = |part: &String| {
            branch
                .strip_prefix(&**part)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        event.invocation_id == self.run
            && branch
                .strip_prefix(&*self.prefix)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
            && successors(Some(&event.path), |path| path.parent())
                .any(|path| path.is_beside(&self.block))
            && self.branches.iter().any(is_in) != self.are_kept
    }
}
