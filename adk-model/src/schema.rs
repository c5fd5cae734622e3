//! The walker of JSON schemas: which keywords contain schemas, and what several crates ask of a
//! schema.
//!
//! A schema is legal in draft 7 or 2020-12. [`inline`] converts it to draft 2020-12 without
//! references.

mod nulls;
mod references;

pub use nulls::drop_nulls;
pub use references::{SchemaLimits, inline};

use serde_json::{Map, Value};

/// Keywords whose value is a schema.
const SINGLES: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "contentSchema",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords whose value is a list of schemas. In draft 7, `items` may be a list.
const LISTS: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];

/// Keywords whose value is a map from names to schemas. In draft 7, the values of `dependencies`
/// may be lists of names.
const MAPS: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Returns the schemas in the value of a keyword, with their names if the keyword is a map.
pub fn parts<'a>(keyword: &str, value: &'a Value) -> Vec<(Option<&'a str>, &'a Value)> {
    let all: Vec<_> = match value {
        Value::Object(all) if MAPS.contains(&keyword) => {
            all.iter().map(|(name, one)| (Some(&**name), one)).collect()
        }
        Value::Array(all) if LISTS.contains(&keyword) => {
            all.iter().map(|one| (None, one)).collect()
        }
        one if SINGLES.contains(&keyword) => vec![(None, one)],
        _ => Vec::new(),
    };
    all.into_iter()
        .filter(|(_, one)| one.is_object() || one.is_boolean())
        .collect()
}

/// Rebuilds the value of a keyword, and applies `change` to each schema in it. The first error ends
/// the walk.
pub fn map_parts<'a, E>(
    keyword: &str,
    value: &'a Value,
    change: &mut dyn FnMut(&'a Value) -> Result<Value, E>,
) -> Result<Value, E> {
    let mut part = |one: &'a Value| match one {
        Value::Object(_) | Value::Bool(_) => change(one),
        other => Ok(other.clone()),
    };
    match value {
        Value::Object(all) if MAPS.contains(&keyword) => {
            let all = all.iter().map(|(name, one)| Ok((name.clone(), part(one)?)));
            Ok(Value::Object(all.collect::<Result<Map<_, _>, E>>()?))
        }
        Value::Array(all) if LISTS.contains(&keyword) => all.iter().map(part).collect(),
        one if SINGLES.contains(&keyword) => part(one),
        data => Ok(data.clone()),
    }
}

/// Returns the JSON types that a schema allows by name.
pub fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let types = schema.get("type");
    let all = match types {
        Some(Value::Array(all)) => &all[..],
        _ => types.map(std::slice::from_ref).unwrap_or_default(),
    };
    all.iter().filter_map(Value::as_str)
}

/// Returns the JSON type that a schema requires, without null if there is another type.
pub fn kind(schema: &Value) -> &str {
    let other = types(schema).find(|kind| *kind != "null");
    other.unwrap_or(if types(schema).next().is_some() {
        "null"
    } else {
        ""
    })
}

/// Returns the names of the required properties.
pub fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Reports whether a property is required.
pub fn is_required(schema: &Value, name: &str) -> bool {
    required(schema).any(|other| other == name)
}

/// Returns the properties with their schemas.
pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let all = schema.get("properties").and_then(Value::as_object);
    all.into_iter().flatten()
}

/// Returns the schema of a property.
pub fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// Returns the alternatives of a schema.
pub fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    let mut keywords = ["oneOf", "anyOf"].iter();
    keywords.find_map(|keyword| schema.get(*keyword)?.as_array())
}
