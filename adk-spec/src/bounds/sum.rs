//! Arithmetic on bounds: `None` is without end, and nothing overflows.

use super::{Bounds, Cost};

/// What some steps cost, and who has the largest part in it.
#[derive(Clone, Copy)]
pub(crate) struct Sum<'a> {
    pub(crate) bounds: Bounds,
    pub(crate) largest: Part<'a>,
    /// Whether something in it may end a loop around it.
    pub(crate) exits: bool,
}

/// The part of a cost that one step has.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    /// The nested workflow around it, if any.
    pub(crate) inside: &'a str,
    pub(crate) total: u64,
    pub(crate) kind: Kind,
}

/// What such a step is.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Agent,
    /// Its rounds and what each costs.
    Loop(u32, u64),
    /// Its elements and what each costs.
    Each(u32, u64),
    /// Its attempts and what each costs.
    Try(u32, u64),
    /// Nothing in it can be made less by itself, and no other such step in it has more than a half of it.
    Workflow,
    Block,
}

impl<'a> Sum<'a> {
    pub(crate) const NOTHING: Self = Self {
        bounds: Bounds::NOTHING,
        largest: Part { name: "", inside: "", total: 0, kind: Kind::Agent },
        exits: false,
    };

    /// The same as the part of the step around it, unless something in it is to be named instead.
    pub(crate) const fn gathered(mut self, name: &'a str, inside: &'a str, kind: Kind, cost: Cost) -> Self {
        if let Some(total) = cost.of(self.bounds)
            && total > 1
            && match self.largest.kind {
                Kind::Agent | Kind::Loop(..) | Kind::Each(..) | Kind::Try(..) => self.largest.total <= 1,
                Kind::Workflow | Kind::Block => self.largest.total <= total / 2,
            }
        {
            self.largest = Part { name, inside, total, kind };
        }
        self
    }

    /// The cost of a nested workflow: no exit leaves it.
    pub(crate) const fn closed(self) -> Self {
        Self { exits: false, ..self }
    }

    /// One after the other, or at the same time.
    pub(crate) const fn add(&mut self, other: &Sum<'a>) {
        self.bounds.model_calls = add(self.bounds.model_calls, other.bounds.model_calls);
        self.bounds.rounds = add(self.bounds.rounds, other.bounds.rounds);
        if other.largest.total > self.largest.total {
            self.largest = other.largest;
        }
        self.exits = self.exits || other.exits;
    }

    /// Either the one or the other.
    pub(crate) const fn or(&mut self, other: &Sum<'a>, cost: Cost) {
        if less(cost.of(self.bounds), cost.of(other.bounds)) {
            self.largest = other.largest;
        }
        self.exits = self.exits || other.exits;
        if less(self.bounds.model_calls, other.bounds.model_calls) {
            self.bounds.model_calls = other.bounds.model_calls;
        }
        if less(self.bounds.rounds, other.bounds.rounds) {
            self.bounds.rounds = other.bounds.rounds;
        }
    }
}

pub(crate) const fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        _ => None,
    }
}

pub(crate) const fn times(a: Option<u64>, rounds: u32) -> Option<u64> {
    match a {
        Some(a) => Some(a.saturating_mul(rounds as u64)),
        None => None,
    }
}

/// Any number of times: nothing remains nothing.
pub(crate) const fn endless(a: Option<u64>) -> Option<u64> {
    match a {
        Some(0) => Some(0),
        _ => None,
    }
}

const fn less(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a < b,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
