//! Sets of keys as bits, all of them in one slice, so that a meet is a few words.

/// Sets over the same keys, addressed by number.
#[derive(Debug)]
pub(super) struct Sets<'t> {
    bits: &'t mut [u64],
    /// Words per set.
    words: usize,
}

impl<'t> Sets<'t> {
    /// Room for sets of `words` words each.
    pub(super) const fn new(bits: &'t mut [u64], words: usize) -> Self {
        Self { bits, words }
    }

    pub(super) const fn has(&self, set: usize, key: usize) -> bool {
        self.bits[set * self.words + key / 64] >> (key % 64) & 1 == 1
    }

    pub(super) const fn add(&mut self, set: usize, key: usize) {
        self.bits[set * self.words + key / 64] |= 1 << (key % 64);
    }

    pub(super) const fn remove(&mut self, set: usize, key: usize) {
        self.bits[set * self.words + key / 64] &= !(1 << (key % 64));
    }

    /// Every key, or none.
    pub(super) const fn fill(&mut self, set: usize, all: bool) {
        let mut i = 0;
        while i < self.words {
            self.bits[set * self.words + i] = if all { !0 } else { 0 };
            i += 1;
        }
    }

    pub(super) const fn copy(&mut self, to: usize, from: usize) {
        let mut i = 0;
        while i < self.words {
            self.bits[to * self.words + i] = self.bits[from * self.words + i];
            i += 1;
        }
    }

    /// Keeps what is in both.
    pub(super) const fn meet(&mut self, set: usize, other: usize) {
        let mut i = 0;
        while i < self.words {
            self.bits[set * self.words + i] &= self.bits[other * self.words + i];
            i += 1;
        }
    }

    /// Adds what is in the other.
    pub(super) const fn join(&mut self, set: usize, other: usize) {
        let mut i = 0;
        while i < self.words {
            self.bits[set * self.words + i] |= self.bits[other * self.words + i];
            i += 1;
        }
    }
}
