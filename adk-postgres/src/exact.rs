//! Exact texts of values that `jsonb` changes: the order of keys, NUL characters and some numbers.
//! The text is stored next to the value that ADK reads.

use adk_journal::Event;
use adk_journal::engine::{from_text, to_text};
use adk_model::{Error, ErrorKind, Part, Result, StoreErrorKind};
use serde_json::{Map, Number, Value};

/// Reports whether `jsonb` stores a value and returns it unchanged.
pub(crate) fn is_unchanged(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => !is_bent(number),
        Value::String(text) => !text.contains('\0'),
        Value::Array(all) => all.iter().all(is_unchanged),
        Value::Object(all) => {
            let keys: Vec<_> = all.keys().map(|key| (key.len(), key.as_bytes())).collect();
            keys.is_sorted()
                && all
                    .iter()
                    .all(|(key, value)| !key.contains('\0') && is_unchanged(value))
        }
    }
}

/// Reports whether `jsonb` writes a number differently: it has neither exponents nor negative zero,
/// so a float may become an integer. With `arbitrary_precision`, the text of the number must stay
/// the same, and not only its value.
fn is_bent(number: &Number) -> bool {
    if number.is_u64() || number.as_i64().is_some_and(|integer| integer != 0) {
        return false;
    }
    let text = number.to_string();
    text.contains(['e', 'E']) || (text.starts_with('-') && number.as_f64() == Some(0.0))
}

/// Reports whether a number may exceed the range of `jsonb`. With `arbitrary_precision`, this
/// includes numbers that no float approximates.
fn is_extreme(number: &Number) -> bool {
    number
        .as_f64()
        .is_none_or(|float| float == 0.0 && number.to_string().contains(['e', 'E']))
}

/// Returns the value that ADK reads. Replaces NUL, which `jsonb` rejects, by U+FFFD, and
/// out-of-range numbers by text.
pub(crate) fn to_shown(value: &Value) -> Value {
    let text = |text: &str| text.replace('\0', "\u{fffd}");
    match value {
        Value::String(string) => text(string).into(),
        Value::Number(number) if is_extreme(number) => number.to_string().into(),
        Value::Array(all) => all.iter().map(to_shown).collect(),
        Value::Object(all) => all
            .iter()
            .map(|(key, value)| (text(key), to_shown(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Reports whether `shown` is the form of `exact` that this crate has stored. If not, another
/// program has overwritten the value.
fn is_derived_from(shown: &Value, exact: &Value) -> bool {
    let text = |shown: &str, exact: &str| {
        if exact.contains('\0') {
            shown == exact.replace('\0', "\u{fffd}")
        } else {
            shown == exact
        }
    };
    match (shown, exact) {
        (Value::String(shown), Value::Number(exact)) => {
            is_extreme(exact) && *shown == exact.to_string()
        }
        (Value::Number(shown), Value::Number(exact)) => {
            shown == exact || shown.as_f64() == exact.as_f64()
        }
        (Value::String(shown), Value::String(exact)) => text(shown, exact),
        (Value::Array(shown), Value::Array(exact)) => {
            shown.len() == exact.len()
                && shown
                    .iter()
                    .zip(exact)
                    .all(|(shown, exact)| is_derived_from(shown, exact))
        }
        (Value::Object(shown), Value::Object(exact)) => {
            let here = |key: &str| {
                shown
                    .get(key)
                    .or_else(|| shown.get(&key.replace('\0', "\u{fffd}")))
            };
            shown.len() == exact.len()
                && exact.iter().all(|(key, exact)| {
                    here(key).is_some_and(|shown| is_derived_from(shown, exact))
                })
        }
        _ => shown == exact,
    }
}

/// Returns an event in the form that ADK reads, and its exact text if that form is lossy.
pub(crate) fn to_stored_event(event: &Event) -> Result<(String, Option<String>)> {
    let text = event.to_stored()?;
    let parts = event
        .content
        .as_ref()
        .map_or(&[][..], |content| &content.parts);
    let plain = event.details.is_none()
        && parts.iter().all(|part| matches!(part, Part::Text(_)))
        && event.actions.agent_state.is_none()
        && event.actions.artifact_delta.len() < 2
        && event
            .actions
            .state_delta
            .iter()
            .map(|(key, _)| (key.len(), key.as_bytes()))
            .is_sorted()
        && event
            .actions
            .state_delta
            .iter()
            .all(|(_, value)| is_unchanged(value));
    if plain && !text.contains("\\u0000") {
        return Ok((text, None));
    }
    let value: Value = from_text(&text, "an event")?;
    let given = to_shown(&value);
    // Compare with the form that `jsonb` will return: if that form parses to the same event,
    // nothing is lost.
    let again =
        Event::from_stored(&sort_keys(&given).to_string()).and_then(|event| event.to_stored());
    let exact = again.is_ok_and(|again| again == text) && numbers_fit(&value);
    Ok(if exact {
        (text, None)
    } else {
        (given.to_string(), Some(text))
    })
}

fn numbers_fit(value: &Value) -> bool {
    match value {
        Value::Number(number) => !is_bent(number),
        Value::Array(all) => all.iter().all(numbers_fit),
        Value::Object(all) => all.values().all(numbers_fit),
        _ => true,
    }
}

/// Sorts keys in the order of `jsonb`.
fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(sort_keys).collect(),
        Value::Object(all) => {
            let mut keys: Vec<_> = all.iter().collect();
            keys.sort_by_key(|(key, _)| (key.len(), key.as_bytes()));
            keys.into_iter()
                .map(|(key, value)| (key.clone(), sort_keys(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Parses the event of a row.
pub(crate) fn event(stored: &str, exact: Option<&str>) -> Result<Event> {
    let Some(exact) = exact else {
        return Event::from_stored(stored);
    };
    let (shown, kept): (Value, Value) = (
        from_text(stored, "an event")?,
        from_text(exact, "an event")?,
    );
    Event::from_stored(if is_derived_from(&shown, &kept) {
        exact
    } else {
        stored
    })
}

/// Rejects a key with a NUL character, which Postgres cannot store.
pub(crate) fn check(key: &str) -> Result<()> {
    if !key.contains('\0') {
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::Store(StoreErrorKind::Other),
            format!("Postgres cannot store the state key {key:?}: it contains a NUL character"),
        )
        .with_help("choose a key without NUL; values may contain NUL"))
    }
}

/// Changed keys and values of a state, in stored form.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Keys {
    /// Object that ADK reads.
    pub(crate) shown: Map<String, Value>,
    /// Object with the exact texts of the values that need one.
    pub(crate) exact: Map<String, Value>,
    /// Keys whose values may have had an exact text before, and do not need it any more.
    pub(crate) plain: Vec<String>,
}

impl Keys {
    pub(crate) fn insert(&mut self, key: &str, value: &Value) -> Result<()> {
        self.exact.shift_remove(key);
        self.plain.retain(|plain| plain != key);
        match value {
            _ if !is_unchanged(value) => {
                drop(self.exact.insert(key.to_owned(), to_text(value)?.into()))
            }
            Value::Array(_) | Value::Object(_) => self.plain.push(key.to_owned()),
            // For a scalar, an old exact text of the key needs no removal: it does not match the
            // scalar, so it is recognized as outdated.
            _ => {}
        }
        self.shown.insert(key.to_owned(), to_shown(value));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Reports whether the column with exact texts changes.
    pub(crate) fn is_exact(&self) -> bool {
        !self.exact.is_empty() || !self.plain.is_empty()
    }
}

/// Restores a state from the object that ADK reads and the exact texts.
pub(crate) fn state(shown: &str, exact: Option<&str>) -> serde_json::Result<Map<String, Value>> {
    let mut state: Map<String, Value> = serde_json::from_str(shown)?;
    let exact: Map<String, Value> = exact.map_or(Ok(Map::new()), serde_json::from_str)?;
    for (key, text) in exact {
        let kept: Value = serde_json::from_str(text.as_str().unwrap_or("null"))?;
        if let Some(value) = state
            .get_mut(&key)
            .filter(|value| is_derived_from(value, &kept))
        {
            *value = kept;
        }
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Simulates the changes of `jsonb`.
    fn stored(value: &Value) -> Value {
        let value = sort_keys(&to_shown(value));
        let text = value
            .to_string()
            .replace("1e16", "10000000000000000")
            .replace("-0.0", "0.0");
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn a_state_is_restored_unchanged() {
        for value in [
            json!({"b": 1, "a": null}),
            json!({"deep": [{"bb": 1, "a": "x\u{0}y"}]}),
            json!("\u{0}"),
            json!({"a\u{0}": 1}),
            json!([1e16, -0.0, 1.5]),
            json!({"a": 1, "bb": {}}),
        ] {
            let mut keys = Keys::default();
            keys.insert("k", &value).expect("it can be stored");
            let shown: Map<_, _> = [("k".to_owned(), stored(&keys.shown["k"]))]
                .into_iter()
                .collect();
            let (shown, exact) = (Value::Object(shown), Value::Object(keys.exact.clone()));
            let back = state(&shown.to_string(), Some(&exact.to_string())).expect("it is JSON");
            assert_eq!(back["k"].to_string(), value.to_string());
            assert_eq!(keys.exact.is_empty(), is_unchanged(&value), "{value}");
            // Another program has overwritten the value, so the exact text is outdated.
            let back =
                state(r#"{"k": {"a": 2, "b": 1}}"#, Some(&exact.to_string())).expect("it is JSON");
            assert_eq!(back["k"], json!({"a": 2, "b": 1}));
        }
    }

    #[test]
    fn the_last_of_several_values_counts() {
        let mut keys = Keys::default();
        for value in [json!({"b": 1, "a": 2}), json!({"a": 2, "b": 1})] {
            keys.insert("k", &value).expect("it can be stored");
        }
        assert!(keys.exact.is_empty() && keys.plain == ["k"]);
        keys.insert("k", &json!("\u{0}")).expect("it can be stored");
        assert!(keys.exact.len() == 1 && keys.plain.is_empty());
        assert!(check("a\u{0}").is_err() && check("a").is_ok());
    }

    #[test]
    fn an_event_has_an_exact_text_only_if_something_would_be_lost() {
        let with = |value: Value| {
            Event::new()
                .with_text("hi")
                .with_state("k", value)
                .with_metadata("zz", 1)
        };
        for (event, beside) in [
            (with(json!({"a": 1, "bb": 2})), false),
            (with(json!({"bb": 1, "a": 2})), true),
            (with(json!("x\u{0}")), true),
            (with(json!(1e16)), true),
            (Event::new().with_text("a\u{0}b"), true),
            (Event::new().with_text("\\u0000"), false),
            (
                Event::new().with_metadata("b", 1).with_metadata("a", 2),
                true,
            ),
        ] {
            let (shown, exact) = to_stored_event(&event).expect("it can be stored");
            assert_eq!(exact.is_some(), beside, "{shown}");
            let value: Value = serde_json::from_str(&shown).expect("it is JSON");
            let back = super::event(&stored(&value).to_string(), exact.as_deref())
                .expect("it is an event");
            assert_eq!(
                back.to_stored().expect("it has a form"),
                event.to_stored().expect("it has a form")
            );
        }
    }
}
