//! Records of steps and answers. A record is a value, an error that is a result, or a failed call.

use super::call::{CallInputs, CallKind, StepKey};
use super::run_error::RunError;
use crate::encode::{EncodeError, to_json};
use crate::{Error, ErrorKind, Name, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The JSON key of a recorded error that counts as the result of its call: the run has continued
/// with the error.
pub(super) const ERROR: &str = "$error";
/// The JSON key of the record of a failed call. The record only documents the failure: a resumed
/// run makes the call again.
const FAILED: &str = "$failed";
/// The JSON key of the record of a wait that was withdrawn: the run has continued without an
/// answer.
const WITHDRAWN: &str = "$withdrawn";
/// The JSON key of a plain result. It is used if [`CallFacts`] are stored next to the result, or if
/// the result has one of these keys itself.
const VALUE: &str = "$value";
/// The JSON key of [`CallFacts`].
const CALL: &str = "$call";

/// The facts about a call that a record keeps next to the result.
#[derive(Serialize)]
struct CallFacts<'a> {
    kind: CallKind,
    /// The digest of the call's inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<String>,
    /// The model that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a Name>,
}

#[derive(Serialize, Deserialize)]
struct Failed {
    #[serde(flatten)]
    error: RunError,
    /// The number of attempts until this failure, over all resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
}

/// Returns the record of the value of a step.
///
/// # Errors
/// If the value has no form in JSON.
pub fn from_value<T: Serialize>(value: &T) -> Result<Value, EncodeError> {
    to_json(value).map(escape)
}

/// Returns the record of a call with this result.
pub fn from_call(value: Value, kind: CallKind, inputs: &CallInputs) -> Value {
    let facts = CallFacts {
        kind,
        asked: inputs.digest().map(|digest| digest.to_string()),
        by: inputs.model(),
    };
    let value = match value {
        Value::Object(mut map) if map.len() == 1 && map.contains_key(VALUE) => {
            map.shift_remove(VALUE).unwrap_or_default()
        }
        value => value,
    };
    let facts = to_json(&facts).unwrap_or_default();
    Value::Object(Map::from_iter([
        (CALL.to_owned(), facts),
        (VALUE.to_owned(), value),
    ]))
}

/// Checks that a tool is called with the arguments in its record.
///
/// # Errors
/// [`ErrorKind::Diverged`] when the arguments differ.
pub fn check_inputs(record: &Value, key: &StepKey, inputs: &CallInputs) -> Result<()> {
    let recorded = record
        .get(CALL)
        .and_then(|facts| facts.get("asked"))
        .and_then(Value::as_str);
    let (CallKind::Tool, Some(recorded), Some(now)) = (key.kind, recorded, inputs.digest()) else {
        return Ok(());
    };
    if now.to_string() == recorded {
        return Ok(());
    }
    let (name, number) = (&key.name, key.index + 1);
    let message = format!(
        "call {number} of tool `{name}` in this turn has other arguments than the call that the \
         journal of run `{}` holds as `{key}`",
        key.run_id
    );
    Err(Error::new(ErrorKind::Diverged, message)
        .with_help(format!(
            "`{name}` was not called again; what decides the arguments has changed in or before \
             `{}`: undo that change, or resume the run with the program that recorded the call",
            key.path
        ))
        .at(&key.path))
}

/// Returns the record of an error that counts as the result of its call.
pub fn from_error(error: &Error) -> Value {
    error_record(ERROR, error, None)
}

/// Returns the record of a failed call.
pub fn from_failure(error: &Error, attempt: u32) -> Value {
    error_record(FAILED, error, Some(attempt))
}

fn error_record(key: &str, error: &Error, attempt: Option<u32>) -> Value {
    let failed = Failed {
        error: error.into(),
        attempt,
    };
    let failed = to_json(&failed).unwrap_or_default();
    Value::Object(Map::from_iter([(key.to_owned(), failed)]))
}

/// Returns true if this is the record of a failed call. Such a record is not a result: when the run
/// is resumed, the call is made again, and its new record replaces this one. As JSON text it begins
/// with `{"$failed":`.
pub fn is_failure(record: &Value) -> bool {
    failure_of(record).is_some()
}

fn failure_of(record: &Value) -> Option<&Value> {
    record.as_object().filter(|map| map.len() == 1)?.get(FAILED)
}

/// Returns the record of a wait that was withdrawn.
pub fn withdrawal() -> Value {
    Value::Object(Map::from_iter([(WITHDRAWN.to_owned(), Value::Null)]))
}

/// Returns true if this is the record of a wait that was withdrawn.
pub fn is_withdrawn(record: &Value) -> bool {
    record
        .as_object()
        .is_some_and(|map| map.len() == 1 && map.contains_key(WITHDRAWN))
}

/// Returns the number of the failed attempt; 0 for any other record.
pub fn attempt(record: &Value) -> u32 {
    let attempt = failure_of(record).and_then(|failed| failed.get("attempt")?.as_u64());
    attempt.map_or(0, |attempt| u32::try_from(attempt).unwrap_or(u32::MAX))
}

/// Turns the record of a failed call into the record of an error that counts as its result, after
/// the run has continued with the error.
pub fn settle(failure: Value) -> Value {
    match failure {
        Value::Object(mut map) if map.len() == 1 => match map.shift_remove(FAILED) {
            Some(failed) => Value::Object(Map::from_iter([(ERROR.to_owned(), failed)])),
            None => Value::Object(map),
        },
        other => other,
    }
}

/// Returns the record of a JSON value.
pub fn escape(value: Value) -> Value {
    let is_taken = |map: &Map<String, Value>| {
        [ERROR, FAILED, WITHDRAWN, VALUE, CALL]
            .iter()
            .any(|key| map.contains_key(*key))
    };
    if value.as_object().is_some_and(is_taken) {
        Value::Object(Map::from_iter([(VALUE.to_owned(), value)]))
    } else {
        value
    }
}

/// What a record is about, for error messages.
#[derive(Clone, Copy, Debug)]
pub enum RecordSubject<'a> {
    /// The step of that name.
    Step(&'a Name),
    /// The wait of that name.
    Wait(&'a Name),
    /// A branch that another process has run.
    Branch,
}

impl RecordSubject<'_> {
    fn type_error(self, error: serde_json::Error) -> Error {
        let (what, help) = match self {
            Self::Step(name) => (
                format!("the recorded result of step `{name}`"),
                "resume the run with the program that recorded it, or give the step another name, \
                 so that it is done again; its type has to deserialize what it serializes",
            ),
            Self::Wait(name) => (
                format!("the answer to wait `{name}`"),
                "resume the run with a program whose type fits it; an `await` checks each answer \
                 against its type before it accepts the answer",
            ),
            Self::Branch => (
                "the recorded end of a branch".to_owned(),
                "run the branches of a run with the program that it was begun with",
            ),
        };
        let message = format!("{what} is of another type: {error}");
        Error::new(ErrorKind::Diverged, message)
            .with_help(help)
            .with_source(error)
    }
}

/// Reads the value of a record.
///
/// # Errors
/// The recorded error, or [`ErrorKind::Diverged`] if the value has another type.
pub fn read<T: DeserializeOwned>(record: Value, subject: RecordSubject<'_>) -> Result<T> {
    serde_json::from_value(value(record, subject)?).map_err(|error| subject.type_error(error))
}

fn value(record: Value, subject: RecordSubject<'_>) -> Result<Value> {
    Ok(match record {
        Value::Object(mut map) if map.len() == 1 => {
            let error = map.shift_remove(ERROR).or_else(|| map.shift_remove(FAILED));
            match (error, map.shift_remove(VALUE)) {
                (Some(failed), _) => {
                    let Failed { error, .. } = serde_json::from_value(failed)
                        .map_err(|error| subject.type_error(error))?;
                    return Err(error.into());
                }
                (None, Some(value)) => value,
                (None, None) => Value::Object(map),
            }
        }
        Value::Object(mut map) if map.contains_key(CALL) => {
            map.shift_remove(VALUE).unwrap_or_default()
        }
        record => record,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_and_an_error_come_back_as_they_were() {
        for value in [
            json!(null),
            json!(2),
            json!({"a": 1}),
            json!({"$error": 1}),
            json!({"$failed": 1}),
            json!({"$withdrawn": null}),
            json!({"$value": {"$error": 2}}),
        ] {
            let record = from_value(&value).unwrap();
            assert!(!is_failure(&record) && !is_withdrawn(&record), "{record}");
            assert_eq!(read::<Value>(record, RecordSubject::Branch).unwrap(), value);
        }
        let error = Error::new(ErrorKind::KeyMissing, "no key").with_help("write it");
        let failure = from_failure(&error, 3);
        assert!(is_failure(&failure) && failure.to_string().starts_with("{\"$failed\":"));
        assert_eq!((attempt(&failure), attempt(&json!(1))), (3, 0));
        let result = settle(failure.clone());
        assert!(!is_failure(&result));
        for record in [failure, result] {
            let again = read::<Value>(record, RecordSubject::Branch).unwrap_err();
            assert_eq!(
                (again.kind(), again.to_string()),
                (ErrorKind::KeyMissing, "no key; help: write it".to_owned())
            );
        }
    }

    #[test]
    fn the_error_for_a_record_of_another_type_names_its_subject_and_a_remedy() {
        let name = Name::literal("model");
        for (subject, wanted, remedy) in [
            (
                RecordSubject::Step(&name),
                "step `model`",
                "the program that recorded it",
            ),
            (
                RecordSubject::Wait(&name),
                "wait `model`",
                "a program whose type fits",
            ),
            (
                RecordSubject::Branch,
                "branch",
                "the program that it was begun with",
            ),
        ] {
            for record in [json!("text"), json!({"$error": 1})] {
                let error = read::<u32>(record, subject).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Diverged);
                assert!(error.message().contains(wanted), "{error}");
                let help = error.help().unwrap_or_default();
                assert!(help.contains(remedy), "{error}");
            }
        }
    }
}
