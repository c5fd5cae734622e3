//! One canonical schema (draft 2020-12, everything inline) in the dialect of each provider.
//!
//! genai closes objects and requires every property in what it sends to OpenAI, and that is all. The rest is
//! here: making optional properties nullable (and taking the nulls out again), dropping keywords that are
//! refused, seeing that a schema has no strict form at all, and wrapping answers that are no objects.

mod anthropic;
mod gemini;
mod nulls;
mod strict;

pub(crate) use anthropic::anthropic;
pub(crate) use gemini::gemini;
pub(crate) use nulls::drop_nulls;
pub(crate) use strict::strict;

use serde_json::{Map, Value, json};

/// The property under which an answer that is no object is wrapped.
pub(crate) const WRAPPED: &str = "value";

pub(crate) fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
        && !["anyOf", "oneOf", "allOf"].iter().any(|key| schema.get(key).is_some())
}

/// OpenAI and Anthropic answer with objects alone: any other schema becomes the one property of an object.
pub(crate) fn wrap(schema: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { WRAPPED: schema },
        "required": [WRAPPED],
        "additionalProperties": false,
    })
}

/// Keywords whose values are schemas by name, a schema, or a list of schemas.
const MAPS: &[&str] = &["properties"];
const SINGLES: &[&str] = &["items", "additionalProperties"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];

/// What the schemas of a provider may not hold.
struct Dialect {
    refused: &'static [&'static str],
    /// The formats that are known; Rust's own, such as `uint8`, are not.
    formats: &'static [&'static str],
}

/// Rebuilds an object schema in a dialect, with `change` applied to each schema inside; `None` as soon as one is `None`.
fn map_inner(
    schema: &Map<String, Value>,
    Dialect { refused, formats }: &Dialect,
    mut change: impl FnMut(&Value) -> Option<Value>,
) -> Option<Map<String, Value>> {
    let mut out = Map::new();
    for (key, value) in schema {
        let is_known = key != "format" || value.as_str().is_some_and(|format| formats.contains(&format));
        if refused.contains(&key.as_str()) || !is_known {
            continue;
        }
        let new = match value {
            Value::Object(inner) if MAPS.contains(&key.as_str()) => {
                let inner: Option<Map<_, _>> =
                    inner.iter().map(|(name, sub)| Some((name.clone(), change(sub)?))).collect();
                Value::Object(inner?)
            }
            Value::Array(inner) if LISTS.contains(&key.as_str()) => {
                Value::Array(inner.iter().map(&mut change).collect::<Option<_>>()?)
            }
            Value::Object(_) if SINGLES.contains(&key.as_str()) => change(value)?,
            _ => value.clone(),
        };
        out.insert(if key == "oneOf" { "anyOf".to_owned() } else { key.clone() }, new);
    }
    Some(out)
}
