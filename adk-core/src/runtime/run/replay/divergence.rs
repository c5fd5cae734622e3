//! Comparison of a repeated event with the recorded event.

use crate::encode::to_json;
use crate::store::event::Event;
use crate::store::session::marked_key;
use crate::{Error, ErrorKind, Path, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that a repeated event equals the recorded event.
pub(super) fn check_same(now: &Event, then: &Event, path: &Path) -> Result<()> {
    if now.author == then.author && now.content == then.content && now.actions == then.actions {
        return Ok(());
    }
    let (now, then) = (parts(now), parts(then));
    let names: BTreeSet<_> = now.keys().chain(then.keys()).collect();
    let changed: Vec<_> = names
        .into_iter()
        .filter(|name| now.get(*name) != then.get(*name))
        .collect();
    let Some(first) = changed.first() else {
        return Ok(());
    };
    let show = |part: Option<&Value>| {
        part.map_or_else(|| "nothing".to_owned(), |part| shorten(part.to_string()))
    };
    let message = format!(
        "the event that `{path}` emits differs from its journal in {first}: {} now, {} in the \
         journal",
        show(now.get(*first)),
        show(then.get(*first))
    );
    let changed: Vec<_> = changed.into_iter().map(String::as_str).collect();
    Err(Error::new(ErrorKind::Diverged, message).with_help(format!(
        "nothing was called; the code that decides {} at `{path}` has changed, or reads something \
         that is not in the journal (wrap that in `cx.step(...)`): resume the run with the program \
         that recorded it, or undo the change",
        changed.join(" and ")
    )))
}

/// Returns the parts of an event that a resumed run must repeat, by their names in messages.
fn parts(event: &Event) -> BTreeMap<String, Value> {
    let mut json = to_json(event).unwrap_or_default();
    let mut parts = BTreeMap::new();
    for part in ["author", "content"] {
        if let Some(value) = json
            .get_mut(part)
            .map(Value::take)
            .filter(|value| !value.is_null())
        {
            parts.insert(format!("its {part}"), value);
        }
    }
    let Some(Value::Object(mut actions)) = json.get_mut("actions").map(Value::take) else {
        return parts;
    };
    if let Some(Value::Object(delta)) = actions.remove("stateDelta") {
        // Marks follow from labels and guards, which a new version may add or remove.
        let values = delta
            .into_iter()
            .filter(|(key, _)| marked_key(key).is_none());
        parts.extend(values.map(|(key, value)| (format!("state key `{key}`"), value)));
    }
    parts.extend(
        actions
            .into_iter()
            .map(|(action, value)| (format!("its action `{action}`"), value)),
    );
    parts
}

/// Shortens a text for a message.
fn shorten(mut text: String) -> String {
    const MOST: usize = 120;
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push_str(" ...");
    }
    text
}
