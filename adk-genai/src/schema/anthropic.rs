//! [`anthropic`]: schemas for Anthropic's structured outputs. Schemas of tools are sent in their
//! plain form.

use super::{Dialect, map_inner, strict};
use adk_model::__private::schema::properties;
use serde_json::Value;

/// Structured outputs reject constraints. Answers are validated against the type anyway.
const DIALECT: Dialect = Dialect {
    keywords: &[
        "type",
        "title",
        "description",
        "enum",
        "const",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "format",
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

/// Returns an argument of a tool whose name Anthropic refuses. One such name makes each request
/// fail.
pub(crate) fn refused_name(parameters: &Value) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut names = properties(parameters).map(|(name, _)| &**name);
    names.find(|name| name.is_empty() || name.len() > 64 || !name.chars().all(is_plain))
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
