//! The data flow: `key-missing`, `key-maybe-missing`, `key-race`, `key-type`, `output-missing`, `loop-endless`,
//! `exit-outside-loop`, and the renamings of `field-unknown`.
//!
//! Two passes over the flat steps, both linear: the first fills a table of all keys that are written, the second is
//! definite assignment, as in a compiler, with sets of keys as bits.

pub(crate) mod closest;
mod describe;
mod effects;
mod keys;
mod session;
mod sets;
mod spelled;
mod types;
mod walk;

pub use types::{Pair, READS, WRITES};

use super::message::Message;
use crate::spec::{Spec, StepKind};
use keys::{Each, Key};
use types::{Asked, Row};
use walk::{Block, Room};

/// Where in a step a fault is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Its name.
    Name,
    /// The key of `until`, `match` or `each`.
    Key,
    /// What is written for a key that the instance writes.
    Output,
    /// What is written for a key that the instance reads.
    Renaming(usize),
    /// The key that is called otherwise there.
    Renamed(usize),
}

impl Part {
    /// As the macro counts.
    const fn number(self) -> usize {
        match self {
            Self::Name => 0,
            Self::Key => 1,
            Self::Output => 2,
            Self::Renaming(i) => 3 + 2 * i,
            Self::Renamed(i) => 4 + 2 * i,
        }
    }
}

/// What is wrong with a key at a step; outputs are counted behind the steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault<'a> {
    at: usize,
    part: Part,
    key: &'a str,
    flaw: Flaw<'a>,
}

impl Fault<'_> {
    pub(super) const NONE: Self = Self { at: 0, part: Part::Name, key: "", flaw: Flaw::Endless };
}

#[derive(Clone, Copy, Debug)]
enum Flaw<'a> {
    Unwritten {
        reader: Reader<'a>,
    },
    Race {
        parallel: usize,
        writes: bool,
        reader: Reader<'a>,
    },
    /// A key of the session that all elements of an `each` write.
    EachRace,
    /// An output is called like a key of the session that the workflow uses besides.
    SameInside {
        own: &'a str,
    },
    /// Written inside an `each` and outside of one.
    Mixed,
    /// Read as another type.
    ReadAs {
        ty: &'a str,
        writer: keys::Writer<'a>,
    },
    /// Written as another type than before.
    WrittenAs {
        ty: &'a str,
        writer: keys::Writer<'a>,
    },
    /// Whether it is read, or written, as the type of its writer cannot be told.
    Untold {
        ty: &'a str,
        reads: bool,
        /// How many pairs of types the workflow has compared, when it has no room for one more.
        full: Option<usize>,
        writer: keys::Writer<'a>,
    },
    NoSuchRead,
    OtherWrites,
    /// Two keys that an instance writes get one name.
    SameWrites,
    NoOutput,
    Endless,
    ExitOutside,
}

impl Flaw<'_> {
    /// Whether it is said once per key.
    const fn is_of_key(&self) -> bool {
        !matches!(
            self,
            Self::NoSuchRead | Self::OtherWrites | Self::SameWrites | Self::Endless | Self::ExitOutside
        )
    }
}

impl Flaw<'_> {
    /// Whether it is about the type of a key, of which every step is told.
    const fn is_of_types(&self) -> bool {
        matches!(self, Self::ReadAs { .. } | Self::WrittenAs { .. } | Self::Untold { .. })
    }
}

/// What reads a key.
#[derive(Clone, Copy, Debug)]
enum Reader<'a> {
    Prompt {
        source: &'a str,
        target: Option<&'a str>,
    },
    Parameter {
        target: Option<&'a str>,
    },
    Until,
    Match,
    Each,
    /// An agent inside of a nested workflow.
    Inside,
}

/// How much room a check needs.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Keys.
    pub keys: usize,
    /// Places of the table of keys.
    pub slots: usize,
    /// Words of all sets.
    pub words: usize,
    /// Blocks inside blocks.
    pub depth: usize,
}

const fn words(keys: usize) -> usize {
    keys / 64 + 1
}

/// How much room the flow of a workflow needs.
pub(super) const fn sizes(spec: &Spec<'_>) -> Sizes {
    let declared = spec.inputs.len() + spec.lets.len() + spec.states.len();
    let keys = 2 + declared + keys::count(spec.steps);
    let (mut depth, mut deepest, mut steps) = (0_usize, 0, spec.steps);
    while let [step, rest @ ..] = steps {
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
        steps = rest;
    }
    Sizes {
        keys,
        slots: (2 * keys).next_power_of_two(),
        words: words(keys) * walk::sets(deepest),
        depth: deepest,
    }
}

/// The most faults that const evaluation tells at once.
const MOST: usize = 64;

/// The most that a remark about further faults takes in a message.
const REMARK: usize = 80;

/// What const evaluation found about the flow. It is what stays of a walk: rustc goes through all of a const once more.
#[derive(Debug)]
pub(super) struct Flow<'a, const PAIRS: usize, const BLOCKS: usize> {
    faults: [Fault<'a>; MOST],
    found: usize,
    /// There were more.
    lost: bool,
    pairs: [Pair; PAIRS],
    blocks: [[usize; 3]; BLOCKS],
}

/// What a walk knows at its end, as messages about blocks need it.
struct Seen<'a, const ROWS: usize, const KEYS: usize> {
    rows: [Row; ROWS],
    keys: [Key<'a>; KEYS],
}

/// Checks the flow in const evaluation; `ROWS` is the number of steps and outputs, `answers` what came out of comparing pairs
/// of types.
pub(super) const fn check<
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
    module: &'a str,
    answers: &[bool],
) -> Flow<'a, PAIRS, BLOCKS> {
    look::<ROWS, PAIRS, BLOCKS, KEYS, SLOTS, WORDS, DEPTH>(spec, module, answers).0
}

const fn look<
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
    module: &'a str,
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
        bits: &mut [0; WORDS],
        blocks: &mut [Block::EMPTY; DEPTH],
        faults: &mut flow.faults,
        rows: &mut seen.rows,
        asked: Some(Asked { pairs, count: 0, answers, blocks, module }),
    };
    (flow.found, flow.lost) = walk::walk(spec, room);
    (flow, seen)
}

/// Adds what is to say of a block whose key has no type that steers it. Few workflows come here, so the keys are looked at once
/// more for it.
pub(super) const fn tell_block<
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
    let (flow, seen) = look::<ROWS, PAIRS, 0, KEYS, SLOTS, WORDS, DEPTH>(spec, "", &[]);
    let (faults, _) = flow.faults.split_at(flow.found);
    types::tell(m, spec, &seen.keys, &seen.rows[at], at, faults);
}

impl<'a, const PAIRS: usize, const BLOCKS: usize> Flow<'a, PAIRS, BLOCKS> {
    /// Whether nothing is wrong.
    pub(super) const fn is_clean(&self) -> bool {
        self.found == 0
    }

    /// Adds what is wrong at a place to a message.
    pub(super) const fn describe(&self, m: &mut Message, spec: &Spec<'a>, at: usize, part: usize) {
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
        self.faults[fault].at == at && self.faults[fault].part.number() == part
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
    pub(super) const fn pairs(&self) -> &[Pair; PAIRS] {
        &self.pairs
    }

    /// The types that the macro looks up for blocks.
    pub(super) const fn blocks(&self) -> &[[usize; 3]; BLOCKS] {
        &self.blocks
    }
}

/// Checks the flow at run time: each fault with its step and its message.
pub(super) fn faults(spec: &Spec<'_>) -> Vec<(usize, Message)> {
    let sizes = sizes(spec);
    let most = sizes.keys + 4 * spec.steps.len() + spec.outputs.len() + 64;
    let mut faults = vec![Fault::NONE; most];
    let mut keys = vec![Key::EMPTY; sizes.keys];
    let mut rows = vec![Row::EMPTY; spec.steps.len() + spec.outputs.len()];
    let room = Room {
        keys: &mut keys,
        slots: &mut vec![0; sizes.slots],
        eaches: &mut vec![Each::NONE; sizes.depth],
        bits: &mut vec![0; sizes.words],
        blocks: &mut vec![Block::EMPTY; sizes.depth],
        faults: &mut faults,
        rows: &mut rows,
        asked: None,
    };
    let (found, _) = walk::walk(spec, room);
    faults.truncate(found);
    for fault in types::faults(spec, &keys, &rows) {
        if !types::is_told(&faults, fault.key, fault.at) {
            faults.push(fault);
        }
    }
    // Those of one step stand in the order of its parts, as they are written.
    faults.sort_by_key(|fault| fault.at);
    let tell = |fault: &Fault<'_>| {
        let mut message = Message::new();
        describe::fault(&mut message, spec, fault);
        (fault.at, message)
    };
    faults.iter().map(tell).collect()
}
