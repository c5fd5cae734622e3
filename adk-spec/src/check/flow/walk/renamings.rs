//! Renamings of keys that the agent does not have.

use super::super::{DiagnosticKind, FlowDiagnostic, StepPart};
use super::Walk;
use crate::effects::{Act, Effects};
use crate::spec::{AgentMeta, Renames};
use crate::text::same;

impl<'a> Walk<'_, 'a> {
    /// Reports renamings of keys that the agent does not have.
    pub(super) const fn renamings(
        &mut self,
        at: usize,
        meta: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
    ) {
        let mut i = 0;
        while i < renames.reads.len() {
            if !is_read(meta, renames, i) {
                self.push(FlowDiagnostic::new(
                    at,
                    StepPart::Renamed(i),
                    renames.reads[i].0,
                    DiagnosticKind::NoSuchRead,
                ));
            }
            i += 1;
        }
        if !renames.writes.is_empty() && renames.writes.len() != meta.writes.len() {
            let key = renames.writes[0];
            self.push(FlowDiagnostic::new(
                at,
                StepPart::Output,
                key,
                DiagnosticKind::OtherWrites,
            ));
        }
        let (mut i, mut j) = (0, 1);
        while j < renames.writes.len() {
            if same(renames.writes[i], renames.writes[j]) {
                let key = renames.writes[i];
                return self.push(FlowDiagnostic::new(
                    at,
                    StepPart::Output,
                    key,
                    DiagnosticKind::SameWrites,
                ));
            }
            (i, j) = if i + 1 < j { (i + 1, j) } else { (0, j + 1) };
        }
    }
}

/// Returns whether the agent reads the key that a renaming replaces.
const fn is_read<'a>(meta: &'a AgentMeta<'a>, renames: &'a Renames<'a>, renaming: usize) -> bool {
    let mut all = Effects::of(meta, renames).outside();
    while let Some(effect) = all.next() {
        match effect.act {
            Act::Prompt {
                renamed: Some(i), ..
            }
            | Act::Read {
                renamed: Some(i), ..
            } if i == renaming => {
                return true;
            }
            _ => {}
        }
    }
    false
}
