//! Text in const evaluation.

// Const evaluation interprets each of these for every name and key of a workflow, and a call costs as much as some twenty
// steps: so they take eight bytes at a time and call nothing.

/// Whether two texts are equal.
pub(crate) const fn same(a: &str, b: &str) -> bool {
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

/// FNV-1a over words of the text, beginning with a seed.
pub(crate) const fn hash(seed: u64, text: &str) -> u64 {
    let mut bytes = text.as_bytes();
    let mut hash = mixed(0xcbf2_9ce4_8422_2325 ^ seed, bytes.len() as u64);
    while let [b0, b1, b2, b3, b4, b5, b6, b7, rest @ ..] = bytes {
        hash = mixed(hash, u64::from_le_bytes([*b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7]));
        bytes = rest;
    }
    let mut last = 0_u64;
    while let [byte, rest @ ..] = bytes {
        last = last << 8 | *byte as u64;
        bytes = rest;
    }
    mixed(hash, last)
}

const fn mixed(hash: u64, word: u64) -> u64 {
    // The high half of the product is folded in: a word has bytes that differ in its high bits alone.
    let product = (hash ^ word) as u128 * 0x9e37_79b9_7f4a_7c15_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// Whether a text begins with another.
pub(crate) const fn starts_with(text: &str, start: &str) -> bool {
    match text.split_at_checked(start.len()) {
        Some((head, _)) => same(head, start),
        None => false,
    }
}

/// A part of a text; empty where the places are none of it.
pub(crate) const fn part(text: &str, start: usize, end: usize) -> &str {
    match text.split_at_checked(end) {
        Some((head, _)) => match head.split_at_checked(start) {
            Some((_, part)) => part,
            None => "",
        },
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_told_apart() {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        let mut all: Vec<String> = (0..20).map(|len| letters[..len].to_owned()).collect();
        for len in 1..20 {
            all.extend((0..len).map(|at| format!("{}#{}", &letters[..at], &letters[at + 1..len])));
        }
        for (i, a) in all.iter().enumerate() {
            assert_ne!(hash(0, a), hash(1, a));
            for (j, b) in all.iter().enumerate() {
                assert_eq!(same(a, b), i == j, "{a} {b}");
                assert_eq!(hash(0, a) == hash(0, b), i == j, "{a} {b}");
            }
        }
    }
}
