//! The keys of an instance, which are those of all that belongs to it.

use super::below::contains;
use crate::spec::{AgentMeta, Renames};
use crate::text::same;

/// Whose names the keys of agents are.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyScope<'a> {
    /// The agent of the step.
    pub(super) own: &'a AgentMeta<'a>,
    /// The keys of the step, which its transfer targets and tools have as well.
    pub(super) renames: &'a Renames<'a>,
    /// The workflow inside of which the step is; `None` for the one that is looked at.
    pub(super) workflow: Option<&'a AgentMeta<'a>>,
}

impl<'a> KeyScope<'a> {
    /// The key that is read as `key`, and by which renaming.
    pub(super) const fn read_key(&self, key: &'a str) -> (&'a str, Option<usize>) {
        let renamed = self.renames.reads;
        let mut i = 0;
        while i < renamed.len() {
            if same(renamed[i].0, key) {
                return (renamed[i].1, Some(i));
            }
            i += 1;
        }
        (key, None)
    }

    /// The key that something which belongs to the step writes as `key`: one that its agent writes has that one's name.
    pub(super) const fn written_key(&self, key: &'a str) -> &'a str {
        let (own, mut i) = (self.own.writes, 0);
        while i < own.len() && i < self.renames.writes.len() {
            if same(own[i].name, key) {
                return self.renames.writes[i];
            }
            i += 1;
        }
        key
    }

    /// Rule 6: an agent that may transfer has written its key only when each of its targets writes it too.
    pub(super) const fn targets_write(&self, meta: &AgentMeta<'a>, key: &str, deepest: usize) -> bool {
        each!(target in meta.transfer => {
            let writes = any!(own in target.writes => !own.optional && same(self.written_key(own.name), key));
            if !writes || deepest == 0 || !self.targets_write(target, key, deepest - 1) {
                return false;
            }
        });
        true
    }

    /// Whether a key is read from another one here.
    pub(super) const fn is_renamed(&self, key: &str) -> bool {
        any!(renamed in self.renames.reads => same(renamed.0, key) && !same(renamed.1, key))
    }

    /// Whether the workflow inside of which the step is has an output of that name.
    pub(super) const fn is_output(&self, key: &str) -> bool {
        match self.workflow {
            Some(around) => contains(around.writes, key),
            None => false,
        }
    }
}

/// What an instance calls the key that its agent writes at that place.
pub(crate) const fn output_name<'a>(meta: &AgentMeta<'a>, renames: &Renames<'a>, slot: usize) -> &'a str {
    if slot < renames.writes.len() { renames.writes[slot] } else { meta.writes[slot].name }
}
