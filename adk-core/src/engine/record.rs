//! What is recorded of a step or given as an answer: a value, or an error that is final.

use crate::{Error, ErrorKind, Path, Result, StoreErrorKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The key of an error that is recorded in place of a value.
const ERROR: &str = "$error";
/// The key of a value that would be taken for an error.
const VALUE: &str = "$value";

#[derive(Serialize, Deserialize)]
struct Failed {
    kind: ErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Path>,
}

/// The record of what work gave. An error that may pass is none: the work is done again then.
///
/// # Errors
/// An error that may pass, or a value without a form in JSON.
pub(crate) fn of<T: Serialize>(result: Result<T>) -> Result<Value> {
    match result {
        Ok(value) => serde_json::to_value(value).map(escaped).map_err(|error| {
            let message = format!("the result of this step cannot be recorded: {error}");
            Error::new(ErrorKind::Store(StoreErrorKind::Other), message).with_source(error)
        }),
        Err(error) if error.is_retryable() => Err(error),
        Err(error) => Ok(failed(&error)),
    }
}

/// The record of an error.
pub(crate) fn failed(error: &Error) -> Value {
    let (kind, message, help) = (error.kind(), error.message().to_owned(), error.help().map(str::to_owned));
    let path = error.path().cloned();
    let failed = serde_json::to_value(Failed { kind, message, help, path }).unwrap_or_default();
    Value::Object(Map::from_iter([(ERROR.to_owned(), failed)]))
}

/// The record of a value that is JSON already.
pub(crate) fn escaped(value: Value) -> Value {
    let is_taken = value.as_object().is_some_and(|map| map.contains_key(ERROR) || map.contains_key(VALUE));
    match is_taken {
        true => Value::Object(Map::from_iter([(VALUE.to_owned(), value)])),
        false => value,
    }
}

/// What a record says.
///
/// # Errors
/// The error that was recorded, or that the value is of another type.
pub(crate) fn read<T: DeserializeOwned>(record: Value) -> Result<T> {
    let other_type = |error: serde_json::Error| {
        let message = format!("the recorded result of this step is of another type: {error}");
        Error::new(ErrorKind::Diverged, message).with_source(error)
    };
    let value = match record {
        Value::Object(mut map) if map.len() == 1 => {
            match (map.shift_remove(ERROR), map.shift_remove(VALUE)) {
                (Some(failed), _) => {
                    let Failed { kind, message, help, path } =
                        serde_json::from_value(failed).map_err(other_type)?;
                    let mut error = Error::new(kind, message);
                    if let Some(help) = help {
                        error = error.with_help(help);
                    }
                    return Err(match path {
                        Some(path) => error.at(&path),
                        None => error,
                    });
                }
                (None, Some(value)) => value,
                (None, None) => Value::Object(map),
            }
        }
        record => record,
    };
    serde_json::from_value(value).map_err(other_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_and_a_final_error_come_back_as_they_were() {
        for value in
            [json!(null), json!(2), json!({"a": 1}), json!({"$error": 1}), json!({"$value": {"$error": 2}})]
        {
            assert_eq!(read::<Value>(of(Ok(&value)).unwrap()).unwrap(), value);
        }
        let error = Error::new(ErrorKind::KeyMissing, "no key").with_help("write it");
        let again = read::<Value>(of::<()>(Err(error)).unwrap()).unwrap_err();
        assert_eq!(
            (again.kind(), again.to_string()),
            (ErrorKind::KeyMissing, "no key; help: write it".to_owned())
        );
        of::<()>(Err(Error::new(ErrorKind::Timeout, "late"))).unwrap_err();
    }
}
