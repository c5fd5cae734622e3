//! The schemas of arguments that models receive.

use super::{args, everything, schema, weather};
use serde_json::{Value, json};

#[test]
fn the_schema_of_plain_arguments() {
    let expected = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "The city,\nin words." },
            "days": {
                "type": ["integer", "null"],
                "format": "uint8",
                "minimum": 0,
                "maximum": 255,
            },
            "unit": {
                "description": "A unit.",
                "oneOf": [
                    { "type": "string", "const": "kelvin" },
                    { "type": "string", "const": "celsius", "description": "Degrees of Celsius." },
                    { "type": "string", "const": "fahrenheit" },
                ],
                "default": "celsius",
            },
            "language": { "type": "string", "description": "The language.", "default": "en" },
            "hours": { "type": "integer", "format": "uint32", "minimum": 0, "default": 2 },
        },
        "required": ["city"],
    });
    assert_eq!(schema(&weather::default()), expected);
    // Equality of JSON objects ignores the order of keys.
    let text = schema(&weather::default()).to_string();
    let places: Vec<_> = ["city", "days", "unit", "language", "hours"]
        .iter()
        .map(|name| text.find(&format!("\"{name}\":{{")))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{text}"
    );
}

#[test]
fn the_schema_of_all_kinds_of_types() {
    let schema = schema(&everything::default());
    assert!(!schema.to_string().contains("$ref"), "{schema}");
    let expected = expected_properties();
    for (name, expected) in args(&expected) {
        assert_eq!(schema["properties"][&name], expected, "{name}");
    }
    let optional = ["other", "note"];
    let required: Vec<_> = args(&expected).into_iter().map(|(name, _)| name).collect();
    let required: Vec<_> = required
        .iter()
        .filter(|name| !optional.contains(&name.as_str()))
        .collect();
    assert_eq!(schema["required"], json!(required));
}

/// The schema of `Place`, in two properties.
fn place_schema() -> Value {
    json!({
        "type": "object",
        "description": "The position.",
        "properties": {
            "lat": {
                "type": "number",
                "format": "double",
                "description": "Degrees north,\nas a decimal.",
            },
            "lon": { "type": "number", "format": "double" },
            "name": { "type": ["string", "null"] },
            "height": {
                "type": "integer",
                "format": "uint16",
                "minimum": 0,
                "maximum": 65535,
                "default": 0,
            },
        },
        "required": ["lat", "lon"],
    })
}

fn expected_properties() -> Value {
    let place = place_schema();
    let mut perhaps = place.clone();
    perhaps["type"] = json!(["object", "null"]);
    let circle = json!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "const": "Circle" },
            "r": { "type": "number", "format": "double" },
        },
        "required": ["kind", "r"],
    });
    let square = json!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "const": "Square" },
            "a": { "type": "number", "format": "double" },
        },
        "required": ["kind", "a"],
    });
    let byte = json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 });
    json!({
        "place": place,
        "other": perhaps,
        "unit": {
            "description": "A unit.",
            "oneOf": [
                { "type": "string", "const": "kelvin" },
                { "type": "string", "const": "celsius", "description": "Degrees of Celsius." },
                { "type": "string", "const": "fahrenheit" },
            ],
        },
        "plain": { "type": "string", "enum": ["Short", "Long"] },
        "shape": { "oneOf": [circle, square] },
        "any": { "anyOf": [{ "type": "integer", "format": "int64" }, { "type": "string" }] },
        "tree": {
            "type": "object",
            "properties": {
                "value": byte,
                "children": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "description": "Another Tree, of the same shape.",
                    },
                },
            },
            "required": ["value", "children"],
        },
        "mixed": {
            "oneOf": [
                { "type": "string", "const": "Nothing" },
                {
                    "type": "object",
                    "description": "This number of them.",
                    "properties": { "Some": byte },
                    "required": ["Some"],
                    "additionalProperties": false,
                },
                { "type": "string", "const": "All", "description": "All of them." },
            ],
        },
        "table": {
            "type": "object",
            "additionalProperties": { "type": "integer", "format": "int32" },
        },
        "pair": {
            "type": "array",
            "prefixItems": [byte, { "type": "string" }],
            "minItems": 2,
            "maxItems": 2,
        },
        "tags": { "type": "array", "items": { "type": "string" } },
        "letter": { "type": "string", "minLength": 1, "maxLength": 1 },
        "raw": true,
        "at": place,
        "note": { "type": ["string", "null"] },
    })
}
