//! Translation of schemas to the dialect of each provider.
//!
//! genai only closes objects and requires every property in schemas for OpenAI. This module does
//! the rest: it makes optional properties nullable, drops unsupported keywords, detects schemas
//! without a strict form, and wraps answers that are not objects.

mod anthropic;
mod gemini;
mod plain;
mod strict;

pub(crate) use adk_model::__private::schema::drop_nulls;
pub(crate) use anthropic::{anthropic, refused_name};
pub(crate) use gemini::gemini;
pub(crate) use plain::{arguments, plain};
pub(crate) use strict::strict;

use adk_model::__private::schema::{kind, map_parts};
use serde_json::{Map, Value, json};

/// Property that holds a wrapped answer.
pub(crate) const WRAPPED: &str = "value";

pub(crate) fn is_object(schema: &Value) -> bool {
    kind(schema) == "object" && schema["type"].is_string() && schema.get("anyOf").is_none()
}

/// Wraps a schema in an object with one property, because OpenAI and Anthropic answer only with
/// objects.
pub(crate) fn wrap(schema: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { WRAPPED: schema },
        "required": [WRAPPED],
        "additionalProperties": false,
    })
}

/// The part of JSON Schema that a provider supports.
struct Dialect {
    keywords: &'static [&'static str],
    /// Supported formats. Rust's own formats, such as `uint8`, are not supported.
    formats: &'static [&'static str],
}

/// Rebuilds an object schema in a dialect, and applies `change` to each inner schema. Returns
/// `None` as soon as `change` returns `None`.
fn map_inner(
    schema: &Map<String, Value>,
    Dialect { keywords, formats }: &Dialect,
    mut change: impl FnMut(&Value) -> Option<Value>,
) -> Option<Map<String, Value>> {
    let is_known = |(key, value): &(&String, &Value)| {
        keywords.contains(&&***key)
            && (*key != "format" || value.as_str().is_some_and(|one| formats.contains(&one)))
    };
    let mut part = |inner: &Value| match inner {
        Value::Bool(_) => Ok(inner.clone()),
        inner => change(inner).ok_or(()),
    };
    let all = schema.iter().filter(is_known);
    all.map(|(key, value)| Some((key.clone(), map_parts(key, value, &mut part).ok()?)))
        .collect()
}
