//! What an execution leaves open, one number after another.

use super::super::random::Random;

/// So many decisions are gone through one by one; those behind them are left to chance.
const DEEP: usize = 12;

/// Decisions: first those that are given, then random ones. All are kept, so that the next execution can differ from
/// this one in the last of them.
#[derive(Debug)]
pub struct Choices {
    /// What was chosen, and of how many.
    made: Vec<(u32, u32)>,
    at: usize,
    random: Random,
    one_by_one: bool,
}

impl Choices {
    /// By chance.
    pub fn random(seed: u64) -> Self {
        Self { made: Vec::new(), at: 0, random: Random::new(seed), one_by_one: false }
    }

    /// Each time the first; [`next`](Self::next) goes through all others.
    pub fn first(seed: u64) -> Self {
        Self { one_by_one: true, ..Self::random(seed) }
    }

    /// One of `of`.
    pub fn choose(&mut self, of: usize) -> usize {
        let of = of.max(1) as u32;
        if self.at == self.made.len() {
            let chance = !self.one_by_one || self.at >= DEEP;
            let chosen = if chance { self.random.below(u64::from(of)) as u32 } else { 0 };
            self.made.push((chosen, of));
        }
        let chosen = self.made[self.at].0;
        self.at += 1;
        chosen as usize
    }

    /// The next of all executions; `None` when there is none.
    pub fn next(mut self) -> Option<Self> {
        self.made.truncate(DEEP);
        while let Some((chosen, of)) = self.made.pop() {
            if chosen + 1 < of {
                self.made.push((chosen + 1, of));
                self.at = 0;
                return Some(self);
            }
        }
        None
    }
}
