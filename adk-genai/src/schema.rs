//! Translation of the canonical schema (draft 2020-12, without references) to the dialect of each
//! provider.
//!
//! genai only closes objects and requires every property in schemas for OpenAI. This module does
//! the rest: it makes optional properties nullable (and removes the nulls from answers), drops
//! unsupported keywords, detects schemas without a strict form, and wraps answers that are not
//! objects.

mod anthropic;
mod gemini;
mod nulls;
mod strict;

pub(crate) use anthropic::anthropic;
pub(crate) use gemini::gemini;
pub(crate) use nulls::drop_nulls;
pub(crate) use strict::strict;

use serde_json::{Map, Value, json};

/// Property that holds a wrapped answer.
pub(crate) const WRAPPED: &str = "value";

pub(crate) fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
        && !["anyOf", "oneOf", "allOf"]
            .iter()
            .any(|key| schema.get(key).is_some())
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

/// Keywords whose values are maps of schemas, single schemas, or lists of schemas.
const MAPS: &[&str] = &["properties"];
const SINGLES: &[&str] = &["items", "additionalProperties"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];

/// Restrictions of a provider's schemas.
struct Dialect {
    refused: &'static [&'static str],
    /// Supported formats. Rust's own formats, such as `uint8`, are not supported.
    formats: &'static [&'static str],
}

/// Rebuilds an object schema in a dialect, and applies `change` to each inner schema. Returns
/// `None` as soon as `change` returns `None`.
fn map_inner(
    schema: &Map<String, Value>,
    Dialect { refused, formats }: &Dialect,
    mut change: impl FnMut(&Value) -> Option<Value>,
) -> Option<Map<String, Value>> {
    let mut out = Map::new();
    for (key, value) in schema {
        let is_known = key != "format"
            || value
                .as_str()
                .is_some_and(|format| formats.contains(&format));
        if refused.contains(&key.as_str()) || !is_known {
            continue;
        }
        let new = match value {
            Value::Object(inner) if MAPS.contains(&key.as_str()) => {
                let inner: Option<Map<_, _>> = inner
                    .iter()
                    .map(|(name, sub)| Some((name.clone(), change(sub)?)))
                    .collect();
                Value::Object(inner?)
            }
            Value::Array(inner) if LISTS.contains(&key.as_str()) => {
                Value::Array(inner.iter().map(&mut change).collect::<Option<_>>()?)
            }
            Value::Object(_) if SINGLES.contains(&key.as_str()) => change(value)?,
            _ => value.clone(),
        };
        out.insert(
            if key == "oneOf" {
                "anyOf".to_owned()
            } else {
                key.clone()
            },
            new,
        );
    }
    Some(out)
}
