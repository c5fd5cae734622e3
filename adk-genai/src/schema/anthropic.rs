//! [`anthropic`]: schemas for Anthropic's structured outputs. Schemas of tools are sent unchanged.

use super::{Dialect, map_inner, strict};
use serde_json::Value;

/// Constraints that structured outputs reject. Answers are validated against the type anyway.
const DIALECT: Dialect = Dialect {
    refused: &[
        "$schema",
        "default",
        "examples",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "pattern",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ],
};

/// Returns the form for structured outputs, or `None` if the schema has none (free-form maps,
/// recursion). genai closes the objects.
pub(crate) fn anthropic(schema: &Value) -> Option<Value> {
    // Anthropic supports the same schemas as OpenAI's strict form; only the keywords differ.
    strict(schema)?;
    prune(schema)
}

fn prune(schema: &Value) -> Option<Value> {
    map_inner(schema.as_object()?, &DIALECT, prune).map(Value::Object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn constraints_are_removed_and_maps_have_no_form() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "format": "uint8", "minimum": 0},
                "at": {"type": "string", "format": "date-time"},
                "mail": {"type": "string", "format": "email"},
            },
            "required": ["n"],
        });
        let out = json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer"},
                "at": {"type": "string", "format": "date-time"},
                "mail": {"type": "string", "format": "email"},
            },
            "required": ["n"],
        });
        assert_eq!(anthropic(&schema), Some(out));
        assert_eq!(
            anthropic(&json!({"type": "object", "additionalProperties": {"type": "string"}})),
            None
        );
    }
}
