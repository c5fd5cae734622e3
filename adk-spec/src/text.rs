//! Text in const evaluation.

pub(crate) use crate::hash::same;

pub(crate) const fn starts_with(text: &str, start: &str) -> bool {
    match text.split_at_checked(start.len()) {
        Some((head, _)) => same(head, start),
        None => false,
    }
}

/// Returns a part of a text; empty if the indices are not valid in the text.
pub(crate) const fn part(text: &str, start: usize, end: usize) -> &str {
    match text.split_at_checked(end) {
        Some((head, _)) => match head.split_at_checked(start) {
            Some((_, part)) => part,
            None => "",
        },
        None => "",
    }
}

/// Returns the total length of some texts.
pub const fn join_len(parts: &[&str]) -> usize {
    let mut len = 0;
    each!(part in parts => { len += part.len() });
    len
}

/// Joins some texts whose total length is [`join_len`]. `concat!` accepts only literals.
pub const fn join<const LEN: usize>(parts: &[&str]) -> [u8; LEN] {
    let (mut all, mut at) = ([0; LEN], 0);
    each!(part in parts => {
        let (_, room) = all.split_at_mut(at);
        room.split_at_mut(part.len()).0.copy_from_slice(part.as_bytes());
        at += part.len();
    });
    all
}
