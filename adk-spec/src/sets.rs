//! Sets of keys as bits, all in one slice.
//!
//! Const evaluation pays for each statement, regardless of its size, and copies an array in one
//! statement. A word of a set is therefore an array of many bits, and an operation on a word has no
//! loop.

/// One bit for each of [`PER_WORD`] keys.
pub(crate) type Word = [u128; PARTS];

pub(crate) const NO_KEYS: Word = [0; PARTS];
const ALL_KEYS: Word = [!0; PARTS];
const PARTS: usize = 8;
const PER_PART: usize = 128;
pub(crate) const PER_WORD: usize = PARTS * PER_PART;

/// Combines two sets, word by word.
macro_rules! combine {
    ($sets:ident, $set:ident $op:tt $other:ident) => {
        let mut i = 0;
        while i < $sets.words {
            let [a, b, c, d, e, f, g, h] = $sets.bits[$other * $sets.words + i];
            let [p, q, r, s, t, u, v, w] = &mut $sets.bits[$set * $sets.words + i];
            *p $op a;
            *q $op b;
            *r $op c;
            *s $op d;
            *t $op e;
            *u $op f;
            *v $op g;
            *w $op h;
            i += 1;
        }
    };
}

/// Sets over the same keys. Each set is addressed by its index.
#[derive(Debug)]
pub(crate) struct Sets<'t> {
    bits: &'t mut [Word],
    /// Words per set.
    words: usize,
}

impl<'t> Sets<'t> {
    /// Creates sets of `words` words each.
    pub(crate) const fn new(bits: &'t mut [Word], words: usize) -> Self {
        Self { bits, words }
    }

    pub(crate) const fn has(&self, set: usize, key: usize) -> bool {
        self.bits[set * self.words + key / PER_WORD][key / PER_PART % PARTS] >> (key % PER_PART) & 1
            == 1
    }

    pub(crate) const fn add(&mut self, set: usize, key: usize) {
        self.bits[set * self.words + key / PER_WORD][key / PER_PART % PARTS] |=
            1 << (key % PER_PART);
    }

    pub(crate) const fn remove(&mut self, set: usize, key: usize) {
        self.bits[set * self.words + key / PER_WORD][key / PER_PART % PARTS] &=
            !(1 << (key % PER_PART));
    }

    /// Adds all keys to a set, or removes all of them.
    pub(crate) const fn fill(&mut self, set: usize, all: bool) {
        let (mut i, word) = (0, if all { ALL_KEYS } else { NO_KEYS });
        while i < self.words {
            self.bits[set * self.words + i] = word;
            i += 1;
        }
    }

    pub(crate) const fn copy(&mut self, to: usize, from: usize) {
        let mut i = 0;
        while i < self.words {
            self.bits[to * self.words + i] = self.bits[from * self.words + i];
            i += 1;
        }
    }

    pub(crate) const fn meet(&mut self, set: usize, other: usize) {
        combine!(self, set &= other);
    }

    pub(crate) const fn join(&mut self, set: usize, other: usize) {
        combine!(self, set |= other);
    }
}

#[cfg(test)]
mod tests {
    use super::{NO_KEYS, PER_WORD, Sets};

    /// Compares each set with a set of the standard library.
    #[test]
    fn sets_are_sets() {
        use std::collections::BTreeSet;
        const KEYS: usize = 2 * PER_WORD;
        let (mut bits, mut seed) = ([NO_KEYS; 6], 7_u64);
        let mut sets = Sets::new(&mut bits, 2);
        let mut known = [const { BTreeSet::new() }; 3];
        for _ in 0..20_000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (set, other, key) = (
                (seed >> 20) as usize % 3,
                (seed >> 30) as usize % 3,
                (seed >> 40) as usize % KEYS,
            );
            let beside = known[other].clone();
            match (seed >> 55) % 100 {
                0 => {
                    sets.fill(set, true);
                    known[set] = (0..KEYS).collect();
                }
                1 | 2 => {
                    sets.fill(set, false);
                    known[set].clear();
                }
                3..8 => {
                    sets.copy(set, other);
                    known[set] = beside;
                }
                8..12 => {
                    sets.meet(set, other);
                    known[set] = &known[set] & &beside;
                }
                12..16 => {
                    sets.join(set, other);
                    known[set] = &known[set] | &beside;
                }
                16..30 => {
                    sets.remove(set, key);
                    known[set].remove(&key);
                }
                _ => {
                    sets.add(set, key);
                    known[set].insert(key);
                }
            }
            assert_eq!(sets.has(set, key), known[set].contains(&key));
        }
        for (set, known) in known.iter().enumerate() {
            assert!(
                (0..KEYS).all(|key| sets.has(set, key) == known.contains(&key)),
                "set {set}"
            );
        }
    }
}
