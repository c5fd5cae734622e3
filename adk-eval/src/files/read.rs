//! The way from a file to its type.

use crate::failure::{refused, unreadable};
use crate::schema::{Mismatch, Model, canonical};
use adk_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Reads a file as text.
pub(crate) fn read_file(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// Parses a text as JSON.
pub(crate) fn parse(text: &str, name: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        refused(
            format!("`{name}` is not JSON: {error}"),
            "correct the file at this place",
        )
    })
}

/// Reads a value by its model as a type.
pub(crate) fn typed<T: DeserializeOwned>(model: &Model, value: Value, name: &str) -> Result<T> {
    let fields = canonical(model, value).map_err(|error| mismatch(error, name))?;
    serde_json::from_value(Value::Object(fields)).map_err(|error| {
        refused(
            format!("`{name}` does not fit: {error}"),
            "compare it with the files of google-adk 2.13",
        )
    })
}

/// Makes the error of a value that does not fit its model.
pub(super) fn mismatch(error: Mismatch, name: &str) -> Error {
    let Mismatch { place, fact, help } = error;
    let fact = match place.as_str() {
        "" => format!("`{name}` {fact}"),
        place => format!("`{name}`: `{place}` {fact}"),
    };
    let help = help.unwrap_or_else(|| "compare it with the files of google-adk 2.13".to_owned());
    refused(fact, help)
}
