//! [`Facts`]: the result of all checks in const evaluation, and how the macro raises it.

use super::flow::{self, Pair};
pub use super::flow::{Sizes, sizes};
use super::labels::{self, Places};
use super::names::{self, NameDiagnostic};
use crate::message::Message;
use crate::spec::Spec;

/// The diagnostics that const evaluation found. `N` is the number of steps, `PAIRS` the capacity of
/// the list of [pairs](Pair) of types, and `BLOCKS` the number of steps where the types of block
/// keys are looked up.
#[derive(Debug)]
pub struct Facts<'a, const N: usize, const PAIRS: usize, const BLOCKS: usize> {
    names: [NameDiagnostic<'a>; N],
    flow: flow::FlowFacts<'a, PAIRS, BLOCKS>,
    labels: Places,
    /// Whether there are no diagnostics. Most workflows need no further check.
    clean: bool,
}

/// Checks a workflow of a module.
///
/// `answers` are the results of comparing pairs of types, if they are known. `names_checked` is
/// true if the macro has already reported all errors in the names of the workflow's own steps.
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
    let (flow, _) =
        flow::check_flow::<ROWS, PAIRS, BLOCKS, KEYS, SLOTS, WORDS, DEPTH>(spec, module, answers);
    let labels = labels::find(spec);
    let clean = named && flow.is_clean() && labels.is_clean();
    Facts {
        names,
        flow,
        labels,
        clean,
    }
}

/// Returns whether all compared types are equal.
pub const fn all(answers: &[bool]) -> bool {
    !any!(equal in answers => !*equal)
}

impl<'a, const N: usize, const PAIRS: usize, const BLOCKS: usize> Facts<'a, N, PAIRS, BLOCKS> {
    /// Removes the diagnostics of names, for a macro that has already reported them.
    #[must_use]
    pub const fn without_names(mut self) -> Self {
        self.names = [NameDiagnostic::None; N];
        self
    }

    /// Returns whether there are diagnostics. The bounds of a faulty workflow are not checked, and
    /// workflows around it treat it as a stub.
    pub const fn is_faulty(&self) -> bool {
        !self.clean
    }

    /// Ends const evaluation if there are diagnostics at a part of a step or of an output. `at` is
    /// the index of the step; outputs are numbered after the steps.
    #[track_caller]
    pub const fn raise(&self, spec: &Spec<'a>, at: usize, part: usize) {
        if !self.clean {
            self.message(spec, at, part).raise();
        }
    }

    /// Ends const evaluation if there are diagnostics at the key of a block. `fits` says whether
    /// the type of the key can steer the block.
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
        if part == 0 {
            labels::describe_into(&mut message, spec, &self.labels, at);
        }
        message
    }

    /// Returns the pairs of types that the macro compares.
    pub const fn pairs(&self) -> &[Pair; PAIRS] {
        self.flow.pairs()
    }

    /// Returns the types that the macro looks up for blocks.
    pub const fn blocks(&self) -> &[[usize; 3]; BLOCKS] {
        self.flow.blocks()
    }
}
