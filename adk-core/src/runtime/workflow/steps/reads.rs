//! The keys that blocks read: the `until` of a loop, the key of a `match`, the list of an `each`.

use crate::runtime::run::Context;
use crate::runtime::tool::schema::describe_value;
use crate::spec::Over;
use crate::store::event::{Event, LEFT_OUT_KEY};
use crate::{Error, ErrorKind, Result};
use serde_json::{Value, json};
use std::fmt::Arguments;
use std::sync::Arc;

/// Returns the value of the `bool` key of an `until`.
pub(crate) fn is_true(key: &str, cx: &Context) -> Result<bool> {
    let what = format_args!("`until = {key}`");
    match &*committed_value(what, key, cx)? {
        Value::Bool(yes) => Ok(*yes),
        other => Err(type_error(what, key, "a `bool`", other, cx)),
    }
}

/// Returns the value of the key of a `match`.
pub(crate) fn match_value(key: &str, cx: &Context) -> Result<Arc<Value>> {
    committed_value(format_args!("`match {key}`"), key, cx)
}

/// Returns the list of an `each`.
pub(crate) fn list_value(item: &str, key: &str, cx: &Context) -> Result<Arc<Value>> {
    let what = format_args!("`each {item} in {key}`");
    let list = committed_value(what, key, cx)?;
    if list.is_array() {
        Ok(list)
    } else {
        Err(type_error(what, key, "a list", &list, cx))
    }
}

/// The elements for which an `each` runs.
pub(crate) struct Elements {
    pub(crate) list: Arc<Value>,
    /// Number of elements that run.
    pub(crate) count: usize,
    /// The event that reports how many elements are left out.
    pub(crate) left_out: Option<Box<Event>>,
}

/// Returns the elements of an `each`: its whole list, or the first `max` elements.
pub(crate) fn elements(
    item: &str,
    key: &str,
    max: Option<u32>,
    over: Over,
    cx: &Context,
) -> Result<Elements> {
    let list = list_value(item, key, cx)?;
    let length = list.as_array().map_or(0, Vec::len);
    // A resumed block keeps the number of elements from its first execution, even if its `max` has
    // changed.
    let decided = cx
        .run
        .kind
        .replay()
        .and_then(|replay| replay.journal.elements(cx.path(), length));
    let max = decided
        .or(max.map(|max| max as usize))
        .filter(|max| *max < length);
    let Some(max) = max else {
        return Ok(Elements {
            list,
            count: length,
            left_out: None,
        });
    };
    if over == Over::Cut || decided.is_some() {
        let left_out = json!({"list": key, "max": max, "over": length - max});
        let event = Event::new().with_metadata(LEFT_OUT_KEY, left_out);
        return Ok(Elements {
            list,
            count: max,
            left_out: Some(Box::new(event)),
        });
    }
    let message = format!(
        "`each {item} in {key}` of block `{}` runs for at most {max} elements, its `max`, and \
         `{key}` holds {length}",
        cx.path().name()
    );
    Err(Error::new(ErrorKind::ListTooLong, message)
        .with_help(format!(
            "raise its `max`, or leave out what is over, as in `each(max = {max}, over = cut)`"
        ))
        .at(cx.path()))
}

/// Makes the error for a `match` whose key holds a value that no arm can match.
pub(crate) fn no_arm_error(key: &str, error: Error, cx: &Context) -> Error {
    let message = format!("`match {key}` selects no arm: {}", error.message());
    Error::new(error.kind(), message)
        .with_help(format!("write `{key}` as the type of its patterns"))
        .with_source(error)
        .at(cx.path())
}

fn committed_value(what: Arguments<'_>, key: &str, cx: &Context) -> Result<Arc<Value>> {
    cx.committed_value(key).ok_or_else(|| {
        let message = format!("{what} reads a key that nothing has written");
        Error::new(ErrorKind::KeyMissing, message)
            .with_help(format!(
                "let a step before it write `{key}`, or pass it as an input"
            ))
            .at(cx.path())
    })
}

fn type_error(what: Arguments<'_>, key: &str, wanted: &str, found: &Value, cx: &Context) -> Error {
    let message = format!(
        "{what} needs {wanted}, but the key holds {}",
        describe_value(found)
    );
    Error::new(ErrorKind::KeyType, message)
        .with_help(format!("write `{key}` as {wanted}"))
        .at(cx.path())
}
