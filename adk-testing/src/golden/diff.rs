//! [`line_diff`]: the lines that two texts do not share.

/// The largest number of line pairs that are compared. Beyond it, all lines of the differing middle
/// count as changed.
const MOST_PAIRS: usize = 4_000_000;

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Only the old text has the line.
    Old(&'a str),
    /// Only the new text has the line.
    New(&'a str),
}

/// Returns the lines that only one of the texts has, in order: in each place, old lines come first.
pub(super) fn line_diff<'a>(then: &[&'a str], now: &[&'a str]) -> Vec<Line<'a>> {
    aligned(then, now)
        .into_iter()
        .filter_map(|pair| match pair {
            (Some(_), Some(_)) => None,
            (Some(old), None) => Some(Line::Old(then[old])),
            (None, Some(new)) => Some(Line::New(now[new])),
            (None, None) => None,
        })
        .collect()
}

/// Pairs the equal items of two lists by a longest common subsequence. An item without a partner
/// is in a pair of its own.
pub(super) fn aligned<T: PartialEq>(then: &[T], now: &[T]) -> Vec<(Option<usize>, Option<usize>)> {
    let is_same = |(a, b): &(&T, &T)| a == b;
    let head = then.iter().zip(now).take_while(is_same).count();
    let rest = then[head..].iter().rev().zip(now[head..].iter().rev());
    let tail = rest.take_while(is_same).count();
    let (a, b) = (&then[head..then.len() - tail], &now[head..now.len() - tail]);
    let mut pairs: Vec<_> = (0..head).map(|at| (Some(at), Some(at))).collect();
    let (mut i, mut j) = (0, 0);
    if a.len().saturating_mul(b.len()) <= MOST_PAIRS {
        let common = common_lengths(a, b);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                pairs.push((Some(head + i), Some(head + j)));
                (i, j) = (i + 1, j + 1);
            } else if common[i + 1][j] >= common[i][j + 1] {
                pairs.push((Some(head + i), None));
                i += 1;
            } else {
                pairs.push((None, Some(head + j)));
                j += 1;
            }
        }
    }
    pairs.extend((i..a.len()).map(|at| (Some(head + at), None)));
    pairs.extend((j..b.len()).map(|at| (None, Some(head + at))));
    let back = |length: usize, at: usize| Some(length - tail + at);
    pairs.extend((0..tail).map(|at| (back(then.len(), at), back(now.len(), at))));
    pairs
}

/// Returns the length of the longest common subsequence of each pair of ends.
fn common_lengths<T: PartialEq>(a: &[T], b: &[T]) -> Vec<Vec<u32>> {
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_listed() {
        let then = ["a", "b", "c", "d"];
        let now = ["a", "x", "c", "d", "e"];
        assert_eq!(
            line_diff(&then, &now),
            [Line::Old("b"), Line::New("x"), Line::New("e")]
        );
        assert_eq!(line_diff(&then, &then), []);
        assert_eq!(line_diff(&[], &["a"]), [Line::New("a")]);
        assert_eq!(line_diff(&["a", "a"], &["a"]), [Line::Old("a")]);
    }
}
