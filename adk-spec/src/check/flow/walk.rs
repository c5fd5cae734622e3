//! [`Walk`]: definite assignment over the flat list of steps.

mod access;
mod agent;
mod blocks;
mod renamings;

use super::keys::{EVERY, EachScope, Key, KeyName, Keys, NEVER, NONE, Writer};
use super::types::{TypeRequests, is_reported};
use super::{DiagnosticKind, FlowDiagnostic, Reader, StepPart, TypeRow};
use crate::effects::{Act, Effects, is_alone, output_name};
use crate::number::is_secret;
use crate::sets::{Sets, Word};
use crate::spec::{AgentMeta, Spec, StepKind};
use crate::text::same;
pub(super) use blocks::{Block, sets};
use blocks::{BlockKind, SURE};

/// The tables that a walk fills, with the sizes from [`super::sizes`].
pub(super) struct WalkRoom<'t, 'a> {
    pub(super) keys: &'t mut [Key<'a>],
    pub(super) slots: &'t mut [usize],
    pub(super) eaches: &'t mut [EachScope],
    pub(super) bits: &'t mut [Word],
    pub(super) blocks: &'t mut [Block],
    pub(super) diagnostics: &'t mut [FlowDiagnostic<'a>],
    pub(super) rows: &'t mut [TypeRow],
    pub(super) requests: Option<TypeRequests<'t, 'a>>,
}

pub(super) struct Walk<'t, 'a> {
    pub(super) spec: Spec<'a>,
    pub(super) keys: Keys<'t, 'a>,
    sets: Sets<'t>,
    blocks: &'t mut [Block],
    depth: usize,
    /// Number of open blocks that are parallel.
    parallels: usize,
    pub(super) diagnostics: &'t mut [FlowDiagnostic<'a>],
    pub(super) found: usize,
    pub(super) rows: &'t mut [TypeRow],
    pub(super) requests: Option<TypeRequests<'t, 'a>>,
}

/// Checks a whole workflow. Returns the number of diagnostics.
pub(super) const fn walk<'a>(spec: &Spec<'a>, room: WalkRoom<'_, 'a>) -> usize {
    let words = super::words(room.keys.len());
    let mut walk = Walk {
        spec: *spec,
        keys: Keys::new(room.keys, room.slots, room.eaches),
        sets: Sets::new(room.bits, words),
        blocks: room.blocks,
        depth: 0,
        parallels: 0,
        diagnostics: room.diagnostics,
        found: 0,
        rows: room.rows,
        requests: room.requests,
    };
    walk.register();
    let (mut at, end) = (0, spec.steps.len());
    while at < end {
        walk.step(at);
        at += 1;
    }
    walk.outputs();
    walk.record_room();
    walk.found
}

impl<'a> Walk<'_, 'a> {
    const fn register(&mut self) {
        let steps = self.spec.steps;
        let mut i = 0;
        while let Some(key) = self.spec.declared_key(i) {
            self.keys.declare(key, steps.len() + i);
            i += 1;
        }
        // Declared keys exist from the start.
        let mut key = NEVER + 1;
        while key < self.keys.len() {
            let may_be_absent = match self.keys.all[key].writer {
                Some(writer) => writer.spec.optional,
                None => false,
            };
            if !may_be_absent {
                self.sets.add(SURE, key);
            }
            key += 1;
        }
        let (mut at, end) = (0, steps.len());
        while at < end {
            match steps[at].kind {
                StepKind::Agent { meta, .. } => self.register_agent(meta, at),
                StepKind::Each { item, .. } => {
                    self.keys.enter(at, item);
                }
                StepKind::Else => {
                    self.keys.enter_else(at);
                }
                StepKind::End if self.keys.ends(steps, at) => self.keys.leave(),
                _ => {}
            }
            at += 1;
        }
    }

    const fn register_agent(&mut self, meta: &'a AgentMeta<'a>, at: usize) {
        let renames = &self.spec.steps[at].renames;
        // The agent's own writes come first, because they decide the types that the writes of its
        // transfer targets and tools must have.
        let (plain, mut writes, mut slot) = (matches!(renames.writes, []), meta.writes, 0);
        while let [spec, rest @ ..] = writes {
            let own = if plain {
                self.keys.first_write(spec, at, slot)
            } else {
                EVERY
            };
            if own != EVERY && slot == 0 && is_alone(meta) {
                self.rows[at].own = own as u32;
            } else if own == EVERY {
                let writer = Writer {
                    spec: *spec,
                    at,
                    slot,
                    depth: 0,
                    module: None,
                };
                let name = if plain {
                    KeyName::from_spec(spec)
                } else {
                    KeyName::new(output_name(meta, renames, slot))
                };
                self.register_write(at, &name, writer);
            }
            (writes, slot) = (rest, slot + 1);
        }
        if is_alone(meta) {
            return;
        }
        let mut all = Effects::writes(meta, renames);
        while let Some(effect) = all.next() {
            if effect.is_inside {
                self.register_session(at, &effect, all.module());
            } else if let Act::May(spec) = effect.act {
                let writer = Writer {
                    spec,
                    at,
                    slot: NONE,
                    depth: 0,
                    module: all.module(),
                };
                self.register_write(at, &KeyName::new(effect.key), writer);
            }
        }
    }

    const fn register_write(&mut self, at: usize, name: &KeyName<'a>, writer: Writer<'a>) {
        let typed = self.is_typed(&writer);
        if self.keys.write(name, Some(writer), typed, false) {
            self.report(at, StepPart::Name, name.text(), DiagnosticKind::Mixed);
        }
    }

    /// Checks that each output is certain at the end.
    const fn outputs(&mut self) {
        let mut i = 0;
        while i < self.spec.outputs.len() {
            let (at, name) = (self.spec.steps.len() + i, self.spec.outputs[i].name);
            match self.keys.resolve(&KeyName::new(name)) {
                Some(key) if self.is_only_inside(&KeyName::new(name), Some(key)) => {
                    self.report(at, StepPart::Name, name, DiagnosticKind::OwnState);
                }
                Some(key) => {
                    self.check_output_type(at, key as u32, &self.spec.outputs[i]);
                    if !self.sets.has(SURE, key) {
                        self.report(at, StepPart::Name, name, DiagnosticKind::NoOutput);
                    }
                }
                None if !self.sets.has(SURE, EVERY) => {
                    self.report(at, StepPart::Name, name, DiagnosticKind::NoOutput)
                }
                None => {}
            }
            i += 1;
        }
    }

    /// Reports an error of a key, unless the key already has one.
    pub(super) const fn report(
        &mut self,
        at: usize,
        part: StepPart,
        key: &'a str,
        kind: DiagnosticKind<'a>,
    ) {
        let known = self.diagnostics.split_at(self.found).0;
        if !any!(diagnostic in known => same(diagnostic.key, key) && diagnostic.kind.is_of_key()) {
            self.push(FlowDiagnostic::new(at, part, key, kind));
        }
    }

    /// Reports a wrong type of a key, unless the key already has another diagnostic.
    pub(super) const fn mismatch(
        &mut self,
        at: usize,
        part: StepPart,
        key: &'a str,
        kind: DiagnosticKind<'a>,
    ) {
        let diagnostic = FlowDiagnostic::new(at, part, key, kind);
        if !is_reported(self.diagnostics.split_at(self.found).0, &diagnostic) {
            self.push(diagnostic);
        }
    }

    /// Adds a diagnostic. If the table of diagnostics is full, the diagnostic is dropped.
    const fn push(&mut self, diagnostic: FlowDiagnostic<'a>) {
        if self.found < self.diagnostics.len() {
            self.diagnostics[self.found] = diagnostic;
            self.found += 1;
        }
    }

    const fn step(&mut self, at: usize) {
        let step = &self.spec.steps[at];
        match step.kind {
            StepKind::Agent { meta, .. } => self.agent(at, meta, &step.renames),
            StepKind::Sequence => self.open(at, BlockKind::Sequence),
            StepKind::Parallel { first, .. } => self.open(at, BlockKind::Parallel { first }),
            StepKind::Try(_) => self.open(at, BlockKind::Try),
            StepKind::Else => self.open_else(at),
            StepKind::Branch | StepKind::Arm { .. } => self.open(at, BlockKind::Branch),
            StepKind::Loop { max, until } => {
                self.open(at, BlockKind::Loop);
                self.blocks[self.depth - 1].ends = max.is_some() || until.is_some();
            }
            StepKind::Match { key } => {
                let read = self.read(at, StepPart::Key, &KeyName::new(key), false, Reader::Match);
                self.check_steering_type(at, read);
                self.open(at, BlockKind::Match);
            }
            StepKind::Each { item, list, .. } => {
                let read = self.read(at, StepPart::Key, &KeyName::new(list), false, Reader::Each);
                self.check_steering_type(at, read);
                self.open(at, BlockKind::Each);
                let item = self.keys.enter(at, item);
                self.sets.add(SURE, item);
                // Records the list that the `each` iterates over.
                self.rows[at].own = read;
                if is_secret(self.keys.all[read as usize].number) {
                    self.keys.keep_secret(item);
                }
                if read == 0 {
                    // No step writes the list, so the type of its elements is unknown.
                    self.keys.forget_type(item);
                }
            }
            StepKind::Break { target } => {
                self.exit(at, target);
                self.sets.fill(SURE, true);
            }
            StepKind::End => self.close(),
        }
    }
}
