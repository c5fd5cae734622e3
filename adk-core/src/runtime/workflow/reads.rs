//! The keys that blocks read: the `until` of a loop, the key of a `match`, the list of an `each`.

use crate::runtime::run::Context;
use crate::runtime::tool::schema::describe_value;
use crate::spec::Over;
use crate::store::event::{Event, LEFT_OUT_KEY};
use crate::{Error, ErrorKind, Result};
use serde_json::{Value, json};
use std::fmt::Arguments;
use std::sync::Arc;

/// Whether the `bool` key of an `until` is true.
pub(super) fn is_true(key: &str, cx: &Context) -> Result<bool> {
    let what = format_args!("`until = {key}`");
    match &*value(what, key, cx)? {
        Value::Bool(yes) => Ok(*yes),
        other => Err(typed(what, key, "a `bool`", other, cx)),
    }
}

/// The value of the key of a `match`.
pub(super) fn subject(key: &str, cx: &Context) -> Result<Arc<Value>> {
    value(format_args!("`match {key}`"), key, cx)
}

/// The list of an `each`.
pub(super) fn list(item: &str, key: &str, cx: &Context) -> Result<Arc<Value>> {
    let what = format_args!("`each {item} in {key}`");
    let list = value(what, key, cx)?;
    if list.is_array() { Ok(list) } else { Err(typed(what, key, "a list", &list, cx)) }
}

/// The elements that an `each` runs for.
pub(super) struct Elements {
    pub(super) list: Arc<Value>,
    /// How many of them.
    pub(super) count: usize,
    /// The event that says how many are left out.
    pub(super) left_out: Option<Box<Event>>,
}

/// The elements of an `each`: all of its list, or as many as its `max` allows.
pub(super) fn elements(
    item: &str,
    key: &str,
    max: Option<u32>,
    over: Over,
    cx: &Context,
) -> Result<Elements> {
    let list = list(item, key, cx)?;
    let length = list.as_array().map_or(0, Vec::len);
    // A block that has begun runs for as many elements as were decided then, whatever `max` it has now.
    let decided = cx.run.replay.as_ref().and_then(|replay| replay.elements(cx.path(), length));
    let max = decided.or(max.map(|max| max as usize)).filter(|max| *max < length);
    let Some(max) = max else {
        return Ok(Elements { list, count: length, left_out: None });
    };
    if over == Over::Cut || decided.is_some() {
        let left_out = json!({"list": key, "max": max, "over": length - max});
        let event = Event::new().with_metadata(LEFT_OUT_KEY, left_out);
        return Ok(Elements { list, count: max, left_out: Some(Box::new(event)) });
    }
    let message = format!(
        "`each {item} in {key}` of block `{}` runs for at most {max} elements, its `max`, and `{key}` holds {length}",
        cx.path().name()
    );
    Err(Error::new(ErrorKind::ListTooLong, message)
        .with_help(format!(
            "raise its `max`, or leave out what is over, as in `each(max = {max}, over = cut)`"
        ))
        .at(cx.path()))
}

/// The value of the key of a `match` is none that an arm could be for.
pub(super) fn no_arm(key: &str, error: Error, cx: &Context) -> Error {
    let message = format!("`match {key}` selects no arm: {}", error.message());
    Error::new(error.kind(), message)
        .with_help(format!("write `{key}` as the type of its patterns"))
        .with_source(error)
        .at(cx.path())
}

fn value(what: Arguments<'_>, key: &str, cx: &Context) -> Result<Arc<Value>> {
    cx.committed(key).ok_or_else(|| {
        let message = format!("{what} reads a key that nothing has written");
        Error::new(ErrorKind::KeyMissing, message)
            .with_help(format!("let a step before it write `{key}`, or pass it as an input"))
            .at(cx.path())
    })
}

fn typed(what: Arguments<'_>, key: &str, wanted: &str, found: &Value, cx: &Context) -> Error {
    let message = format!("{what} needs {wanted}, but the key holds {}", describe_value(found));
    Error::new(ErrorKind::KeyType, message).with_help(format!("write `{key}` as {wanted}")).at(cx.path())
}
