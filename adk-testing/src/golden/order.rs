//! [`CommitOrder`]: the order of events that decides what a run does.
//!
//! Requests do not depend on the order in which branches end, so most blocks need none. The order
//! counts where a branch ends the others, as in `parallel(first)`, and where branches update one
//! value.

use std::collections::BTreeSet;

/// A committed event.
#[derive(Clone, Debug)]
pub(super) struct CommitNote {
    /// The slot without the name of the workflow: `refinement#1/critic!0`.
    pub(super) slot: String,
    /// The concurrent blocks around it.
    pub(super) blocks: Vec<String>,
    pub(super) escalates: bool,
    pub(super) is_update: bool,
}

/// The order of events that decides what a run does.
#[derive(Default)]
pub(super) struct CommitOrder {
    slots: Vec<String>,
}

impl CommitOrder {
    pub(super) fn new(slots: &[String]) -> Self {
        Self {
            slots: slots.to_vec(),
        }
    }

    /// Returns the events whose order a replay needs. `races` are the names of the blocks whose
    /// first branch wins, `cancelled` the paths of calls that were cancelled.
    pub(super) fn of_run(
        commits: &[CommitNote],
        races: &BTreeSet<String>,
        cancelled: &[String],
    ) -> Vec<String> {
        let mut ordered = BTreeSet::new();
        let blocks: BTreeSet<_> = commits.iter().flat_map(|commit| &commit.blocks).collect();
        for block in blocks {
            let name = block.rsplit('/').next().unwrap_or(block);
            let name = name.split('#').next().unwrap_or(name);
            let decides = |commit: &CommitNote| commit.escalates || commit.is_update;
            if races.contains(name)
                || cancelled.iter().any(|path| is_inside(path, block))
                || commits
                    .iter()
                    .any(|commit| commit.blocks.contains(block) && decides(commit))
            {
                ordered.insert(block);
            }
        }
        commits
            .iter()
            .filter(|commit| commit.blocks.iter().any(|block| ordered.contains(block)))
            .map(|commit| commit.slot.clone())
            .collect()
    }

    /// Returns whether an event may be committed now, after `done` events of the order. An event
    /// beside events of the record may not: their block ends before it, or never.
    pub(super) fn is_next(&self, slot: &str, blocks: &[String], done: usize) -> bool {
        if self.slots.is_empty() || blocks.is_empty() {
            return true;
        }
        match self.slots.iter().position(|listed| listed == slot) {
            Some(place) => place <= done,
            None => !self.slots.iter().any(|slot| shares_block(slot, blocks)),
        }
    }

    /// Returns the next event of the record that is not committed.
    pub(super) fn awaited(&self, done: usize) -> Option<&str> {
        self.slots.get(done).map(String::as_str)
    }
}

/// Returns whether an event is inside one of the blocks.
pub(super) fn shares_block(slot: &str, blocks: &[String]) -> bool {
    blocks.iter().any(|block| is_inside(slot, block))
}

/// Returns whether a path or slot is below a block.
pub(super) fn is_inside(path: &str, block: &str) -> bool {
    path.strip_prefix(block)
        .is_some_and(|rest| block.is_empty() || rest.starts_with(['/', '[', '#', '!']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(slot: &str, block: &str) -> CommitNote {
        CommitNote {
            slot: slot.to_owned(),
            blocks: if block.is_empty() {
                Vec::new()
            } else {
                vec![block.to_owned()]
            },
            escalates: false,
            is_update: false,
        }
    }

    #[test]
    fn only_events_of_decided_blocks_are_listed() {
        let commits = [
            commit("!0", ""),
            commit("p/a!0", "p"),
            commit("p/b!0", "p"),
            commit("race/quick!0", "race"),
            commit("w!0", ""),
        ];
        let races = BTreeSet::from(["race".to_owned()]);
        assert_eq!(CommitOrder::of_run(&commits, &races, &[]), ["race/quick!0"]);
        let cancelled = ["p/c".to_owned()];
        assert_eq!(
            CommitOrder::of_run(&commits, &races, &cancelled),
            ["p/a!0", "p/b!0", "race/quick!0"]
        );
        assert_eq!(
            CommitOrder::of_run(&commits, &races, &["px/c".to_owned()]).len(),
            1
        );
    }

    #[test]
    fn an_event_without_a_record_waits_for_the_end_of_its_block() {
        let order = CommitOrder::new(&["p/a!0".to_owned(), "p/b!0".to_owned()]);
        let block = ["p".to_owned()];
        assert!(order.is_next("p/a!0", &block, 0));
        assert!(!order.is_next("p/b!0", &block, 0));
        assert!(order.is_next("p/b!0", &block, 1));
        assert!(!order.is_next("p/new!0", &block, 1));
        assert!(!order.is_next("p/new!0", &block, 2));
        assert!(order.is_next("q/new!0", &["q".to_owned()], 0));
        assert_eq!(order.awaited(1), Some("p/b!0"));
        assert_eq!(order.awaited(2), None);
    }
}
