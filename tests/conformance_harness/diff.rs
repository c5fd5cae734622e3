//! Differences as text for people.

use std::fmt::Write;

/// The differences of all parts of a case.
#[derive(Debug, Default)]
pub struct Diff(String);

impl Diff {
    /// Adds a note.
    pub fn note(&mut self, text: String) {
        self.0.push_str(&text);
        self.0.push('\n');
    }

    /// Adds a difference unless the values are the same.
    pub fn compare(&mut self, same: bool, what: &str, wanted: &str, got: &str) {
        if !same {
            self.note(format!("{what}\n  - {wanted}\n  + {got}"));
        }
    }

    /// Adds the difference of two lists: lines only in the first list begin with `-`, lines only in
    /// the second with `+`.
    pub fn lists(&mut self, what: &str, wanted: &[String], got: &[String]) {
        if wanted == got {
            return;
        }
        self.note(what.to_owned());
        let common = common(wanted, got);
        let (mut at, mut to) = (0, 0);
        while at < wanted.len() || to < got.len() {
            let both = at < wanted.len() && to < got.len();
            if both && wanted[at] == got[to] {
                let _ = writeln!(self.0, "    {}", wanted[at]);
                (at, to) = (at + 1, to + 1);
            } else if to == got.len() || (both && common[at + 1][to] >= common[at][to + 1]) {
                let _ = writeln!(self.0, "  - {}", wanted[at]);
                at += 1;
            } else {
                let _ = writeln!(self.0, "  + {}", got[to]);
                to += 1;
            }
        }
    }

    /// Returns all differences, or `None`.
    pub fn finish(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }
}

/// Returns the number of common lines of both lists from each place on.
fn common(one: &[String], other: &[String]) -> Vec<Vec<usize>> {
    let mut table = vec![vec![0; other.len() + 1]; one.len() + 1];
    for at in (0..one.len()).rev() {
        for to in (0..other.len()).rev() {
            table[at][to] = if one[at] == other[to] {
                table[at + 1][to + 1] + 1
            } else {
                table[at + 1][to].max(table[at][to + 1])
            };
        }
    }
    table
}
