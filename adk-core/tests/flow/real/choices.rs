//! [`Choices`]: the decisions that an execution leaves open, as a sequence of numbers.

use super::super::random::Random;

/// The number of decisions that are enumerated; later ones are random.
const DEEP: usize = 12;

/// Decisions: first the given ones, then random ones. All are kept, so that the next execution can
/// differ from this one in its last decision.
#[derive(Debug)]
pub struct Choices {
    /// Each decision with its number of options.
    made: Vec<(u32, u32)>,
    at: usize,
    random: Random,
    one_by_one: bool,
}

impl Choices {
    /// Returns random decisions.
    pub fn random(seed: u64) -> Self {
        Self {
            made: Vec::new(),
            at: 0,
            random: Random::new(seed),
            one_by_one: false,
        }
    }

    /// Always takes the first option; [`next`](Self::next) enumerates the others.
    pub fn first(seed: u64) -> Self {
        Self {
            one_by_one: true,
            ..Self::random(seed)
        }
    }

    /// Chooses one of `options`.
    pub fn choose(&mut self, options: usize) -> usize {
        let options = options.max(1) as u32;
        if self.at == self.made.len() {
            let chance = !self.one_by_one || self.at >= DEEP;
            let chosen = if chance {
                self.random.below(u64::from(options)) as u32
            } else {
                0
            };
            self.made.push((chosen, options));
        }
        let chosen = self.made[self.at].0;
        self.at += 1;
        chosen as usize
    }

    /// Returns the next execution, or `None` after the last.
    pub fn next(mut self) -> Option<Self> {
        self.made.truncate(DEEP);
        while let Some((chosen, options)) = self.made.pop() {
            if chosen + 1 < options {
                self.made.push((chosen + 1, options));
                self.at = 0;
                return Some(self);
            }
        }
        None
    }
}
