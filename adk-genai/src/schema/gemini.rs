//! [`gemini`]: schemas for Gemini's fields `responseJsonSchema` and `parametersJsonSchema`.

use super::{Dialect, map_inner};
use adk_model::__private::schema::types;
use serde_json::{Map, Value, json};

/// The keywords in the documentation of both fields. `const` becomes `enum`.
const DIALECT: Dialect = Dialect {
    keywords: &[
        "type",
        "format",
        "title",
        "description",
        "enum",
        "const",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    ],
    formats: &["date-time", "date", "time"],
};

/// Returns Gemini's form of a plain schema. Each part has a type or alternatives, because some
/// paths of the API reject a part without a type.
pub(crate) fn gemini(schema: &Value) -> Value {
    let known = schema
        .as_object()
        .and_then(|schema| map_inner(schema, &DIALECT, |inner| Some(gemini(inner))));
    let mut all = known.unwrap_or_default();
    if let Some(value) = all.shift_remove("const") {
        all.insert("enum".to_owned(), json!([value]));
    }
    let mut kinds: Vec<&str> = types(schema).collect();
    if kinds.is_empty() && all.contains_key("anyOf") {
        all.retain(|keyword, _| matches!(&**keyword, "anyOf" | "title" | "description"));
    } else if kinds.is_empty() {
        kinds = implied(&all);
    }
    if kinds.iter().filter(|kind| **kind != "null").count() < 2 {
        if !kinds.is_empty() {
            let kind = kinds.iter().find(|kind| **kind != "null");
            restrict(&mut all, kind.unwrap_or(&"null"));
            let one = kinds.len() == 1;
            all.insert(
                "type".to_owned(),
                if one { kinds[0].into() } else { json!(kinds) },
            );
        }
        return Value::Object(all);
    }
    let mut out = Map::new();
    for word in ["title", "description"] {
        out.extend(all.shift_remove(word).map(|text| (word.to_owned(), text)));
    }
    let branches = kinds.iter().map(|kind| {
        let mut branch = all.clone();
        restrict(&mut branch, kind);
        branch.insert("type".to_owned(), (*kind).into());
        if *kind == "array" {
            branch
                .entry("items")
                .or_insert_with(|| json!({"type": "string"}));
        }
        Value::Object(branch)
    });
    out.insert("anyOf".to_owned(), branches.collect());
    Value::Object(out)
}

/// Returns the types of the values that a schema without a type accepts.
fn implied(schema: &Map<String, Value>) -> Vec<&'static str> {
    let has = |keyword: &str| schema.contains_key(keyword);
    let kinds = match schema.get("enum") {
        Some(Value::Array(values)) => {
            let kinds = ["string", "number", "boolean", "null"].into_iter();
            kinds
                .filter(|kind| values.iter().any(|value| is_a(value, kind)))
                .collect()
        }
        _ if has("properties") || has("required") || has("additionalProperties") => vec!["object"],
        _ if has("items") => vec!["array"],
        _ if has("minimum") || has("maximum") => vec!["number"],
        _ if has("format") => vec!["string"],
        _ => Vec::new(),
    };
    if kinds.is_empty() {
        return vec!["string", "number", "boolean", "object", "array"];
    }
    kinds
}

fn is_a(value: &Value, kind: &str) -> bool {
    match value {
        Value::String(_) => kind == "string",
        Value::Number(_) => matches!(kind, "number" | "integer"),
        Value::Bool(_) => kind == "boolean",
        Value::Null => kind == "null",
        _ => false,
    }
}

/// Removes what does not belong to a type: Gemini rejects, for example, `required` without an
/// object, a required property that is not declared, and an enum of other types or with an empty
/// text.
fn restrict(schema: &mut Map<String, Value>, kind: &str) {
    schema.retain(|keyword, _| match &**keyword {
        "properties" | "required" | "additionalProperties" => kind == "object",
        "items" | "prefixItems" | "minItems" | "maxItems" => kind == "array",
        "minimum" | "maximum" => matches!(kind, "number" | "integer"),
        "enum" => matches!(kind, "string" | "number" | "integer"),
        "format" => kind == "string",
        _ => true,
    });
    let declared = schema.get("properties").cloned().unwrap_or_default();
    for (keyword, value) in schema.iter_mut() {
        if let Value::Array(all) = value {
            match &**keyword {
                "enum" => all.retain(|one| *one != "" && is_a(one, kind)),
                "required" => {
                    all.retain(|one| one.as_str().is_some_and(|one| declared.get(one).is_some()))
                }
                _ => {}
            }
        }
    }
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    schema.retain(|keyword, value| !matches!(&**keyword, "enum" | "required") || !is_empty(value));
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    #[test]
    fn only_known_keywords_remain_and_each_value_has_a_type() {
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
                "next": {"$ref": "#/$defs/node", "description": "The next one."},
                "pair": {"type": "array", "items": [{"type": "string"}, true]},
                "choice": {"enum": ["", "a", 1]},
                "open": {},
                "map": {
                    "type": "object",
                    "additionalProperties": {"type": "integer", "format": "int64"},
                },
                "default": {"type": "string"},
            },
            "required": ["n", "undeclared"],
            "$defs": {
                "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}},
            },
        });
        let any = json!({"anyOf": [
            {"type": "string"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "object"},
            {"type": "array", "items": {"type": "string"}},
        ]});
        assert_eq!(
            gemini(&plain(&schema).unwrap()),
            json!({
                "type": "object",
                "properties": {
                    "n": {"type": "integer", "minimum": 0, "maximum": 255},
                    "at": {"type": "string", "format": "date-time"},
                    "kind": {"type": "string", "enum": ["cat"]},
                    "unit": {"type": ["string", "null"], "enum": ["c"]},
                    "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "next": {
                        "type": "object",
                        "description": "The next one.",
                        "properties": {"next": {"type": "object"}},
                    },
                    "pair": {
                        "type": "array",
                        "prefixItems": [{"type": "string"}, any],
                        "items": any,
                    },
                    "choice": {"anyOf": [
                        {"type": "string", "enum": ["a"]},
                        {"type": "number", "enum": [1]},
                    ]},
                    "open": any,
                    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
                    "default": {"type": "string"},
                },
                "required": ["n"],
            })
        );
    }
}
