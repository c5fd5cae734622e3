//! The nearest of several words.

/// The word nearest to `wanted`, if one is near enough to be a slip of the hand.
pub(crate) fn nearest<'a>(wanted: &str, words: &[&'a str]) -> Option<&'a str> {
    let near = words.iter().map(|word| (distance(wanted, word), *word)).min_by_key(|(distance, _)| *distance);
    let (distance, word) = near?;
    (distance * 2 <= wanted.chars().count().max(word.len())).then_some(word)
}

/// How many letters have to be changed, added or removed; all capitals count once.
fn distance(left: &str, right: &str) -> usize {
    if left != right && left.eq_ignore_ascii_case(right) {
        return 1;
    }
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(at + 1);
        for ((other, above), before) in right.iter().zip(row.iter().skip(1)).zip(&row) {
            let left = next.last().copied().unwrap_or_default();
            let change = before + usize::from(letter != *other);
            next.push(change.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let words = ["writes", "exits", "blocking"];
        assert_eq!(nearest("write", &words), Some("writes"));
        assert_eq!(nearest("bloking", &words), Some("blocking"));
        assert_eq!(nearest("exit", &words), Some("exits"));
        assert_eq!(nearest("temperature", &words), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
