//! ADK's stored JSON of an event, as its `DatabaseSessionService` writes it: snake case, without
//! nulls. Fields of ADK that this crate does not know are kept in the event and written back.

use super::snake::Snake;
use super::*;
use crate::encode::to_json;
use crate::{Error, ErrorKind, Part, Result, StoreErrorKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::json;
use std::fmt::Write as _;

/// The end of the JSON of an event that has no id and no time yet.
const NO_STAMP: &str = r#""id":"00000000-0000-0000-0000-000000000000","timestamp":0.0}"#;

/// The stored form of an event without its last fields, id and time.
#[derive(Clone, Debug)]
pub struct Unstamped(String);

impl Unstamped {
    /// Returns the whole stored form, with id and time of the given event.
    pub fn stamped(&self, event: &Event) -> String {
        let mut text = String::with_capacity(self.0.len() + NO_STAMP.len() + 16);
        text.push_str(&self.0);
        let seconds = serde_json::Number::from_f64(event.timestamp as f64 / 1e6);
        // Any number of microseconds is finite in seconds.
        let seconds = seconds.unwrap_or_else(|| 0.into());
        // Writing to a string never fails.
        let _ = write!(text, r#""id":"{}","timestamp":{seconds}}}"#, event.id);
        text
    }
}

/// The metadata key for data that ADK's part types cannot hold: they refuse unknown fields.
const OWN: &str = "adk_workflow";

impl Event {
    /// Returns the event as ADK stores it: JSON with names in snake case and without nulls. ADK's
    /// REST interface writes camel case instead, as the `Serialize` of an event does.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::Event;
    /// let event = Event::new().with_text("Hi").with_state("draftKey", 1);
    /// let stored = event.to_stored()?;
    /// let actions = r#""actions":{"state_delta":{"draftKey":1},"artifact_delta":{}}"#;
    /// assert!(stored.contains(actions), "{stored}");
    /// assert_eq!(Event::from_stored(&stored)?, event);
    /// # Ok::<(), adk::Error>(())
    /// ```
    ///
    /// # Errors
    /// Never in practice: all fields of an event have a form in JSON.
    pub fn to_stored(&self) -> Result<String> {
        let unknown = self
            .details
            .as_ref()
            .map_or(&Value::Null, |details| &details.unknown);
        let parts = self
            .content
            .as_ref()
            .map_or(&[][..], |content| &content.parts);
        let plain = unknown.is_null() && !parts.iter().any(needs_care);
        let text = if plain {
            serde_json::to_string(&Snake(self))
        } else {
            serde_json::to_string(&self.to_stored_value()?)
        };
        text.map_err(|error| corrupt_event("the event has no form in JSON", error))
    }

    /// Returns the stored form without the id and the time, for a store that assigns them in a
    /// critical section. `None` if the event must be written by [`to_stored`](Self::to_stored): it
    /// has an id or a time, or parts that ADK stores in another form.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::{Event, EventId};
    /// let mut event = Event::new().with_text("Hi");
    /// let unstamped = event.to_unstamped()?.expect("a plain event");
    /// (event.id, event.timestamp) = (EventId::of_text("any"), 1_795_295_498_154_310);
    /// assert_eq!(unstamped.stamped(&event), event.to_stored()?);
    /// # Ok::<(), adk::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`to_stored`](Self::to_stored).
    pub fn to_unstamped(&self) -> Result<Option<Unstamped>> {
        let mut text = self.to_stored()?;
        Ok(text.ends_with(NO_STAMP).then(|| {
            text.truncate(text.len() - NO_STAMP.len());
            Unstamped(text)
        }))
    }

    fn to_stored_value(&self) -> Result<Value> {
        let kind = ErrorKind::Store(StoreErrorKind::Corrupt);
        let mut value =
            to_json(&Snake(self)).map_err(|error| error.into_error(kind, "the event"))?;
        hide(&mut value);
        if let Some(Details {
            unknown: Value::Object(unknown),
            ..
        }) = self.details.as_deref()
        {
            let mut unknown = unknown.clone();
            // An event that was copied from this one has other ids.
            for (field, is_own) in [
                (
                    "id",
                    unknown
                        .get("id")
                        .and_then(Value::as_str)
                        .map(|text| EventId::of_text(text) == self.id),
                ),
                (
                    "invocation_id",
                    unknown
                        .get("invocation_id")
                        .and_then(Value::as_str)
                        .map(|text| RunId::of_text(text) == self.invocation_id),
                ),
            ] {
                if is_own == Some(false) {
                    unknown.shift_remove(field);
                }
            }
            fill(&mut value, &Value::Object(unknown));
        }
        Ok(value)
    }

    /// Reads an event that ADK or this crate has stored. [`Details::unknown`] gets the fields that
    /// this crate does not know.
    ///
    /// # Errors
    /// An error of kind [`StoreErrorKind::Corrupt`], if the text is not JSON of an event.
    pub fn from_stored(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| corrupt_event("a stored event is not JSON", error))?;
        Self::from_stored_value(value)
    }

    /// Creates an event with only the columns of ADK's table, which allows a row without the event.
    ///
    /// # Errors
    /// The errors of [`from_stored`](Self::from_stored).
    pub fn from_columns(id: &str, invocation_id: &str, micros: u64) -> Result<Self> {
        let timestamp = micros as f64 / 1e6;
        let event =
            json!({"id": id, "invocation_id": invocation_id, "author": "", "timestamp": timestamp});
        Self::from_stored_value(event)
    }

    fn from_stored_value(value: Value) -> Result<Self> {
        let mut known = value.clone();
        for (field, own) in [
            ("id", id_text as fn(&str) -> _),
            ("invocation_id", run_text),
        ] {
            let text = known.get(field).and_then(Value::as_str).unwrap_or_default();
            let text = own(text);
            if let Some(object) = known.as_object_mut() {
                object.insert(field.to_owned(), text.into());
            }
        }
        show(&mut known);
        let mut event = serde_json::from_value::<Event>(known)
            .map_err(|error| corrupt_event("a stored event cannot be read", error))?;
        let mut unknown = difference(&value, &event.to_stored_value()?).unwrap_or_default();
        if let Some(object) = unknown.as_object_mut() {
            // The time is kept to the microsecond, as in the tables.
            object.shift_remove("timestamp");
        }
        if unknown.as_object().is_some_and(|object| !object.is_empty()) {
            event.details_mut().unknown = unknown;
        }
        Ok(event)
    }
}

fn corrupt_event(what: &str, error: serde_json::Error) -> Error {
    Error::new(
        ErrorKind::Store(StoreErrorKind::Corrupt),
        format!("{what}: {error}"),
    )
    .with_source(error)
}

/// Returns the id for the text of another program: ids of ADK are usually UUIDs, but may be any
/// text.
fn id_text(text: &str) -> String {
    EventId::of_text(text).to_string()
}

fn run_text(text: &str) -> String {
    RunId::of_text(text).to_string()
}

fn needs_care(part: &Part) -> bool {
    match part {
        Part::Thought(thought) => thought.signature.is_some(),
        Part::FunctionCall(call) => call.signature.is_some() || call.malformed.is_some(),
        _ => false,
    }
}

/// Returns the parts of an event in its JSON, with their positions as text.
fn parts(event: &mut Value) -> impl Iterator<Item = (String, &mut Map<String, Value>)> {
    let parts = event
        .get_mut("content")
        .and_then(|content| content.get_mut("parts"));
    let parts = parts.and_then(Value::as_array_mut).into_iter().flatten();
    parts
        .enumerate()
        .filter_map(|(at, part)| Some((at.to_string(), part.as_object_mut()?)))
}

/// Converts signatures to ADK's bytes, which are base64 in the URL-safe alphabet, and moves
/// malformed arguments, for which ADK's call has no field, to the metadata.
fn hide(event: &mut Value) {
    let (mut signatures, mut malformed) = (Map::new(), Map::new());
    for (at, part) in parts(event) {
        if let Some(Value::String(text)) = part.get_mut("thought_signature") {
            let bytes = STANDARD
                .decode(&text)
                .ok()
                .filter(|bytes| STANDARD.encode(bytes) == *text);
            if bytes.is_none() {
                signatures.insert(at.clone(), text.clone().into());
            }
            *text = URL_SAFE.encode(bytes.unwrap_or_else(|| text.as_bytes().to_vec()));
        }
        let call = part.get_mut("function_call").and_then(Value::as_object_mut);
        if let Some(text) = call.and_then(|call| call.shift_remove("malformed")) {
            malformed.insert(at, text);
        }
    }
    if signatures.is_empty() && malformed.is_empty() {
        return;
    }
    if let Some(event) = event.as_object_mut() {
        let metadata = event.entry("custom_metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert(
                OWN.to_owned(),
                json!({"signatures": signatures, "malformed": malformed}),
            );
        }
    }
}

/// Reverses [`hide`].
fn show(event: &mut Value) {
    let metadata = event
        .get_mut("custom_metadata")
        .and_then(Value::as_object_mut);
    let own = metadata
        .and_then(|metadata| metadata.shift_remove(OWN))
        .unwrap_or_default();
    for (at, part) in parts(event) {
        if let Some(Value::String(text)) = part.get_mut("thought_signature") {
            match own["signatures"].get(&at).and_then(Value::as_str) {
                Some(given) => given.clone_into(text),
                None => {
                    if let Ok(bytes) = URL_SAFE.decode(&text) {
                        *text = STANDARD.encode(bytes);
                    }
                }
            }
        }
        if let Some(text) = own["malformed"].get(&at)
            && let Some(call) = part.get_mut("function_call").and_then(Value::as_object_mut)
        {
            call.insert("malformed".to_owned(), text.clone());
        }
    }
}

/// Returns the values of `stored` that are missing or different in `ours`: objects by key, lists by
/// position with null for equal elements.
fn difference(stored: &Value, ours: &Value) -> Option<Value> {
    match (stored, ours) {
        (Value::Object(stored), Value::Object(ours)) => {
            let entry_difference = |(key, value): (&String, _)| match ours.get(key) {
                Some(own) => Some((key.clone(), difference(value, own)?)),
                None => Some((key.clone(), value.clone())),
            };
            let all: Map<_, _> = stored.iter().filter_map(entry_difference).collect();
            (!all.is_empty()).then_some(Value::Object(all))
        }
        (Value::Array(stored), Value::Array(ours)) if stored.len() == ours.len() => {
            let all: Vec<_> = stored
                .iter()
                .zip(ours)
                .map(|(stored, ours)| difference(stored, ours).unwrap_or_default())
                .collect();
            all.iter()
                .any(|value| !value.is_null())
                .then_some(Value::Array(all))
        }
        (stored, ours) if stored == ours => None,
        (stored, _) => Some(stored.clone()),
    }
}

/// Reverses [`difference`].
fn fill(ours: &mut Value, unknown: &Value) {
    match (ours, unknown) {
        (_, Value::Null) => {}
        (Value::Object(ours), Value::Object(unknown)) => {
            for (key, value) in unknown {
                match ours.get_mut(key) {
                    Some(own) => fill(own, value),
                    None => drop(ours.insert(key.clone(), value.clone())),
                }
            }
        }
        (Value::Array(ours), Value::Array(unknown)) if ours.len() == unknown.len() => {
            ours.iter_mut()
                .zip(unknown)
                .for_each(|(ours, unknown)| fill(ours, unknown));
        }
        (ours, unknown) => *ours = unknown.clone(),
    }
}

#[cfg(test)]
mod tests;
