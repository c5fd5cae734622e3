//! What `jsonb` does not give back as it was: the order of keys, NUL characters, some numbers. Where that matters, the
//! text is kept beside what ADK reads.

use adk_core::engine::{from_text, to_text};
use adk_core::{Error, ErrorKind, Event, Part, Result, StoreErrorKind};
use serde_json::{Map, Number, Value};

/// Whether `jsonb` gives this back as it is.
pub(crate) fn fits(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => !is_bent(number),
        Value::String(text) => !text.contains('\0'),
        Value::Array(all) => all.iter().all(fits),
        Value::Object(all) => {
            let keys: Vec<_> = all.keys().map(|key| (key.len(), key.as_bytes())).collect();
            keys.is_sorted() && all.iter().all(|(key, value)| !key.contains('\0') && fits(value))
        }
    }
}

/// Whether `jsonb` writes another text: it has no exponents and no sign of zero, so that a float may come back as an
/// integer. With `arbitrary_precision`, the text is the number.
fn is_bent(number: &Number) -> bool {
    if number.is_u64() || number.as_i64().is_some_and(|integer| integer != 0) {
        return false;
    }
    let text = number.to_string();
    text.contains(['e', 'E']) || (text.starts_with('-') && number.as_f64() == Some(0.0))
}

/// Whether it may be beyond the numbers of `jsonb`, as with `arbitrary_precision` those that no float is near to.
fn is_extreme(number: &Number) -> bool {
    number.as_f64().is_none_or(|float| float == 0.0 && number.to_string().contains(['e', 'E']))
}

/// What ADK is given to read: `jsonb` knows no NUL, so there is the sign for what cannot be shown. Numbers that it does not
/// know are text.
pub(crate) fn shown(value: &Value) -> Value {
    let text = |text: &str| text.replace('\0', "\u{fffd}");
    match value {
        Value::String(string) => text(string).into(),
        Value::Number(number) if is_extreme(number) => number.to_string().into(),
        Value::Array(all) => all.iter().map(shown).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (text(key), shown(value))).collect(),
        other => other.clone(),
    }
}

/// Whether that was made of this, and not been written by another program since.
fn is_of(shown: &Value, exact: &Value) -> bool {
    let text = |shown: &str, exact: &str| {
        if exact.contains('\0') { shown == exact.replace('\0', "\u{fffd}") } else { shown == exact }
    };
    match (shown, exact) {
        (Value::String(shown), Value::Number(exact)) => is_extreme(exact) && *shown == exact.to_string(),
        (Value::Number(shown), Value::Number(exact)) => shown == exact || shown.as_f64() == exact.as_f64(),
        (Value::String(shown), Value::String(exact)) => text(shown, exact),
        (Value::Array(shown), Value::Array(exact)) => {
            shown.len() == exact.len() && shown.iter().zip(exact).all(|(shown, exact)| is_of(shown, exact))
        }
        (Value::Object(shown), Value::Object(exact)) => {
            let here = |key: &str| shown.get(key).or_else(|| shown.get(&key.replace('\0', "\u{fffd}")));
            shown.len() == exact.len()
                && exact.iter().all(|(key, exact)| here(key).is_some_and(|shown| is_of(shown, exact)))
        }
        _ => shown == exact,
    }
}

/// An event as ADK reads it, and its exact text where that is needed.
pub(crate) fn of_event(event: &Event) -> Result<(String, Option<String>)> {
    let text = event.to_stored()?;
    let parts = event.content.as_ref().map_or(&[][..], |content| &content.parts);
    let plain = event.details.is_none()
        && parts.iter().all(|part| matches!(part, Part::Text(_)))
        && event.actions.agent_state.is_none()
        && event.actions.artifact_delta.len() < 2
        && event.actions.state_delta.iter().map(|(key, _)| (key.len(), key.as_bytes())).is_sorted()
        && event.actions.state_delta.iter().all(|(_, value)| fits(value));
    if plain && !text.contains("\\u0000") {
        return Ok((text, None));
    }
    let value: Value = from_text(&text, "an event")?;
    let given = shown(&value);
    // As it will come back: if that makes the same event of it, nothing is lost.
    let again = Event::from_stored(&sorted(&given).to_string()).and_then(|event| event.to_stored());
    let exact = again.is_ok_and(|again| again == text) && numbers_fit(&value);
    Ok(if exact { (text, None) } else { (given.to_string(), Some(text)) })
}

fn numbers_fit(value: &Value) -> bool {
    match value {
        Value::Number(number) => !is_bent(number),
        Value::Array(all) => all.iter().all(numbers_fit),
        Value::Object(all) => all.values().all(numbers_fit),
        _ => true,
    }
}

/// Keys in the order of `jsonb`.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(sorted).collect(),
        Value::Object(all) => {
            let mut keys: Vec<_> = all.iter().collect();
            keys.sort_by_key(|(key, _)| (key.len(), key.as_bytes()));
            keys.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        other => other.clone(),
    }
}

/// The event of a row.
pub(crate) fn event(stored: &str, exact: Option<&str>) -> Result<Event> {
    let Some(exact) = exact else { return Event::from_stored(stored) };
    let (shown, kept): (Value, Value) = (from_text(stored, "an event")?, from_text(exact, "an event")?);
    Event::from_stored(if is_of(&shown, &kept) { exact } else { stored })
}

/// Postgres has no way to keep such a key.
pub(crate) fn check(key: &str) -> Result<()> {
    if !key.contains('\0') {
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::Store(StoreErrorKind::Other),
            format!("Postgres cannot keep the key {key:?} of a state: it holds a NUL"),
        )
        .with_help("take another key; values may hold it"))
    }
}

/// Keys and values of a state as they are stored.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Keys {
    /// For ADK to read: a JSON object.
    pub(crate) shown: Map<String, Value>,
    /// The exact text of those that need it: an object of texts.
    pub(crate) exact: Map<String, Value>,
    /// Those that may have had one before and need none any more.
    pub(crate) plain: Vec<String>,
}

impl Keys {
    pub(crate) fn insert(&mut self, key: &str, value: &Value) -> Result<()> {
        self.exact.shift_remove(key);
        self.plain.retain(|plain| plain != key);
        match value {
            _ if !fits(value) => drop(self.exact.insert(key.to_owned(), to_text(value)?.into())),
            Value::Array(_) | Value::Object(_) => self.plain.push(key.to_owned()),
            // It cannot be confused with one next to it.
            _ => {}
        }
        self.shown.insert(key.to_owned(), shown(value));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// True if its neighbours have to be changed.
    pub(crate) fn is_exact(&self) -> bool {
        !self.exact.is_empty() || !self.plain.is_empty()
    }
}

/// A state as it was, of what ADK reads and the exact texts beside.
pub(crate) fn state(shown: &str, exact: Option<&str>) -> serde_json::Result<Map<String, Value>> {
    let mut state: Map<String, Value> = serde_json::from_str(shown)?;
    let exact: Map<String, Value> = exact.map_or(Ok(Map::new()), serde_json::from_str)?;
    for (key, text) in exact {
        let kept: Value = serde_json::from_str(text.as_str().unwrap_or("null"))?;
        if let Some(value) = state.get_mut(&key).filter(|value| is_of(value, &kept)) {
            *value = kept;
        }
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What `jsonb` makes of a text.
    fn stored(value: &Value) -> Value {
        let value = sorted(&shown(value));
        let text = value.to_string().replace("1e16", "10000000000000000").replace("-0.0", "0.0");
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn a_state_comes_back_as_it_was() {
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
            let shown: Map<_, _> = [("k".to_owned(), stored(&keys.shown["k"]))].into_iter().collect();
            let (shown, exact) = (Value::Object(shown), Value::Object(keys.exact.clone()));
            let back = state(&shown.to_string(), Some(&exact.to_string())).expect("it is JSON");
            assert_eq!(back["k"].to_string(), value.to_string());
            assert_eq!(keys.exact.is_empty(), fits(&value), "{value}");
            // Another program has written it since.
            let back = state(r#"{"k": {"a": 2, "b": 1}}"#, Some(&exact.to_string())).expect("it is JSON");
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
    fn an_event_is_kept_beside_only_where_something_would_be_lost() {
        let with = |value: Value| Event::new().with_text("hi").with_state("k", value).with_metadata("zz", 1);
        for (event, beside) in [
            (with(json!({"a": 1, "bb": 2})), false),
            (with(json!({"bb": 1, "a": 2})), true),
            (with(json!("x\u{0}")), true),
            (with(json!(1e16)), true),
            (Event::new().with_text("a\u{0}b"), true),
            (Event::new().with_text("\\u0000"), false),
            (Event::new().with_metadata("b", 1).with_metadata("a", 2), true),
        ] {
            let (shown, exact) = of_event(&event).expect("it can be stored");
            assert_eq!(exact.is_some(), beside, "{shown}");
            let value: Value = serde_json::from_str(&shown).expect("it is JSON");
            let back = super::event(&stored(&value).to_string(), exact.as_deref()).expect("it is an event");
            assert_eq!(back.to_stored().expect("it has a form"), event.to_stored().expect("it has a form"));
        }
    }
}
