//! What const evaluation finds about the flow.

use super::describe;
use super::fault::Fault;
use super::keys::{Each, Key};
use super::sets::NO_KEYS;
use super::types::{self, Asked, Pair, Row};
use super::walk::{self, Block, Room};
use crate::check::message::Message;
use crate::check::text::same;
use crate::spec::Spec;

/// The most faults that const evaluation tells at once.
const MOST: usize = 64;

/// The most that a remark about further faults takes in a message.
const REMARK: usize = 80;

/// What const evaluation found about the flow. It is what stays of a walk: rustc goes through all of a const once more.
#[derive(Debug)]
pub(in crate::check) struct Flow<'a, const PAIRS: usize, const BLOCKS: usize> {
    faults: [Fault<'a>; MOST],
    found: usize,
    /// There were more.
    lost: bool,
    pairs: [Pair; PAIRS],
    blocks: [[usize; 3]; BLOCKS],
}

/// What a walk knows at its end, as messages about blocks need it.
pub(in crate::check) struct Seen<'a, const ROWS: usize, const KEYS: usize> {
    rows: [Row; ROWS],
    keys: [Key<'a>; KEYS],
}

/// Checks the flow in const evaluation; `ROWS` is the number of steps and outputs, `answers` what came out of comparing pairs
/// of types.
pub(in crate::check) const fn look<
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
) -> (Flow<'a, PAIRS, BLOCKS>, Seen<'a, ROWS, KEYS>) {
    let mut flow = Flow {
        faults: [Fault::NONE; MOST],
        found: 0,
        lost: false,
        pairs: [Pair::EMPTY; PAIRS],
        blocks: [[0; 3]; BLOCKS],
    };
    let mut seen = Seen { rows: [Row::EMPTY; ROWS], keys: [Key::EMPTY; KEYS] };
    let (pairs, blocks) = (&mut flow.pairs, &mut flow.blocks);
    let room = Room {
        keys: &mut seen.keys,
        slots: &mut [0; SLOTS],
        eaches: &mut [Each::NONE; DEPTH],
        bits: &mut [NO_KEYS; WORDS],
        blocks: &mut [Block::EMPTY; DEPTH],
        faults: &mut flow.faults,
        rows: &mut seen.rows,
        asked: Some(Asked { pairs, count: 0, lacking: 0, answers, blocks, module }),
    };
    (flow.found, flow.lost) = walk::walk(spec, room);
    (flow, seen)
}

/// Adds what is to say of a block whose key has no type that steers it. Few workflows come here, so the keys are looked at once
/// more for it.
pub(in crate::check) const fn tell_block<
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
    let (flow, seen) = look::<ROWS, PAIRS, 0, KEYS, SLOTS, WORDS, DEPTH>(spec, ("", 0), &[]);
    let (faults, _) = flow.faults.split_at(flow.found);
    types::tell(m, spec, &seen.keys, &seen.rows[at], at, faults);
}

impl<'a, const PAIRS: usize, const BLOCKS: usize> Flow<'a, PAIRS, BLOCKS> {
    /// Whether nothing is wrong.
    pub(in crate::check) const fn is_clean(&self) -> bool {
        self.found == 0
    }

    /// Whether something is wrong with the type of a key; or, where `keys` are asked for as well, something that may be mended by
    /// declaring other ones.
    pub(in crate::check) const fn misdeclares(&self, keys: bool) -> bool {
        let mut i = 0;
        while i < self.found {
            let flaw = self.faults[i].flaw;
            if flaw.is_of_types() || keys && flaw.is_of_declaring() {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether something is told of the type of that key.
    pub(in crate::check) const fn mistypes(&self, key: &str) -> bool {
        let mut i = 0;
        while i < self.found {
            if self.faults[i].flaw.is_of_types() && same(self.faults[i].key, key) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Adds what is wrong at a place to a message.
    pub(in crate::check) const fn describe(&self, m: &mut Message, spec: &Spec<'a>, at: usize, part: usize) {
        let mut i = 0;
        while i < self.found {
            if self.is_at(i, at, part) {
                let before = m.len();
                m.line();
                describe::fault(m, spec, &self.faults[i]);
                if before > 0 && m.is_full(REMARK) {
                    m.back_to(before);
                    return self.more(m, i, at, part);
                }
                if i + 1 == MOST && self.lost {
                    m.line();
                    m.push("help: this workflow has more faults than are told at once; mend these first");
                }
            }
            i += 1;
        }
    }

    const fn is_at(&self, fault: usize, at: usize, part: usize) -> bool {
        let Fault { at: own, part: shown, flaw, .. } = self.faults[fault];
        own == at && shown.number() == part && flaw.is_told()
    }

    /// Says how many faults of a place do not fit into its message.
    const fn more(&self, m: &mut Message, first: usize, at: usize, part: usize) {
        let (mut count, mut i) = (0, first);
        while i < self.found {
            count += self.is_at(i, at, part) as i128;
            i += 1;
        }
        m.push("\nhelp: ");
        m.number(count);
        m.push(if count == 1 { " more fault stands" } else { " more faults stand" });
        m.push(" here; mend these first");
    }

    /// The pairs of types that the macro compares.
    pub(in crate::check) const fn pairs(&self) -> &[Pair; PAIRS] {
        &self.pairs
    }

    /// The types that the macro looks up for blocks.
    pub(in crate::check) const fn blocks(&self) -> &[[usize; 3]; BLOCKS] {
        &self.blocks
    }
}
