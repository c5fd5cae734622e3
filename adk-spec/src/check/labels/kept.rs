//! [`Kept`]: marks that a place of the workflow has left, and finds when a run comes there again.

use super::marks::Marks;
use crate::text::same;

/// A key of a nested workflow, what workflows inside it have left, or what the branches of a
/// `parallel` write.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct KeptKey<'a> {
    /// The nested workflow or the block.
    place: u64,
    /// The key inside the nested workflow; empty for anything else.
    pub(super) name: &'a str,
    pub(super) marks: Marks,
}

impl KeptKey<'_> {
    pub(super) const NONE: Self = Self {
        place: 0,
        name: "",
        marks: Marks::NONE,
    };
}

/// The marks of all places. They only grow, and the walk is repeated until they do not.
pub(super) struct Kept<'t, 'a> {
    all: &'t mut [KeptKey<'a>],
    len: usize,
    pub(super) is_full: bool,
    /// Whether a mark is new since the walk began.
    pub(super) has_grown: bool,
}

impl<'t, 'a> Kept<'t, 'a> {
    pub(super) const fn new(all: &'t mut [KeptKey<'a>]) -> Self {
        Self {
            all,
            len: 0,
            is_full: false,
            has_grown: false,
        }
    }

    /// Returns the first key of a place at an index or after it, with its index.
    pub(super) const fn next(&self, place: u64, from: usize) -> Option<(usize, KeptKey<'a>)> {
        match find!(i in from, self.len => self.all[i].place == place) {
            Some(i) => Some((i, self.all[i])),
            None => None,
        }
    }

    /// Adds marks. The walk is repeated for new ones only if anything reads them.
    pub(super) const fn add(&mut self, place: u64, name: &'a str, marks: Marks, is_read: bool) {
        if marks.is_none() {
            return;
        }
        let known = find!(i in 0, self.len => {
            self.all[i].place == place && same(self.all[i].name, name)
        });
        let at = match known {
            Some(at) if marks.is_within(self.all[at].marks) => return,
            Some(at) => at,
            None if self.len == self.all.len() => {
                self.is_full = true;
                return;
            }
            None => {
                self.all[self.len] = KeptKey { place, name, marks };
                self.len += 1;
                self.len - 1
            }
        };
        self.all[at].marks = self.all[at].marks.or(marks);
        self.has_grown = self.has_grown || is_read;
    }
}
