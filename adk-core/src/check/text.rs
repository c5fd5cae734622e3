//! Text in const evaluation.

/// Whether two texts are equal.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// FNV-1a over the text, beginning with a seed.
pub(crate) const fn hash(seed: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    hash ^ (hash >> 29)
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
