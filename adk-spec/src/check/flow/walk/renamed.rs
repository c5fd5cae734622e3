//! Keys that an instance calls otherwise, and which its agent does not have.

use super::super::closest::distance;
use super::super::effects::{Act, Effects};
use super::super::keys::NEVER;
use super::super::{Fault, Flaw, Part, Written, describe};
use super::Walk;
use super::blocks::SURE;
use crate::check::text::same;
use crate::spec::{AgentMeta, Renames};

impl<'a> Walk<'_, 'a> {
    /// A renaming of a key that the agent does not have. `used` are those of the first 64 that it has.
    pub(super) const fn renamings(
        &mut self,
        at: usize,
        meta: &AgentMeta<'a>,
        renames: Renames<'a>,
        used: u64,
    ) {
        let mut i = 0;
        while i < renames.reads.len() {
            let is_used = if i < 64 { used >> i & 1 == 1 } else { is_read(meta, renames, i) };
            if !is_used {
                let (key, from) = renames.reads[i];
                let fault = Fault::new(at, Part::Renamed(i), key, Flaw::NoSuchRead { from });
                if describe::is_written(&self.spec, at, key) {
                    self.any_written();
                }
                match (self.meant(at, key, from), self.is_told_of(meta, key)) {
                    (Some(missing), true) => self.faults[missing].flaw = Flaw::Quiet { meant: false },
                    (Some(missing), false) => self.faults[missing] = fault,
                    (None, true) => {}
                    (None, false) => self.push(fault),
                }
            }
            i += 1;
        }
        if !renames.writes.is_empty() && renames.writes.len() != meta.writes.len() {
            let key = renames.writes[0];
            self.push(Fault::new(at, Part::Output, key, Flaw::OtherWrites));
            self.any_written();
        }
        let (mut i, mut j) = (0, 1);
        while j < renames.writes.len() {
            if same(renames.writes[i], renames.writes[j]) {
                let key = renames.writes[i];
                return self.push(Fault::new(at, Part::Output, key, Flaw::SameWrites));
            }
            (i, j) = if i + 1 < j { (i + 1, j) } else { (0, j + 1) };
        }
    }

    /// Which keys it writes is not known, so that nothing is said of those that are missing.
    const fn any_written(&mut self) {
        let never = self.sets.has(SURE, NEVER);
        self.sets.fill(SURE, true);
        if !never {
            self.sets.remove(SURE, NEVER);
        }
    }

    /// The key that a step misses because its renaming is spelled wrong or the wrong way round, or else because it is of another
    /// key: one mistake, one message.
    pub(super) const fn meant(&self, at: usize, renamed: &str, from: &str) -> Option<usize> {
        let (mut i, mut other) = (self.found, None);
        while i > 0 && self.faults[i - 1].at == at {
            i -= 1;
            let Fault { key, part, flaw, .. } = self.faults[i];
            let is_missing = matches!(flaw, Flaw::Unwritten { .. }) && matches!(part, Part::Name);
            let is_turned = same(from, key) && !self.spec.all;
            if is_missing && (is_turned || distance(renamed, key).is_some()) {
                return Some(i);
            }
            if is_missing
                && matches!(flaw, Flaw::Unwritten { written: Written::Nowhere, .. })
                && !self.spec.all
            {
                other = Some(i);
            }
        }
        other
    }
}

/// Whether the agent reads the key of this renaming.
const fn is_read(meta: &AgentMeta<'_>, renames: Renames<'_>, renaming: usize) -> bool {
    let mut all = Effects::of(meta, renames);
    while let Some(effect) = all.next() {
        match effect.act {
            Act::Prompt { renamed: Some(i), .. } | Act::Read { renamed: Some(i), .. } if i == renaming => {
                return true;
            }
            _ => {}
        }
    }
    false
}
