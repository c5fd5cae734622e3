//! Arithmetic on bounds: `None` is unbounded, and numbers saturate.

use super::Cost;

/// The cost of some steps, and the step with the largest share.
#[derive(Clone, Copy)]
pub(crate) struct Sum<'a> {
    pub(crate) costs: Costs,
    pub(crate) largest: CostShare<'a>,
    /// Whether any of the steps may end a loop around them.
    pub(crate) exits: bool,
}

/// The share of one step in a cost.
#[derive(Clone, Copy)]
pub(crate) struct CostShare<'a> {
    pub(crate) name: &'a str,
    /// The nested workflow around the step, if any.
    pub(crate) inside: &'a str,
    pub(crate) total: u64,
    pub(crate) kind: ShareKind,
}

/// The kind of the step that has a share.
#[derive(Clone, Copy)]
pub(crate) enum ShareKind {
    /// An agent, with the number of model calls in each of its turns.
    Agent(u64),
    /// A loop, with its rounds and the cost of each.
    Loop(u32, u64),
    /// An `each`, with its elements and the cost of each.
    Each(u32, u64),
    /// A `try`, with its attempts and the cost of each.
    Try(u32, u64),
    /// A workflow in which no step has more than half of the cost. The workflow itself has no limit
    /// to lower.
    Workflow,
    Block,
}

impl ShareKind {
    /// Returns the word for the step in messages.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Agent(_) => "agent",
            Self::Loop(..) => "loop",
            Self::Try(..) => "try",
            Self::Workflow => "workflow",
            Self::Each(..) | Self::Block => "block",
        }
    }

    /// Returns the words for the repetitions of a block, such as `in`, 5, `rounds`. All of them
    /// cost the same.
    pub(crate) const fn parts(self) -> Option<(&'static str, u32, &'static str)> {
        match self {
            Self::Loop(max, _) => Some(("in", max, "rounds")),
            Self::Each(max, _) => Some(("for", max, "elements")),
            Self::Try(max, _) => Some(("in", max, "attempts")),
            Self::Agent(_) | Self::Workflow | Self::Block => None,
        }
    }
}

impl<'a> Sum<'a> {
    pub(crate) const NOTHING: Self = Self {
        costs: Costs::NOTHING,
        largest: CostShare {
            name: "",
            inside: "",
            total: 0,
            kind: ShareKind::Agent(1),
        },
        exits: false,
    };

    /// Makes the enclosing step the one with the largest share, unless a step inside it is more
    /// useful to name: a step with a limit to lower, or with more than half of the cost.
    pub(crate) const fn gather(
        mut self,
        name: &'a str,
        inside: &'a str,
        kind: ShareKind,
        cost: Cost,
    ) -> Self {
        if let Some(total) = self.costs.get(cost)
            && total > 1
            && match self.largest.kind {
                ShareKind::Agent(_)
                | ShareKind::Loop(..)
                | ShareKind::Each(..)
                | ShareKind::Try(..) => self.largest.total <= 1,
                ShareKind::Workflow | ShareKind::Block => self.largest.total <= total / 2,
            }
        {
            self.largest = CostShare {
                name,
                inside,
                total,
                kind,
            };
        }
        self
    }

    /// Returns the cost of a nested workflow, which no exit leaves.
    pub(crate) const fn without_exits(self) -> Self {
        Self {
            exits: false,
            ..self
        }
    }

    /// Adds steps that run in sequence.
    pub(crate) const fn add(&mut self, other: &Sum<'a>) {
        self.costs = self.costs.plus(other.costs);
        self.merge_largest(other);
    }

    /// Adds steps that run concurrently: only the longest of them takes time.
    pub(crate) const fn add_concurrent(&mut self, other: &Sum<'a>) {
        let time = self.costs.worst(other.costs).get(Cost::Time);
        self.costs = self.costs.plus(other.costs).set(Cost::Time, time);
        self.merge_largest(other);
    }

    const fn merge_largest(&mut self, other: &Sum<'a>) {
        if other.largest.total > self.largest.total {
            self.largest = other.largest;
        }
        self.exits = self.exits || other.exits;
    }

    /// Adds an alternative to the steps so far: only one of them runs, so the larger cost counts.
    pub(crate) const fn add_alternative(&mut self, other: &Sum<'a>, cost: Cost) {
        if less(self.costs.get(cost), other.costs.get(cost)) {
            self.largest = other.largest;
        }
        self.exits = self.exits || other.exits;
        self.costs = self.costs.worst(other.costs);
    }
}

/// The amount of each cost, in the order of [`Cost::ALL`].
#[derive(Clone, Copy)]
pub(crate) struct Costs([Option<u64>; Cost::ALL.len()]);

/// Builds [`Costs`] from an expression for each index.
macro_rules! costs {
    ($at:ident => $cost:expr) => {{
        let (mut costs, mut $at) = ([None; Cost::ALL.len()], 0);
        while $at < costs.len() {
            costs[$at] = $cost;
            $at += 1;
        }
        Self(costs)
    }};
}

impl Costs {
    pub(crate) const NOTHING: Self = Self([Some(0); Cost::ALL.len()]);

    pub(crate) const fn get(&self, cost: Cost) -> Option<u64> {
        self.0[cost as usize]
    }

    pub(crate) const fn set(mut self, cost: Cost, amount: Option<u64>) -> Self {
        self.0[cost as usize] = amount;
        self
    }

    const fn plus(self, other: Self) -> Self {
        costs!(i => add(self.0[i], other.0[i]))
    }

    const fn worst(self, other: Self) -> Self {
        costs!(i => if less(self.0[i], other.0[i]) { other.0[i] } else { self.0[i] })
    }

    pub(crate) const fn times(self, rounds: u32) -> Self {
        costs!(i => times(self.0[i], rounds))
    }

    /// Returns the costs of an unlimited number of repetitions. Only a cost of zero stays bounded.
    pub(crate) const fn endless(self) -> Self {
        costs!(i => if let Some(0) = self.0[i] { Some(0) } else { None })
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

const fn less(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a < b,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
