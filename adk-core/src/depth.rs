//! The limit of nesting, [`MAX_DEPTH`], and how a value is held against it.

use crate::{Error, ErrorKind};
use serde_json::{Map, Value};
use std::fmt;

/// The most levels of lists and objects inside each other that a value may have: the value of a state key, the arguments
/// and the result of a tool, an answer, the output of a model, the result of a step. A deeper one is refused where it
/// comes in, with [`ErrorKind::TooDeep`] or in the terms of who gave it.
///
/// JSON is read up to 127 levels, and a value is a few levels deep in an event, in the record of a run and in a line
/// of an export. So what is within this limit can be read wherever it was stored.
pub const MAX_DEPTH: usize = 100;

/// The most levels of what holds such values: an event or a record has fewer than 20 around them.
const MAX_AROUND: usize = MAX_DEPTH + 20;

/// What to do with a value that is too deep.
pub(crate) const HELP: &str = "give a flatter value, or the inner part of it as text";

/// How deep a value is that is too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep(usize);

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nested {} levels deep, and {MAX_DEPTH} are the most", self.0)
    }
}

impl TooDeep {
    /// The error of kind [`ErrorKind::TooDeep`] that names what is too deep.
    pub(crate) fn error(self, what: impl fmt::Display) -> Error {
        Error::new(ErrorKind::TooDeep, format!("{what} is {self}")).with_help(HELP)
    }
}

/// Refuses a value that is too deep.
pub(crate) fn check(value: &Value) -> Result<(), TooDeep> {
    within(Level::of(value), MAX_DEPTH)
}

/// Refuses an object that is too deep.
pub(crate) fn check_object(object: &Map<String, Value>) -> Result<(), TooDeep> {
    within(Some(Level::Object(object.values())), MAX_DEPTH)
}

/// Refuses the answer to a call, where a value that is no object has an object around it.
pub(crate) fn check_response(object: &Map<String, Value>) -> Result<(), TooDeep> {
    within(Some(Level::Object(object.values())), MAX_DEPTH + 1)
}

/// Refuses a record that could not be read again.
pub(crate) fn check_record(record: &Value) -> Result<(), TooDeep> {
    within(Level::of(record), MAX_AROUND)
}

/// Drops a value of any depth. Dropping it as it is recurses.
pub(crate) fn discard(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

fn within(outermost: Option<Level<'_>>, most: usize) -> Result<(), TooDeep> {
    match outermost.map_or(0, deepest) {
        depth if depth > most => Err(TooDeep(depth)),
        _ => Ok(()),
    }
}

/// The values of a list or an object.
enum Level<'a> {
    List(std::slice::Iter<'a, Value>),
    Object(serde_json::map::Values<'a>),
}

impl<'a> Level<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Array(items) => Some(Self::List(items.iter())),
            Value::Object(fields) => Some(Self::Object(fields.values())),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<&'a Value> {
        match self {
            Self::List(items) => items.next(),
            Self::Object(fields) => fields.next(),
        }
    }
}

/// How deep lists and objects are nested. It does not recurse, and allocates only where they do.
fn deepest(mut inner: Level<'_>) -> usize {
    let (mut around, mut deepest) = (Vec::new(), 1);
    loop {
        match inner.next() {
            Some(value) => {
                if let Some(level) = Level::of(value) {
                    around.push(std::mem::replace(&mut inner, level));
                    deepest = deepest.max(around.len() + 1);
                }
            }
            None => match around.pop() {
                Some(level) => inner = level,
                None => return deepest,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_and_objects_inside_each_other_are_counted() {
        for (value, depth) in [
            (json!(1), 0),
            (json!("[[[["), 0),
            (json!([]), 1),
            (json!([1, "a", null]), 1),
            (json!({"a": [1, {}], "b": 2}), 3),
            (json!([[[1]], {"a": 1}, []]), 3),
        ] {
            assert_eq!(Level::of(&value).map_or(0, deepest), depth, "{value}");
        }
    }

    #[test]
    fn a_value_of_any_depth_is_measured_and_dropped() {
        let mut value = json!(1);
        for n in 0..300_000 {
            value = match n % 2 {
                0 => Value::Array(vec![value]),
                _ => Value::Object(Map::from_iter([("a".to_owned(), value)])),
            };
        }
        assert_eq!(check(&value), Err(TooDeep(300_000)));
        discard(value);
    }
}
