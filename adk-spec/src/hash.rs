//! Hashes of names: const evaluation compares numbers instead of texts.
//!
//! Const evaluation is an interpreter with its own costs: `len` of a text costs as much as forty
//! additions, and a comparison of two texts as much as a hundred. A key is therefore hashed once,
//! where it is described. A collision is improbable: among workflows with a million names each,
//! fewer than one in ten million has two names with the same 64-bit hash.

/// Returns the 64-bit hash of a text.
pub const fn hash(text: &str) -> u64 {
    let mut bytes = text.as_bytes();
    let mut hasher = Hasher::NEW;
    while let [b0, b1, b2, b3, b4, b5, b6, b7, rest @ ..] = bytes {
        hasher.hash = mixed(
            hasher.hash,
            u64::from_le_bytes([*b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7]),
        );
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

/// A hasher for a text whose bytes arrive one by one.
#[derive(Debug)]
pub struct Hasher {
    hash: u64,
    word: u64,
    bits: u32,
}

impl Hasher {
    /// The hasher of an empty text.
    pub const NEW: Self = Self {
        hash: 0xcbf2_9ce4_8422_2325,
        word: 0,
        bits: 0,
    };

    /// Adds a byte.
    pub const fn add(&mut self, byte: u8) {
        self.word |= (byte as u64) << self.bits;
        self.bits += 8;
        if self.bits == 64 {
            self.hash = mixed(self.hash, self.word);
            (self.word, self.bits) = (0, 0);
        }
    }

    /// Returns the hash. A bit after the last byte encodes the number of bytes.
    pub const fn finish(&self) -> u64 {
        mixed(self.hash, self.word | 1 << self.bits)
    }
}

/// Combines a hash with a word, such as a name with the number of its scope.
pub const fn mixed(hash: u64, word: u64) -> u64 {
    // The high half of the product is folded in, because words may differ only in their high bits.
    let product = (hash ^ word) as u128 * 0x9e37_79b9_7f4a_7c15_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// Returns whether two texts are equal. A call costs as much as twenty steps, so the function
/// compares several bytes at a time.
pub const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    // The ends of the texts are compared first, because numbered names differ there.
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

    /// Returns texts of each length, and texts that differ from them in one place.
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
        all.extend((0..100_000).flat_map(|n| {
            [
                format!("key_{n}"),
                format!("{n}"),
                format!("generated::agent_{n}"),
            ]
        }));
        all.extend((1..20).map(|len| "\0".repeat(len)));
        let hashes: HashSet<u64> = all.iter().map(|text| hash(text)).collect();
        assert_eq!(hashes.len(), all.len());
        for text in &all {
            let mut hasher = Hasher::NEW;
            text.bytes().for_each(|byte| hasher.add(byte));
            assert_eq!(hasher.finish(), hash(text), "{text}");
        }
    }

    /// The macros compute the same hashes and have the same test.
    #[test]
    fn hashes_equal_those_of_the_macros() {
        let all = [
            "",
            "a",
            "draft",
            "user:id",
            "criticism",
            "a_key_of_24_bytes_in_all",
            "schlüssel",
        ];
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
