//! [`CallPlace`]: the key of a call within its run, ordered so that numbers count as numbers.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// The key of a call within its run, without the name of the workflow:
/// `refinement#2/critic:model@0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct CallPlace(String);

impl CallPlace {
    /// Returns the place of a key as text, `writing/critic:model@0`.
    pub(super) fn of_key(key: &str) -> Self {
        Self(without_root(key).to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the call; empty for a call of the root.
    pub(super) fn path(&self) -> &str {
        self.split().0
    }

    /// Returns the call without its path: `model@0`.
    pub(super) fn call(&self) -> &str {
        self.split().1
    }

    fn split(&self) -> (&str, &str) {
        self.0.split_once(':').unwrap_or(("", &self.0))
    }

    /// Returns the text by which a report names the place: the path alone for the first call of a
    /// model.
    pub(super) fn short(&self) -> &str {
        match self.split() {
            ("", _) => &self.0,
            (path, "model@0") => path,
            _ => &self.0,
        }
    }

    /// Returns the path without rounds and elements.
    pub(super) fn agent_path(&self) -> String {
        without_rounds(self.path())
    }
}

/// Returns a path or key without its first segment, which is the name of the workflow.
pub(super) fn without_root(text: &str) -> &str {
    let end = text.find(['/', ':', '!']).unwrap_or(text.len());
    match text.get(end..) {
        Some(rest) if rest.starts_with('!') => rest,
        Some(rest) => rest.get(1..).unwrap_or(""),
        None => "",
    }
}

/// Returns a path without rounds and elements.
pub(super) fn without_rounds(path: &str) -> String {
    let names = path
        .split('/')
        .map(|segment| segment.split(['#', '[']).next().unwrap_or(segment));
    names.collect::<Vec<_>>().join("/")
}

/// Compares texts in which runs of digits count as numbers.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        if left.is_empty() || right.is_empty() {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        }
        let (one, other) = (chunk(&mut left), chunk(&mut right));
        let order = match (one.parse::<u64>(), other.parse::<u64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            _ => one.cmp(other),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the next run of digits, or of other characters.
fn chunk<'a>(text: &mut &'a str) -> &'a str {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = text.starts_with(is_digit);
    let end = text.find(|c| is_digit(c) != first).unwrap_or(text.len());
    let (chunk, rest) = text.split_at(end);
    *text = rest;
    chunk
}

impl Ord for CallPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        natural(&self.0, &other.0)
    }
}

impl PartialOrd for CallPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&str> for CallPlace {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for CallPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_places_count_as_numbers() {
        let sorted = [
            "a:model@2",
            "a:model@10",
            "a#1/b:model@0",
            "a#2/b:model@0",
            "a#10/b:model@0",
            "a#10/b:tool.x@0",
            "a[2]/b:model@0",
            "a[11]/b:model@0",
            "ab:model@0",
        ];
        let mut places: Vec<_> = sorted.iter().rev().map(|at| CallPlace::from(*at)).collect();
        places.sort();
        let places: Vec<_> = places.iter().map(CallPlace::as_str).collect();
        let mut expected = sorted.to_vec();
        expected.sort_by(|a, b| natural(a, b));
        assert_eq!(places, expected);
        let at = |text| places.iter().position(|place| *place == text);
        for (one, other) in [
            ("a:model@2", "a:model@10"),
            ("a#2/b:model@0", "a#10/b:model@0"),
        ] {
            assert!(at(one) < at(other), "{places:?}");
        }
    }

    #[test]
    fn a_place_has_no_root_and_names_its_agent() {
        let place = CallPlace::of_key("w/l#2/e[3]/critic:tool.pay@1");
        assert_eq!(place.as_str(), "l#2/e[3]/critic:tool.pay@1");
        assert_eq!(
            (place.path(), place.call()),
            ("l#2/e[3]/critic", "tool.pay@1")
        );
        assert_eq!(place.agent_path(), "l/e/critic");
        assert_eq!(CallPlace::of_key("w:model@0").as_str(), "model@0");
        assert_eq!(CallPlace::of_key("w:model@0").path(), "");
        assert_eq!(without_root("w!0"), "!0");
        assert_eq!(without_root("w/a!0"), "a!0");
    }
}
