//! [`FlowFacts`]: the diagnostics that const evaluation finds in the flow.

use super::describe;
use super::diagnostic::FlowDiagnostic;
use super::keys::{EachScope, Key};
use super::types::{self, Pair, TypeRequests, TypeRow};
use super::walk::{self, Block, WalkRoom};
use crate::message::Message;
use crate::sets::NO_KEYS;
use crate::spec::Spec;

/// The largest number of diagnostics that const evaluation reports at once.
const MOST: usize = 64;

/// The result of a walk. The large tables are in [`WalkTables`], because this result becomes a
/// constant, and rustc traverses every constant once more.
#[derive(Debug)]
pub(in crate::check) struct FlowFacts<'a, const PAIRS: usize, const BLOCKS: usize> {
    diagnostics: [FlowDiagnostic<'a>; MOST],
    found: usize,
    /// Whether a stub may have caused the diagnostics. Then they are not reported.
    doubtful: bool,
    pairs: [Pair; PAIRS],
    blocks: [[usize; 3]; BLOCKS],
}

/// The tables that a walk has filled. Messages about blocks need them.
pub(in crate::check) struct WalkTables<'a, const ROWS: usize, const KEYS: usize> {
    rows: [TypeRow; ROWS],
    keys: [Key<'a>; KEYS],
}

/// Checks the flow in const evaluation. `ROWS` is the number of steps and outputs, and `answers`
/// are the results of comparing pairs of types.
pub(in crate::check) const fn check_flow<
    'a,
    const ROWS: usize,
    const PAIRS: usize,
    const BLOCKS: usize,
    const KEYS: usize,
    const SLOTS: usize,
    const WORDS: usize,
    const DEPTH: usize,
>(
    spec: &Spec<'a>,
    module: (&'a str, u64),
    answers: &[bool],
) -> (FlowFacts<'a, PAIRS, BLOCKS>, WalkTables<'a, ROWS, KEYS>) {
    let mut flow = FlowFacts {
        diagnostics: [FlowDiagnostic::NONE; MOST],
        found: 0,
        doubtful: false,
        pairs: [Pair::EMPTY; PAIRS],
        blocks: [[0; 3]; BLOCKS],
    };
    let mut tables = WalkTables {
        rows: [TypeRow::EMPTY; ROWS],
        keys: [Key::EMPTY; KEYS],
    };
    let (pairs, blocks) = (&mut flow.pairs, &mut flow.blocks);
    let room = WalkRoom {
        keys: &mut tables.keys,
        slots: &mut [0; SLOTS],
        eaches: &mut [EachScope::NONE; DEPTH],
        bits: &mut [NO_KEYS; WORDS],
        blocks: &mut [Block::EMPTY; DEPTH],
        diagnostics: &mut flow.diagnostics,
        rows: &mut tables.rows,
        requests: Some(TypeRequests {
            pairs,
            count: 0,
            lacking: 0,
            answers,
            blocks,
            module,
        }),
    };
    flow.found = walk::walk(spec, room);
    // The search for stubs comes last, because most workflows have no diagnostics.
    if flow.found > 0 && spec.has_stub() {
        (flow.found, flow.doubtful) = (0, true);
    }
    (flow, tables)
}

/// Adds the message about a block whose key has a type that cannot steer the block. Few workflows
/// need this message, so the walk is repeated for it.
pub(in crate::check) const fn describe_block<
    'a,
    const ROWS: usize,
    const PAIRS: usize,
    const KEYS: usize,
    const SLOTS: usize,
    const WORDS: usize,
    const DEPTH: usize,
>(
    m: &mut Message,
    spec: &Spec<'a>,
    at: usize,
) {
    let (flow, tables) =
        check_flow::<ROWS, PAIRS, 0, KEYS, SLOTS, WORDS, DEPTH>(spec, ("", 0), &[]);
    let (diagnostics, _) = flow.diagnostics.split_at(flow.found);
    types::describe_block(m, spec, &tables.keys, &tables.rows[at], at, diagnostics);
}

impl<'a, const PAIRS: usize, const BLOCKS: usize> FlowFacts<'a, PAIRS, BLOCKS> {
    /// Returns whether there are no diagnostics.
    pub(in crate::check) const fn is_clean(&self) -> bool {
        self.found == 0 && !self.doubtful
    }

    /// Adds the diagnostics at a part of a step to a message.
    pub(in crate::check) const fn describe(
        &self,
        m: &mut Message,
        spec: &Spec<'a>,
        at: usize,
        part: usize,
    ) {
        each!(diagnostic in self.diagnostics.split_at(self.found).0 => {
            if diagnostic.at == at && diagnostic.part.number() == part {
                m.line();
                describe::diagnostic(m, spec, diagnostic);
            }
        });
    }

    /// Returns the pairs of types that the macro compares.
    pub(in crate::check) const fn pairs(&self) -> &[Pair; PAIRS] {
        &self.pairs
    }

    /// Returns the types that the macro looks up for blocks.
    pub(in crate::check) const fn blocks(&self) -> &[[usize; 3]; BLOCKS] {
        &self.blocks
    }
}
