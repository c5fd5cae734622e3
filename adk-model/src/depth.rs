//! [`MAX_DEPTH`]: the limit of nesting, and the checks against it.

use crate::{Error, ErrorKind};
use serde_json::{Map, Value};
use std::fmt;

/// The largest number of nested lists and objects in a value: the value of a state key, the
/// arguments and the result of a tool, an answer, the output of a model, the result of a step. The
/// runtime refuses a deeper value where it enters the run, with [`ErrorKind::TooDeep`] or with an
/// error that the sender understands.
///
/// JSON parsers read up to 127 levels, and an event, the record of a run or a line of an export
/// nests a value a few levels deeper. A value within this limit can therefore be read wherever it
/// is stored.
pub const MAX_DEPTH: usize = 100;

/// The limit for an event or a record, which adds fewer than 20 levels to the values in it.
const MAX_AROUND: usize = MAX_DEPTH + 20;

/// The remedy for a value that is too deep.
pub const HELP: &str = "give a flatter value, or the inner part of it as text";

/// The depth of a value that is too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep(usize);

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "nested {} levels deep, above the limit of {MAX_DEPTH}",
            self.0
        )
    }
}

impl TooDeep {
    /// Returns an error of kind [`ErrorKind::TooDeep`]. `what` names the value.
    pub fn error(self, what: impl fmt::Display) -> Error {
        Error::new(ErrorKind::TooDeep, format!("{what} is {self}")).with_help(HELP)
    }
}

/// Refuses a value that is too deep.
pub fn check(value: &Value) -> Result<(), TooDeep> {
    limit(Level::enter(value), MAX_DEPTH)
}

/// Refuses an object that is too deep.
pub fn check_object(object: &Map<String, Value>) -> Result<(), TooDeep> {
    limit(Some(Level::Object(object.values())), MAX_DEPTH)
}

/// Refuses the answer to a call. An answer that is not an object is wrapped in one, so one more
/// level is allowed.
pub fn check_response(object: &Map<String, Value>) -> Result<(), TooDeep> {
    limit(Some(Level::Object(object.values())), MAX_DEPTH + 1)
}

/// Refuses a record that would be too deep to be read again.
pub fn check_record(record: &Value) -> Result<(), TooDeep> {
    limit(Level::enter(record), MAX_AROUND)
}

/// Drops a value of any depth. The `Drop` of [`Value`] recurses.
pub fn discard(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

fn limit(outermost: Option<Level<'_>>, most: usize) -> Result<(), TooDeep> {
    match outermost.map_or(0, measure) {
        depth if depth > most => Err(TooDeep(depth)),
        _ => Ok(()),
    }
}

/// The unread values of a list or an object.
enum Level<'a> {
    List(std::slice::Iter<'a, Value>),
    Object(serde_json::map::Values<'a>),
}

impl<'a> Level<'a> {
    fn enter(value: &'a Value) -> Option<Self> {
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

/// Returns the depth of nested lists and objects. Does not recurse, and allocates only for nested
/// values.
fn measure(mut inner: Level<'_>) -> usize {
    let (mut around, mut deepest) = (Vec::new(), 1);
    loop {
        match inner.next() {
            Some(value) => {
                if let Some(level) = Level::enter(value) {
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
            assert_eq!(Level::enter(&value).map_or(0, measure), depth, "{value}");
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
