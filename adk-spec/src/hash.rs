//! Names as numbers: const evaluation compares them where it would have to compare texts.
//!
//! It interprets, and what is cheap elsewhere is not cheap there: `len` of a text costs as much as forty additions, and so each
//! comparison of two texts as much as a hundred. So a key is hashed once, where it is described. Two of a million names have
//! the same 64 bits once in more than ten million workflows.

/// A text as 64 bits.
pub const fn hash(text: &str) -> u64 {
    let mut bytes = text.as_bytes();
    let mut hasher = Hasher::NEW;
    while let [b0, b1, b2, b3, b4, b5, b6, b7, rest @ ..] = bytes {
        hasher.hash = mixed(hasher.hash, u64::from_le_bytes([*b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7]));
        bytes = rest;
    }
    if let [b0, b1, b2, b3, rest @ ..] = bytes {
        (hasher.word, hasher.bits) = (u32::from_le_bytes([*b0, *b1, *b2, *b3]) as u64, 32);
        bytes = rest;
    }
    while let [byte, rest @ ..] = bytes {
        hasher.word |= (*byte as u64) << hasher.bits;
        hasher.bits += 8;
        bytes = rest;
    }
    hasher.finish()
}

/// The same for a text whose bytes come one by one.
#[derive(Debug)]
pub struct Hasher {
    hash: u64,
    word: u64,
    bits: u32,
}

impl Hasher {
    /// Of no bytes yet.
    pub const NEW: Self = Self { hash: 0xcbf2_9ce4_8422_2325, word: 0, bits: 0 };

    /// Adds a byte.
    pub const fn add(&mut self, byte: u8) {
        self.word |= (byte as u64) << self.bits;
        self.bits += 8;
        if self.bits == 64 {
            self.hash = mixed(self.hash, self.word);
            (self.word, self.bits) = (0, 0);
        }
    }

    /// The hash. A bit after the last byte tells how many bytes there are.
    pub const fn finish(&self) -> u64 {
        mixed(self.hash, self.word | 1 << self.bits)
    }
}

/// The same 64 bits for one name in one place, others for the same name in another.
pub const fn mixed(hash: u64, word: u64) -> u64 {
    // The high half of the product is folded in: a word has bytes that differ in its high bits alone.
    let product = (hash ^ word) as u128 * 0x9e37_79b9_7f4a_7c15_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// Whether two texts are equal; a call costs as much as some twenty steps, so it takes several bytes at a time.
pub const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    // The ends first: numbered names differ there.
    while let ([rest_a @ .., a0, a1, a2, a3], [rest_b @ .., b0, b1, b2, b3]) = (a, b) {
        if *a3 != *b3 || *a2 != *b2 || *a1 != *b1 || *a0 != *b0 {
            return false;
        }
        (a, b) = (rest_a, rest_b);
    }
    while let ([rest_a @ .., last_a], [rest_b @ .., last_b]) = (a, b) {
        if *last_a != *last_b {
            return false;
        }
        (a, b) = (rest_a, rest_b);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Hasher, hash, same};
    use std::collections::HashSet;

    /// Texts of each length, and those that differ from them in one place.
    fn texts() -> Vec<String> {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        let mut all: Vec<String> = (0..20).map(|len| letters[..len].to_owned()).collect();
        for len in 1..20 {
            all.extend((0..len).map(|at| format!("{}#{}", &letters[..at], &letters[at + 1..len])));
        }
        all
    }

    #[test]
    fn texts_of_any_length_have_different_hashes() {
        let mut all = texts();
        all.extend(
            (0..100_000).flat_map(|n| [format!("key_{n}"), format!("{n}"), format!("generated::agent_{n}")]),
        );
        all.extend((1..20).map(|len| "\0".repeat(len)));
        let hashes: HashSet<u64> = all.iter().map(|text| hash(text)).collect();
        assert_eq!(hashes.len(), all.len());
        for text in &all {
            let mut hasher = Hasher::NEW;
            text.bytes().for_each(|byte| hasher.add(byte));
            assert_eq!(hasher.finish(), hash(text), "{text}");
        }
    }

    /// The macros compute the same and have the same test.
    #[test]
    fn hashes_equal_those_of_the_macros() {
        let all = ["", "a", "draft", "user:id", "criticism", "a_key_of_24_bytes_in_all", "schlüssel"];
        let hashes = all.map(hash);
        assert_eq!(
            hashes,
            [
                2_634_596_978_783_410_842,
                10_948_945_788_180_641_143,
                17_029_719_190_515_683_901,
                14_338_484_139_375_756_713,
                11_406_144_935_566_457_329,
                1_553_737_560_486_549_909,
                6_276_201_836_496_827_283,
            ]
        );
    }

    #[test]
    fn equal_texts_are_the_same() {
        let all = texts();
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(same(a, b), i == j, "{a} {b}");
            }
        }
    }
}
