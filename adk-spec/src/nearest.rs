//! The nearest word by spelling. Everything works in const evaluation, except [`nearest`].

use crate::text::{part, same};

/// The length up to which words are compared.
const LONGEST: usize = 48;

/// Returns the distance of two keys. Keys with the same prefix are compared by their names. A wrong
/// or missing prefix counts as one mistake, and only for equal names.
pub(crate) const fn distance(a: &str, b: &str) -> Option<usize> {
    let ((a_prefix, a), (b_prefix, b)) = (split(a), split(b));
    if same(a_prefix, b_prefix) {
        spelling(a, b)
    } else if same(a, b) {
        Some(1)
    } else {
        None
    }
}

/// Splits a key into its prefix and its name.
const fn split(key: &str) -> (&str, &str) {
    let bytes = key.as_bytes();
    let mut i = bytes.len();
    while i > 0 {
        if bytes[i - 1] == b':' {
            return (part(key, 0, i), part(key, i, bytes.len()));
        }
        i -= 1;
    }
    ("", key)
}

/// Returns the number of bytes to change, add or remove. Two swapped bytes count once. Returns
/// `None` for more than a third of the word.
const fn spelling(a: &str, b: &str) -> Option<usize> {
    // Differences in case count as one mistake together.
    if a.eq_ignore_ascii_case(b) {
        return Some(!same(a, b) as usize);
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > LONGEST || b.len() > LONGEST || a.len().abs_diff(b.len()) > most(a) {
        return None;
    }
    let mut before = [0; LONGEST + 1];
    let mut last = [0; LONGEST + 1];
    let mut row = [0; LONGEST + 1];
    let mut j = 0;
    while j <= b.len() {
        last[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        row[0] = i + 1;
        j = 0;
        while j < b.len() {
            let mut best = last[j] + (a[i] != b[j]) as usize;
            if last[j + 1] + 1 < best {
                best = last[j + 1] + 1;
            }
            if row[j] + 1 < best {
                best = row[j] + 1;
            }
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] && before[j - 1] + 1 < best {
                best = before[j - 1] + 1;
            }
            row[j + 1] = best;
            j += 1;
        }
        (before, last, row) = (last, row, before);
        i += 1;
    }
    if last[b.len()] <= most(a) {
        Some(last[b.len()])
    } else {
        None
    }
}

const fn most(word: &[u8]) -> usize {
    match word.len() {
        // A different single letter is a different word.
        1 => 0,
        2 => 1,
        len => len / 3,
    }
}

/// Returns the nearest of some words, if at most a third of its letters differ.
///
/// ```
/// use adk_spec::nearest::nearest;
/// assert_eq!(nearest("darft", ["topic", "draft"]), Some("draft"));
/// assert_eq!(nearest("topic", ["score", "draft"]), None);
/// ```
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = words
        .into_iter()
        .filter_map(|other| Some((distance(word, other)?, other)));
    near.filter(|(distance, _)| *distance > 0)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// A search for the nearest word, in const evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<'a> {
    word: &'a str,
    found: &'a str,
    distance: usize,
}

impl<'a> Nearest<'a> {
    /// Starts a search for the word nearest to `word`.
    pub const fn to(word: &'a str) -> Self {
        Self {
            word,
            found: "",
            distance: usize::MAX,
        }
    }

    /// Adds another word to the search.
    pub const fn show(&mut self, other: &'a str) {
        if let Some(distance) = distance(self.word, other)
            && distance > 0
            && distance < self.distance
        {
            (self.found, self.distance) = (other, distance);
        }
    }

    /// Returns the nearest word; empty if no word is near.
    pub const fn found(&self) -> &'a str {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::{Nearest, distance};

    #[test]
    fn near_words() {
        assert_eq!(distance("criticsm", "criticism"), Some(1));
        assert_eq!(distance("darft", "draft"), Some(1));
        assert_eq!(distance("topic", "score"), None);
        assert_eq!(distance("nope", "one"), None);
        assert_eq!(distance("user:name", "user:plan"), None);
        assert_eq!(distance("user:nme", "user:name"), Some(1));
        assert_eq!(distance("name", "user:name"), Some(1));
        assert_eq!(distance("user:name", "app:name"), Some(1));
        assert_eq!(distance("", ""), Some(0));
        assert_eq!(distance("x", "z"), None);
        assert_eq!(distance("X", "x"), Some(1));
        let mut nearest = Nearest::to("darft");
        for word in ["topic", "drafts", "draft", "darft"] {
            nearest.show(word);
        }
        assert_eq!(nearest.found(), "draft");
    }
}
