//! Reads and writes of keys: missing keys, and concurrent access.

use super::super::describe;
use super::super::keys::{EVERY, KeyName};
use super::super::{DiagnosticKind, Reader, StepPart};
use super::Walk;
use super::blocks::{BlockKind, READ, READING, SURE, WRITING, WROTE, set_of};
use crate::number::is_secret;

impl<'a> Walk<'_, 'a> {
    pub(in crate::check::flow) const fn is_alone(&self) -> bool {
        self.parallels == 0 && !self.keys.in_each()
    }

    /// Checks a read. Returns the key; 0 if no step writes the key.
    pub(super) const fn read(
        &mut self,
        at: usize,
        part: StepPart,
        name: &KeyName<'a>,
        optional: bool,
        reader: Reader<'a>,
    ) -> u32 {
        let found = self.keys.resolve(name);
        if self.is_only_inside(name, found) {
            self.report(at, part, name.text(), DiagnosticKind::OwnState);
            return 0;
        }
        let Some(key) = found else {
            if (!optional || is_claimed(part, name)) && !self.sets.has(SURE, EVERY) {
                self.report_unwritten(at, part, name.text(), reader);
            }
            return 0;
        };
        if let (Reader::Prompt { .. }, Some(writer)) = (reader, self.keys.all[key].writer)
            && is_secret(self.keys.all[key].number)
        {
            self.mismatch(
                at,
                part,
                name.text(),
                DiagnosticKind::ReadAs { ty: "", writer },
            );
        }
        let races = self.parallels > 0 && self.read_key(at, part, name.text(), key, reader);
        if !races && !optional && !self.sets.has(SURE, key) {
            self.report_unwritten(at, part, name.text(), reader);
        }
        key as u32
    }

    /// Returns whether a name means only a session key of a workflow inside this workflow, and not
    /// a key of this workflow.
    pub(super) const fn is_only_inside(&self, name: &KeyName<'a>, key: Option<usize>) -> bool {
        let is_own = match key {
            Some(key) => self.keys.all[key].own,
            None => false,
        };
        !is_own && !name.prefix && describe::is_kept(&self.spec, name.text())
    }

    /// Checks a read against the writes of sibling branches. Returns whether there is a race.
    pub(in crate::check::flow) const fn read_key(
        &mut self,
        at: usize,
        part: StepPart,
        name: &'a str,
        key: usize,
        reader: Reader<'a>,
    ) -> bool {
        let mut d = if self.parallels == 0 { 0 } else { self.depth };
        while d > 0 {
            d -= 1;
            if matches!(self.blocks[d].kind, BlockKind::Parallel { .. }) {
                if self.sets.has(set_of(d, WROTE), key) {
                    self.report_race(at, part, name, self.blocks[d].at, Some(reader));
                    return true;
                }
                self.sets.add(set_of(d, READING), key);
            }
        }
        false
    }

    /// Reports a key that a sibling branch writes, or that a sibling branch reads while this branch
    /// writes it.
    const fn report_race(
        &mut self,
        at: usize,
        part: StepPart,
        name: &'a str,
        parallel: usize,
        reader: Option<Reader<'a>>,
    ) {
        let kind = match reader {
            Some(reader) => DiagnosticKind::Race {
                parallel,
                writes: false,
                reader,
            },
            None => DiagnosticKind::Race {
                parallel,
                writes: true,
                reader: Reader::Inside,
            },
        };
        self.report(at, part, name, kind);
    }

    const fn report_unwritten(
        &mut self,
        at: usize,
        part: StepPart,
        name: &'a str,
        reader: Reader<'a>,
    ) {
        // If a sibling branch writes the key, the error is a race, which is reported at the later
        // of the two steps.
        if !describe::sibling_writes(&self.spec, at, name) {
            self.report(at, part, name, DiagnosticKind::Unwritten(reader));
        }
    }

    pub(in crate::check::flow) const fn write(
        &mut self,
        at: usize,
        name: &KeyName<'a>,
        sure: bool,
        session: bool,
    ) -> usize {
        let session = session || name.prefix;
        let key = self.keys.written_key(name, session);
        if session && self.keys.in_each() {
            self.report(at, StepPart::Name, name.text(), DiagnosticKind::EachRace);
        }
        self.write_key(at, key, sure);
        key
    }

    pub(super) const fn write_key(&mut self, at: usize, key: usize, sure: bool) {
        if key == EVERY {
            return;
        }
        let name = self.keys.all[key].name;
        let mut d = if self.parallels == 0 { 0 } else { self.depth };
        while d > 0 {
            d -= 1;
            if let BlockKind::Parallel { first } = self.blocks[d].kind {
                // In a `parallel(first)`, only the writes of the winner are committed, so several
                // branches may write one key. A `temp:` key is an exception, because no event
                // contains it.
                let both = !first || matches!(name.as_bytes(), [b't', b'e', b'm', b'p', b':', ..]);
                if both && self.sets.has(set_of(d, WROTE), key)
                    || self.sets.has(set_of(d, READ), key)
                {
                    self.report_race(at, StepPart::Name, name, self.blocks[d].at, None);
                }
                self.sets.add(set_of(d, WRITING), key);
            }
        }
        if sure {
            self.sets.add(SURE, key);
        }
    }
}

/// Returns whether a renaming claims that a key exists. A renaming to a key of this workflow does.
/// A key with a prefix may be in the session.
const fn is_claimed(part: StepPart, name: &KeyName<'_>) -> bool {
    matches!(part, StepPart::Renaming(_)) && !name.prefix
}
