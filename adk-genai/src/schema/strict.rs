//! [`strict`]: OpenAI's strict subset, with closed objects and all properties required.

use super::{Dialect, map_inner};
use adk_model::__private::schema::{is_required, parts, types};
use serde_json::{Value, json};

/// The keywords of the strict mode. Dropping others is safe, because answers are validated later.
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
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ],
};

/// Keywords without a strict form.
const OPEN: &[&str] = &[
    "$ref",
    "$dynamicRef",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "prefixItems",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "contains",
];

/// Maximum size of a strict schema: levels of objects and lists, properties, values of enums, and
/// characters of all names and values.
const MOST: [usize; 4] = [10, 5000, 1000, 120_000];

/// Returns the strict form of a plain schema, or `None` if the schema has none, as for a free-form
/// map. Such a schema is sent with `strict: false`.
pub(crate) fn strict(schema: &Value) -> Option<Value> {
    let mut size = [0; 4];
    measure(schema, 0, &mut size);
    let is_small = size.iter().zip(MOST).all(|(size, most)| *size <= most);
    close(schema).filter(|_| is_small)
}

fn measure(schema: &Value, depth: usize, size: &mut [usize; 4]) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let is_level = matches!(&**keyword, "properties" | "items");
        let depth = depth + usize::from(is_level);
        size[0] = size[0].max(depth);
        for (name, part) in parts(keyword, value) {
            size[1] += usize::from(name.is_some());
            size[3] += name.map_or(0, str::len);
            measure(part, depth, size);
        }
        if matches!(&**keyword, "enum" | "const") {
            size[2] += value.as_array().map_or(1, Vec::len);
            size[3] += value.to_string().len();
        }
    }
}

fn close(schema: &Value) -> Option<Value> {
    let object = schema.as_object()?;
    if object.keys().any(|key| OPEN.contains(&key.as_str())) {
        return None;
    }
    // `{}` allows any value.
    if !["type", "enum", "const", "anyOf"]
        .iter()
        .any(|key| object.contains_key(*key))
    {
        return None;
    }
    let mut out = map_inner(object, &DIALECT, close)?;
    if let Some(properties) = out.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            if !is_required(schema, name) {
                nullable(property);
            }
        }
    }
    if types(schema).any(|kind| kind == "object") {
        let properties = out.get("properties").and_then(Value::as_object);
        match (out.get("additionalProperties"), properties) {
            (None | Some(Value::Bool(false)), Some(properties)) => {
                let all: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
                out.insert("required".to_owned(), Value::Array(all));
            }
            // A closed object without properties describes no arguments.
            (Some(Value::Bool(false)), None) => {
                out.insert("properties".to_owned(), json!({}));
                out.insert("required".to_owned(), json!([]));
            }
            _ => return None,
        }
        out.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if types(schema).any(|kind| kind == "array") && !out.contains_key("items") {
        return None;
    }
    Some(Value::Object(out))
}

/// Allows null as a value, because a strict property cannot be absent.
fn nullable(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(any) = map.get_mut("anyOf").and_then(Value::as_array_mut) {
        let null = json!({"type": "null"});
        if !any.contains(&null) {
            any.push(null);
        }
        return;
    }
    if map.contains_key("const") {
        let inner = std::mem::take(schema);
        *schema = json!({"anyOf": [inner, {"type": "null"}]});
        return;
    }
    if let Some(values) = map.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match map.get_mut("type") {
        Some(Value::String(one)) if one != "null" => {
            let both = json!([one.clone(), "null"]);
            map.insert("type".to_owned(), both);
        }
        Some(Value::Array(any)) if !any.iter().any(|one| one == "null") => any.push("null".into()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    #[test]
    fn objects_are_closed_and_optional_properties_nullable() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where.", "minLength": 1},
                "days": {"type": "integer", "format": "uint8", "default": 3, "minimum": 0},
                "unit": {"enum": ["c", "f"], "type": "string"},
                "when": {"type": ["string", "null"], "format": "date"},
                "kind": {"const": "x"},
                "inner": {
                    "type": "object",
                    "properties": {"a": {"type": "number", "format": "double"}},
                },
                "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "required": ["city"],
        });
        assert_eq!(
            strict(&plain(&schema).unwrap()).unwrap(),
            json!({
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where."},
                    "days": {"type": ["integer", "null"], "minimum": 0},
                    "unit": {"enum": ["c", "f", null], "type": ["string", "null"]},
                    "when": {"type": ["string", "null"], "format": "date"},
                    "kind": {"anyOf": [{"const": "x"}, {"type": "null"}]},
                    "inner": {
                        "type": ["object", "null"],
                        "properties": {"a": {"type": ["number", "null"]}},
                        "required": ["a"],
                        "additionalProperties": false,
                    },
                    "either": {
                        "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}],
                    },
                },
                "required": ["city", "days", "unit", "when", "kind", "inner", "either"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn open_schemas_have_no_strict_form() {
        for open in [
            json!(true),
            json!({}),
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"type": "object", "properties": {}, "additionalProperties": true}),
            json!({"type": "object", "properties": {"any": {}}}),
            json!({"type": "array"}),
            json!({"type": "array", "items": {"type": "object"}}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            json!({"type": "object", "properties": {"next": {"$ref": "#"}}}),
        ] {
            assert_eq!(strict(&plain(&open).unwrap()), None, "{open}");
        }
    }

    #[test]
    fn a_tool_without_arguments_is_strict() {
        for schema in [
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "additionalProperties": false}),
        ] {
            let closed = json!({
                "type": "object",
                "properties": {},
                "required": [],
                "additionalProperties": false,
            });
            assert_eq!(strict(&schema).unwrap(), closed);
        }
    }
}
