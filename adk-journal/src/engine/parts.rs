//! [`OpenBlocks`]: the writes of the parts of a block that may discard them. Such blocks are a
//! `parallel(first)`, whose parts are branches, and a block with `on_error = skip`, whose parts are
//! branches or elements.

use crate::event::{Event, StateDelta};
use crate::session::{Scope, marks};
use crate::sync::lock;
use crate::{At, Name, Path};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The blocks that are running.
#[derive(Debug, Default)]
pub struct OpenBlocks {
    count: AtomicUsize,
    blocks: Mutex<Vec<OpenBlock>>,
}

#[derive(Debug)]
struct OpenBlock {
    path: Path,
    scope: Option<Arc<dyn BlockScope>>,
    writes: BTreeMap<Name, KeyWrites>,
}

/// The scope of keys in which a block runs.
pub trait BlockScope: fmt::Debug + Send + Sync {
    /// Returns true if a stored key belongs to an element inside this scope.
    fn is_of_element_inside(&self, key: &str) -> bool;

    /// Returns true if this scope reads the value of a stored key.
    fn is_current(&self, key: &str) -> bool;
}

/// The writes of one stored key.
#[derive(Debug)]
struct KeyWrites {
    /// The value before any part wrote the key.
    before: Option<Arc<Value>>,
    /// The last value of each part; the last entry is the current value.
    by: Vec<(BlockPart, Arc<Value>)>,
}

/// A part of a block, as a path names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockPart {
    /// The step of a branch.
    Step(Name),
    /// An element of an `each`.
    Element(u32),
}

impl OpenBlocks {
    /// Returns true if a block is open.
    pub fn is_any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Registers a block that begins in this scope.
    pub fn open(&self, path: Path, scope: Option<Arc<dyn BlockScope>>) {
        lock(&self.blocks).push(OpenBlock {
            path,
            scope,
            writes: BTreeMap::new(),
        });
        self.count.fetch_add(1, Ordering::Release);
    }

    pub fn close(&self, block: &Path) {
        let mut blocks = lock(&self.blocks);
        if let Some(at) = blocks.iter().rposition(|open| open.path == *block) {
            blocks.swap_remove(at);
            self.count.fetch_sub(1, Ordering::Release);
        }
    }

    /// Returns the values to write so that each key holds the last value of a part that is not
    /// discarded. A value is `None` if the key had none before the block.
    pub fn values_to_restore(
        &self,
        block: &Path,
        is_discarded: impl Fn(&BlockPart) -> bool,
    ) -> Vec<(Name, Option<Arc<Value>>)> {
        let blocks = lock(&self.blocks);
        let open = blocks.iter().rfind(|open| open.path == *block);
        let is_undone =
            |by: &[(BlockPart, _)]| by.last().is_some_and(|(part, _)| is_discarded(part));
        let writes = open.into_iter().flat_map(|open| &open.writes);
        let undone = writes.filter(|(_, key)| is_undone(&key.by));
        let value = |KeyWrites { before, by }: &KeyWrites| {
            let last = by
                .iter()
                .rfind(|(part, _)| !is_discarded(part))
                .map(|(_, value)| value.clone());
            last.or_else(|| before.clone())
        };
        undone
            .map(|(key, writes)| (key.clone(), value(writes)))
            .collect()
    }

    /// Returns the parts that are discarded and have written a key.
    pub fn discarded_parts(
        &self,
        block: &Path,
        is_discarded: impl Fn(&BlockPart) -> bool,
    ) -> BTreeSet<BlockPart> {
        let blocks = lock(&self.blocks);
        let open = blocks.iter().rfind(|open| open.path == *block);
        let by = open
            .into_iter()
            .flat_map(|open| open.writes.values())
            .flat_map(|key| &key.by);
        by.map(|(part, _)| part)
            .filter(|part| is_discarded(part))
            .cloned()
            .collect()
    }

    /// Notes an event that is about to be applied. `before` returns the current value of a key.
    pub fn note(
        &self,
        event: &Event,
        temp: &StateDelta,
        before: impl Fn(&Name) -> Option<Arc<Value>>,
    ) {
        for OpenBlock {
            path,
            scope,
            writes,
        } in lock(&self.blocks).iter_mut()
        {
            let Some(part) = BlockPart::on_path(path, &event.path) else {
                continue;
            };
            let scope = scope.as_deref();
            // The keys of an element inside the block are empty when the element begins, so no
            // other part reads them.
            let is_of_element = |key: &Name| {
                scope.map_or(key.contains('['), |scope| scope.is_of_element_inside(key))
            };
            let held = |key: &Name| {
                before(key).filter(|_| scope.is_none_or(|scope| scope.is_current(key)))
            };
            // A secret is kept as long as the run; only the key that refers to it is undone.
            let temp = temp.iter().filter(|(key, _)| Scope::of(key) == Scope::Temp);
            let keys = event.actions.state_delta.iter().chain(temp);
            // The events of discarded parts stay in the log, and so do their artifacts.
            let keys = keys.filter(|(key, _)| !marks::is_of_session(key));
            for (key, value) in keys.filter(|(key, _)| !is_of_element(key)) {
                let key = writes.entry(key.clone());
                let writes = key.or_insert_with_key(|key| KeyWrites {
                    before: held(key),
                    by: Vec::new(),
                });
                writes.by.retain(|(other, _)| *other != part);
                writes.by.push((part.clone(), value.clone()));
            }
        }
    }
}

impl BlockPart {
    /// Returns the path of the part.
    pub fn path(&self, block: &Path) -> Path {
        match self {
            Self::Step(name) => block.child(name.clone(), At::Once),
            Self::Element(index) => block.with(At::Item(*index)),
        }
    }

    /// Returns the part of a block that a path leads through.
    fn on_path(block: &Path, path: &Path) -> Option<Self> {
        let mut outward = std::iter::successors(Some(path), |path| path.parent());
        outward.find_map(|path| match path.at() {
            At::Item(index) if path.name() == block.name() && path.parent() == block.parent() => {
                Some(Self::Element(index))
            }
            _ if path.parent() == Some(block) => Some(Self::Step(path.name().clone())),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.parse().unwrap()
    }

    #[test]
    fn a_path_goes_through_one_part() {
        let part = |block: &str, inner: &str| BlockPart::on_path(&path(block), &path(inner));
        let step = |name: &str| Some(BlockPart::Step(Name::shared(name)));
        assert_eq!(part("w/l#2/race", "w/l#2/race/a"), step("a"));
        assert_eq!(part("w/l#2/race", "w/l#2/race/loop#3/b"), step("loop"));
        assert_eq!(part("w/l#2/race", "w/l#1/race/a"), None);
        assert_eq!(part("w/race", "w/race"), None);
        assert_eq!(
            part("w/each_1", "w/each_1[3]/a"),
            Some(BlockPart::Element(3))
        );
        assert_eq!(part("w/each_1", "w/each_1[3]"), Some(BlockPart::Element(3)));
    }

    #[test]
    fn discarded_writes_are_undone() {
        let blocks = OpenBlocks::default();
        let note = |at: &str, key: &str, value: u32, before: Option<u32>| {
            let event = Event {
                path: path(at),
                ..Event::new()
            }
            .with_state(key.to_owned(), value);
            blocks.note(&event, &StateDelta::default(), |_| {
                before.map(|value| Arc::new(value.into()))
            });
        };
        note("w/race/a", "both", 1, Some(0));
        blocks.open(path("w/race"), None);
        note("w/race/a", "both", 2, Some(1));
        note("w/race/b/c", "both", 3, Some(2));
        note("w/race/a", "both", 4, Some(3));
        note("w/race/a", "one", 5, None);
        note("w/other", "both", 6, Some(4));
        let undone = |name: &str| {
            let undone = blocks.values_to_restore(&path("w/race"), |part| {
                *part != BlockPart::Step(Name::shared(name))
            });
            let number = |value: Option<Arc<Value>>| value.and_then(|value| value.as_u64());
            undone
                .into_iter()
                .map(|(key, value)| (key.to_string(), number(value)))
                .collect::<Vec<_>>()
        };
        assert_eq!(undone("a"), []);
        assert_eq!(
            undone("b"),
            [("both".to_owned(), Some(3)), ("one".to_owned(), None)]
        );
        assert_eq!(
            undone("none"),
            [("both".to_owned(), Some(1)), ("one".to_owned(), None)]
        );
        blocks.close(&path("w/race"));
        assert_eq!(undone("none"), []);
    }
}
