//! The data flow: `key-missing`, `key-maybe-missing`, `key-race`, `key-type`, `output-missing`,
//! `loop-endless`, `exit-outside-loop`, and the renamings of `field-unknown`.
//!
//! Two linear passes go over the flat steps. The first pass fills a table of all written keys. The
//! second pass is definite assignment, as in a compiler, with sets of keys as bits.

mod describe;
mod diagnostic;
mod facts;
mod keys;
mod session;
mod types;
mod walk;

pub(in crate::check) use facts::{FlowFacts, check_flow, describe_block};
pub(in crate::check) use keys::count;
pub use types::{Pair, READS, WRITES};

use super::names;
use crate::message::Message;
use crate::sets::{NO_KEYS, PER_WORD};
use crate::spec::{Spec, StepKind};
use diagnostic::{DiagnosticKind, FlowDiagnostic, Reader, StepPart};
use keys::{EachScope, Key};
use types::TypeRow;
use walk::{Block, WalkRoom};

/// The sizes of the tables that a check fills. Const evaluation cannot allocate, so the tables have
/// a fixed size.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Size of the hash table of names.
    pub names: usize,
    /// Number of keys.
    pub keys: usize,
    /// Size of the hash table of keys.
    pub slots: usize,
    /// Number of words in which the sets of keys are stored, one bit per key.
    pub words: usize,
    /// Depth of nested blocks.
    pub depth: usize,
}

const fn words(keys: usize) -> usize {
    keys / PER_WORD + 1
}

/// Computes the sizes of the tables for a workflow.
pub const fn sizes(spec: &Spec<'_>) -> Sizes {
    let declared = spec.inputs.len() + spec.lets.len() + spec.states.len();
    let keys = 2 + declared + keys::count(spec.steps);
    let (mut depth, mut deepest) = (0_usize, 0);
    each!(step in spec.steps => {
        match step.kind {
            StepKind::Agent { .. } | StepKind::Break { .. } => {}
            StepKind::End => depth = depth.saturating_sub(1),
            _ => {
                depth += 1;
                if depth > deepest {
                    deepest = depth;
                }
            }
        }
    });
    Sizes {
        names: names::slots(spec),
        keys,
        slots: (2 * keys).next_power_of_two(),
        words: words(keys) * walk::sets(deepest),
        depth: deepest,
    }
}

/// Checks the flow at run time. Returns the step and the message of each diagnostic.
pub(super) fn diagnostics(spec: &Spec<'_>) -> Vec<(usize, Message)> {
    if spec.has_stub() {
        return Vec::new();
    }
    let sizes = sizes(spec);
    let most = sizes.keys + 4 * spec.steps.len() + spec.outputs.len() + 64;
    let mut diagnostics = vec![FlowDiagnostic::NONE; most];
    let mut keys = vec![Key::EMPTY; sizes.keys];
    let mut rows = vec![TypeRow::EMPTY; spec.steps.len() + spec.outputs.len()];
    let room = WalkRoom {
        keys: &mut keys,
        slots: &mut vec![0; sizes.slots],
        eaches: &mut vec![EachScope::NONE; sizes.depth],
        bits: &mut vec![NO_KEYS; sizes.words],
        blocks: &mut vec![Block::EMPTY; sizes.depth],
        diagnostics: &mut diagnostics,
        rows: &mut rows,
        requests: None,
    };
    let found = walk::walk(spec, room);
    diagnostics.truncate(found);
    for diagnostic in types::diagnostics(spec, &keys, &rows) {
        if !types::is_reported(&diagnostics, &diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
    // The sort is stable: diagnostics of one step keep the order of its parts.
    diagnostics.sort_by_key(|diagnostic| diagnostic.at);
    let describe = |diagnostic: &FlowDiagnostic<'_>| {
        let mut message = Message::new();
        describe::diagnostic(&mut message, spec, diagnostic);
        (diagnostic.at, message)
    };
    diagnostics.iter().map(describe).collect()
}
