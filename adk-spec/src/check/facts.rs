//! What const evaluation finds about a whole workflow, and how the macro raises it.

use super::flow::{self, Pair};
pub use super::flow::{Sizes, sizes};
use super::names::{self, NameDiagnostic};
use crate::message::Message;
use crate::spec::Spec;

/// What const evaluation found. `N` is the number of steps, `PAIRS` how many pairs of types there is room for, `BLOCKS` the
/// number of steps where types of keys of blocks are looked up.
#[derive(Debug)]
pub struct Facts<'a, const N: usize, const PAIRS: usize, const BLOCKS: usize> {
    names: [NameDiagnostic<'a>; N],
    flow: flow::FlowFacts<'a, PAIRS, BLOCKS>,
    /// Nothing is wrong: most workflows are asked no further.
    clean: bool,
}

/// Checks a workflow of that module; `answers` is what came out of comparing pairs of types, where that is known, and `names_checked` says
/// that the macro has names_checked whatever is wrong with the names of its own steps.
pub const fn facts<
    'a,
    const N: usize,
    const ROWS: usize,
    const PAIRS: usize,
    const BLOCKS: usize,
    const NAMES: usize,
    const KEYS: usize,
    const SLOTS: usize,
    const WORDS: usize,
    const DEPTH: usize,
>(
    spec: &Spec<'a>,
    module: (&'a str, u64),
    answers: &[bool],
    names_checked: bool,
) -> Facts<'a, N, PAIRS, BLOCKS> {
    let mut names = [NameDiagnostic::None; N];
    let named = names::find(spec, &mut [None; NAMES], &mut names, names_checked);
    let (flow, _) = flow::check_flow::<ROWS, PAIRS, BLOCKS, KEYS, SLOTS, WORDS, DEPTH>(spec, module, answers);
    let clean = named && flow.is_clean();
    Facts { names, flow, clean }
}

/// Whether all types that were compared are equal.
pub const fn all(answers: &[bool]) -> bool {
    !any!(equal in answers => !*equal)
}

impl<'a, const N: usize, const PAIRS: usize, const BLOCKS: usize> Facts<'a, N, PAIRS, BLOCKS> {
    /// The same without what is wrong with names, where a macro has reported that.
    #[must_use]
    pub const fn without_names(mut self) -> Self {
        self.names = [NameDiagnostic::None; N];
        self
    }

    /// Whether something is wrong: then its bounds are not checked, and it is a stub to workflows around it.
    pub const fn is_faulty(&self) -> bool {
        !self.clean
    }

    /// Ends const evaluation when something is wrong at a place: a part of a step, or of an output, which follow the steps.
    #[track_caller]
    pub const fn raise(&self, spec: &Spec<'a>, at: usize, part: usize) {
        if !self.clean {
            self.message(spec, at, part).raise();
        }
    }

    /// The same for the key of a block; `fits` says whether its type is one that steers the block.
    #[track_caller]
    pub const fn raise_block<
        const ROWS: usize,
        const KEYS: usize,
        const SLOTS: usize,
        const WORDS: usize,
        const DEPTH: usize,
    >(
        &self,
        spec: &Spec<'a>,
        at: usize,
        part: usize,
        fits: bool,
    ) {
        if self.clean && fits {
            return;
        }
        let mut message = self.message(spec, at, part);
        if !fits {
            flow::describe_block::<ROWS, PAIRS, KEYS, SLOTS, WORDS, DEPTH>(&mut message, spec, at);
        }
        message.raise();
    }

    const fn message(&self, spec: &Spec<'a>, at: usize, part: usize) -> Message {
        let mut message = Message::new();
        if part == 0 && at < N {
            names::describe_into(&mut message, spec, &spec.steps[at], &self.names[at]);
        }
        self.flow.describe(&mut message, spec, at, part);
        message
    }

    /// The pairs of types that the macro compares.
    pub const fn pairs(&self) -> &[Pair; PAIRS] {
        self.flow.pairs()
    }

    /// The types that the macro looks up for blocks.
    pub const fn blocks(&self) -> &[[usize; 3]; BLOCKS] {
        self.flow.blocks()
    }
}
