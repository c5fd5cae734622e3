//! Text in const evaluation.

pub(crate) use crate::spec::hash::same;

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
