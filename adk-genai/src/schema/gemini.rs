//! [`gemini`]: schemas for Gemini's fields `responseJsonSchema` and `parametersJsonSchema`.

use super::{Dialect, map_inner};
use serde_json::{Map, Value, json};

/// Keywords that an API path rejects or ignores. Public reports contradict each other, so all are
/// removed.
const DIALECT: Dialect = Dialect {
    refused: &[
        "$schema",
        "$id",
        "$anchor",
        "$comment",
        "$defs",
        "definitions",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "propertyNames",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
        "unevaluatedItems",
        "contains",
        "minContains",
        "maxContains",
        "uniqueItems",
        "multipleOf",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "contentEncoding",
        "contentMediaType",
    ],
    formats: &["date-time", "date", "time"],
};

/// Returns Gemini's form. A `$ref`, which can only be a recursion, becomes an open object.
pub(crate) fn gemini(schema: &Value) -> Value {
    let Some(schema) = schema.as_object() else {
        return json!({});
    };
    if schema.contains_key("$ref") {
        let mut open = Map::from_iter([("type".to_owned(), json!("object"))]);
        open.extend(
            schema
                .get("description")
                .map(|text| ("description".to_owned(), text.clone())),
        );
        return Value::Object(open);
    }
    let mut out = Map::new();
    for (key, value) in map_inner(schema, &DIALECT, |inner| Some(gemini(inner))).unwrap_or_default()
    {
        match key.as_str() {
            "const" => {
                // Only strings and numbers can be enumerated.
                let kind = match &value {
                    Value::String(_) => "string",
                    Value::Number(_) => "number",
                    Value::Bool(_) => "boolean",
                    _ => "null",
                };
                out.entry("type").or_insert_with(|| kind.into());
                if matches!(value, Value::String(_) | Value::Number(_)) {
                    out.insert("enum".to_owned(), json!([value]));
                }
            }
            "enum" => {
                let values: Vec<Value> = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|value| value.is_string() || value.is_number())
                    .cloned()
                    .collect();
                if !values.is_empty() {
                    out.insert(key, Value::Array(values));
                }
            }
            _ => drop(out.insert(key, value)),
        }
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_keywords_are_removed_and_recursion_becomes_open() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "n": {
                    "type": "integer", "format": "uint8", "default": 3,
                    "minimum": 0, "maximum": 255,
                },
                "at": {"type": "string", "format": "date-time"},
                "kind": {"const": "cat"},
                "unit": {"type": ["string", "null"], "enum": ["c", null]},
                "either": {"oneOf": [{"type": "string"}, {"type": "null"}]},
                "next": {"$ref": "#", "description": "The next one."},
                "map": {
                    "type": "object",
                    "additionalProperties": {"type": "integer", "format": "int64"},
                },
                "default": {"type": "string"},
            },
            "required": ["n"],
        });
        assert_eq!(
            gemini(&schema),
            json!({
                "type": "object",
                "properties": {
                    "n": {"type": "integer", "minimum": 0, "maximum": 255},
                    "at": {"type": "string", "format": "date-time"},
                    "kind": {"type": "string", "enum": ["cat"]},
                    "unit": {"type": ["string", "null"], "enum": ["c"]},
                    "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "next": {"type": "object", "description": "The next one."},
                    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
                    "default": {"type": "string"},
                },
                "required": ["n"],
            })
        );
    }
}
