//! [`KeyScope`]: the key names of an instance, which also apply to its transfer targets and tools.

use super::below::contains;
use crate::spec::{AgentMeta, Renames};
use crate::text::same;

/// The map from the key names of an agent to those of the workflow around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyScope<'a> {
    /// The agent of the step.
    pub(super) own: &'a AgentMeta<'a>,
    /// The renamings of the step, which also apply to its transfer targets and tools.
    pub(super) renames: &'a Renames<'a>,
    /// The workflow that contains the step; `None` for the checked workflow itself.
    pub(super) workflow: Option<&'a AgentMeta<'a>>,
}

impl<'a> KeyScope<'a> {
    /// Returns the key that a read of `key` in the definition reads, and the index of the renaming.
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

    /// Returns the key that a write of `key` in the definition writes. The instance may rename it
    /// by `->`.
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

    /// Returns whether all transfer targets of an agent write a key. By rule 6 of the language, an
    /// agent that may transfer has certainly written its key only if each target writes it too.
    pub(super) const fn targets_write(
        &self,
        meta: &AgentMeta<'a>,
        key: &str,
        deepest: usize,
    ) -> bool {
        each!(target in meta.transfer => {
            let writes = any!(own in target.writes => {
                !own.optional && same(self.written_key(own.name), key)
            });
            if !writes || deepest == 0 || !self.targets_write(target, key, deepest - 1) {
                return false;
            }
        });
        true
    }

    /// Returns whether the step renames a key to another key.
    pub(super) const fn is_renamed(&self, key: &str) -> bool {
        any!(renamed in self.renames.reads => same(renamed.0, key) && !same(renamed.1, key))
    }

    /// Returns whether the workflow that contains the step has an output with this name.
    pub(super) const fn is_output(&self, key: &str) -> bool {
        match self.workflow {
            Some(around) => contains(around.writes, key),
            None => false,
        }
    }
}

/// Returns an instance's name for the key that its agent writes at an index.
pub(crate) const fn output_name<'a>(
    meta: &AgentMeta<'a>,
    renames: &Renames<'a>,
    slot: usize,
) -> &'a str {
    if slot < renames.writes.len() {
        renames.writes[slot]
    } else {
        meta.writes[slot].name
    }
}
