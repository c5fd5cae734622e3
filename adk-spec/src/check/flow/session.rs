//! Reads and writes of session keys inside the workflows of a step.
//!
//! Session keys are the same keys inside and outside of a nested workflow. The workflow's own keys
//! are hidden, and its inputs and outputs are effects of the step. A session key that a nested
//! workflow writes counts as maybe written, because the workflow does not promise that write.

use super::keys::{Key, KeyName, NONE, Writer};
use super::walk::Walk;
use super::{DiagnosticKind, Reader, StepPart};
use crate::effects::{Act, Effect, Effects, contains, runs_together};
use crate::hash::hash;
use crate::number::is_secret;
use crate::spec::{AgentMeta, KeySpec, Module, Renames, has_prefix};
use crate::text::same;

/// Returns whether anything inside a step writes (`writes`) or reads (`!writes`) a key of the
/// session.
pub(super) const fn touches<'a>(
    meta: &'a AgentMeta<'a>,
    renames: &'a Renames<'a>,
    key: &str,
    writes: bool,
) -> bool {
    let mut all = Effects::of(meta, renames);
    while let Some(effect) = all.next() {
        if effect.is_inside && effect.act.is_write() == writes && same(effect.key, key) {
            return true;
        }
    }
    false
}

/// The key spec of a read in a prompt.
const ANY: KeySpec<'static> = KeySpec::new("", "").any(true);

impl<'a> Walk<'_, 'a> {
    /// Adds a session key that a workflow inside a step writes.
    pub(super) const fn register_session(
        &mut self,
        at: usize,
        effect: &Effect<'a>,
        module: Option<Module<'a>>,
    ) {
        let writer = match effect.act {
            Act::May(spec) => Some(Writer {
                spec,
                at,
                slot: NONE,
                depth: 0,
                module,
            }),
            Act::Start => None,
            _ => return,
        };
        self.keys
            .write(&KeyName::new(effect.key), writer, false, true);
    }

    /// Checks a read or write of a session key by a workflow inside a step.
    pub(super) const fn session(
        &mut self,
        at: usize,
        effect: &Effect<'a>,
        module: Option<Module<'a>>,
    ) {
        match effect.act {
            Act::Start => {
                self.write(at, &KeyName::new(effect.key), false, true);
            }
            Act::Write { spec, .. } | Act::May(spec) => {
                let key = self.write(at, &KeyName::new(effect.key), false, true);
                self.check_written_type(at, key, &spec, NONE, module);
            }
            Act::State(spec) => {
                self.check_kept_key(at, effect.key);
                self.read_session(at, effect.key, &spec, module);
            }
            Act::Read { spec, .. } => self.read_session(at, effect.key, &spec, module),
            Act::Prompt { .. } => {
                self.read_session(at, effect.key, &ANY, module);
                self.check_shown_key(at, effect.key);
            }
        }
    }

    /// Checks that a prompt inside a step does not show a secret.
    const fn check_shown_key(&mut self, at: usize, name: &'a str) {
        if let Ok(key) = self.keys.lookup(hash(name))
            && let Key {
                number,
                writer: Some(writer),
                ..
            } = self.keys.all[key]
            && is_secret(number)
        {
            self.mismatch(
                at,
                StepPart::Name,
                name,
                DiagnosticKind::ReadAs { ty: "", writer },
            );
        }
    }

    /// Checks that a session key of a nested workflow is not also a key of this workflow. Without a
    /// `state` declaration here, the two are different keys of the same name.
    const fn check_kept_key(&mut self, at: usize, name: &'a str) {
        if let Some(key) = self.keys.resolve(&KeyName::new(name))
            && self.keys.all[key].own
            && !has_prefix(name)
            && !contains(self.spec.states, name)
        {
            self.report(at, StepPart::Name, name, DiagnosticKind::OwnState);
        }
    }

    const fn read_session(
        &mut self,
        at: usize,
        name: &'a str,
        spec: &KeySpec<'a>,
        module: Option<Module<'a>>,
    ) {
        if let Ok(key) = self.keys.lookup(hash(name)) {
            // Without concurrent steps, a read cannot race.
            if !self.is_alone() {
                self.read_key(at, StepPart::Name, name, key, Reader::Inside);
            }
            self.check_read_type(at, StepPart::Name, key as u32, spec, NONE, module);
        }
    }

    /// Checks an output that is renamed to a key that the nested workflow also uses as a key of the
    /// session. Inside the nested workflow, the output and that key are then one key: two
    /// concurrent steps may access it, and an input of the output's name replaces its value when
    /// the workflow begins.
    pub(super) const fn same_inside(
        &mut self,
        at: usize,
        workflow: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
    ) {
        let mut i = 0;
        while i < renames.writes.len() && i < workflow.writes.len() {
            let (own, key) = (workflow.writes[i].name, renames.writes[i]);
            let is_used = contains(workflow.reads, key)
                || touches(workflow, renames, key, true)
                || touches(workflow, renames, key, false);
            if !same(own, key)
                && is_used
                && (runs_together(workflow) || contains(workflow.reads, own))
            {
                self.report(at, StepPart::Output, key, DiagnosticKind::SameInside(own));
            }
            i += 1;
        }
    }
}
