//! [`marked`]: the words by which two texts differ.

use super::junit::escaped;

/// Texts with more words than this are not compared.
const LONGEST: usize = 2000;

/// Returns two texts as HTML, where `<mark>` is around the words that the other text lacks.
pub(super) fn marked(one: &str, other: &str) -> (String, String) {
    let (left, right) = (words(one), words(other));
    if left.len() > LONGEST || right.len() > LONGEST {
        return (escaped(one), escaped(other));
    }
    let common = common(&left, &right);
    let is_left = |place: usize| common.iter().any(|(left, _)| *left == place);
    let is_right = |place: usize| common.iter().any(|(_, right)| *right == place);
    (html(&left, is_left), html(&right, is_right))
}

/// Splits a text into words with the spaces after them.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace).collect()
}

/// Returns the places of the longest common subsequence.
fn common(left: &[&str], right: &[&str]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    // The cell of two places has the length of the subsequence of what follows them.
    let mut lengths = vec![0_u32; (left.len() + 1) * width];
    for (at, word) in left.iter().enumerate().rev() {
        for (to, other) in right.iter().enumerate().rev() {
            let below = lengths[(at + 1) * width + to];
            let beside = lengths[at * width + to + 1];
            lengths[at * width + to] = if is_same(word, other) {
                lengths[(at + 1) * width + to + 1] + 1
            } else {
                below.max(beside)
            };
        }
    }
    let (mut at, mut to, mut found) = (0, 0, Vec::new());
    while at < left.len() && to < right.len() {
        if is_same(left[at], right[to]) {
            found.push((at, to));
            (at, to) = (at + 1, to + 1);
        } else if lengths[(at + 1) * width + to] >= lengths[at * width + to + 1] {
            at += 1;
        } else {
            to += 1;
        }
    }
    found
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim_end() == other.trim_end()
}

fn html(words: &[&str], is_common: impl Fn(usize) -> bool) -> String {
    let mut html = String::new();
    let mut is_open = false;
    for (place, word) in words.iter().enumerate() {
        let is_marked = !is_common(place);
        if is_marked != is_open {
            html.push_str(if is_marked { "<mark>" } else { "</mark>" });
            is_open = is_marked;
        }
        html.push_str(&escaped(word));
    }
    if is_open {
        html.push_str("</mark>");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_marked() {
        let (one, other) = marked("the cat <sat> down", "the dog <sat> down now");
        assert_eq!(one, "the <mark>cat </mark>&lt;sat&gt; down");
        assert_eq!(
            other,
            "the <mark>dog </mark>&lt;sat&gt; down <mark>now</mark>"
        );
        assert_eq!(
            marked("", "a"),
            (String::new(), "<mark>a</mark>".to_owned())
        );
    }
}
