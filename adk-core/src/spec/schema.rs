//! The identity of a JSON schema across builds: a hash of the values that the schema accepts.
//!
//! A type that gets a new field keeps its name, but its schema changes.

use super::ValueSchema;
use crate::sync::lock;
use adk_spec::hash::{hash as hash_text, mixed};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

type MakeSchema = fn() -> Arc<Value>;

/// Returns the [`hash`] of the schema that a function makes. The hash is cached for each function,
/// because each run needs it and making a schema costs more than the rest of a topology.
pub(crate) fn cached_hash(make: MakeSchema) -> u64 {
    static KNOWN: Mutex<BTreeMap<MakeSchema, u64>> = Mutex::new(BTreeMap::new());
    let known = lock(&KNOWN).get(&make).copied();
    known.unwrap_or_else(|| {
        let hash = hash(&make());
        lock(&KNOWN).insert(make, hash);
        hash
    })
}

/// Returns the identity of a schema that is known only at run time.
pub fn value_schema(schema: &Value) -> ValueSchema {
    ValueSchema::Hash(hash(schema))
}

/// Keywords that describe a schema without changing the values that it accepts.
const WORDS: [&str; 9] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Hashes a schema. Schemas that differ only in descriptions or in order have equal hashes.
pub(crate) fn hash(schema: &Value) -> u64 {
    hash_unordered(alternatives(schema))
}

/// Returns the hashes of the alternatives of a schema. An `enum` equals a `oneOf` of its members,
/// because a doc comment on one variant turns the first form into the second.
fn alternatives(schema: &Value) -> Vec<u64> {
    let Value::Object(map) = schema else {
        return vec![hash_data(schema)];
    };
    let mut rest: Map<String, Value> = map.clone();
    rest.retain(|key, _| !WORDS.contains(&&**key));
    if rest.len() == 1
        && let Some(Value::Array(all)) = rest.get("oneOf").or(rest.get("anyOf"))
    {
        return all.iter().flat_map(alternatives).collect();
    }
    let members = match (rest.shift_remove("enum"), rest.shift_remove("const")) {
        (Some(Value::Array(members)), None) => members,
        (None, Some(member)) => vec![member],
        (members, member) => {
            let both = [("enum", members), ("const", member)];
            rest.extend(
                both.into_iter()
                    .filter_map(|(key, value)| Some((key.to_owned(), value?))),
            );
            Vec::new()
        }
    };
    let rest = hash_unordered(
        rest.iter()
            .map(|(key, value)| mixed(hash_text(key), hash_keyword(key, value))),
    );
    if members.is_empty() {
        vec![rest]
    } else {
        members
            .iter()
            .map(|member| mixed(rest, hash_data(member)))
            .collect()
    }
}

fn hash_keyword(key: &str, value: &Value) -> u64 {
    match (key, value) {
        (
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
            Value::Object(all),
        ) => hash_unordered(
            all.iter()
                .map(|(name, schema)| mixed(hash_text(name), hash(schema))),
        ),
        ("required" | "type", Value::Array(all)) => hash_unordered(all.iter().map(hash_data)),
        ("oneOf" | "anyOf" | "allOf", Value::Array(all)) => hash_unordered(all.iter().map(hash)),
        ("prefixItems" | "items", Value::Array(all)) => hash_ordered(all.iter().map(hash)),
        (_, Value::Object(_)) => hash(value),
        _ => hash_data(value),
    }
}

fn hash_data(value: &Value) -> u64 {
    match value {
        Value::Object(map) => hash_unordered(
            map.iter()
                .map(|(key, value)| mixed(hash_text(key), hash_data(value))),
        ),
        Value::Array(all) => hash_ordered(all.iter().map(hash_data)),
        plain => hash_text(&plain.to_string()),
    }
}

fn hash_unordered(hashes: impl IntoIterator<Item = u64>) -> u64 {
    let mut hashes: Vec<_> = hashes.into_iter().collect();
    hashes.sort_unstable();
    hash_ordered(hashes)
}

fn hash_ordered(hashes: impl IntoIterator<Item = u64>) -> u64 {
    hashes.into_iter().fold(1, mixed)
}

#[cfg(test)]
mod tests {
    use super::hash;
    use serde_json::{Value, json};

    fn object(properties: &Value, required: &[&str]) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn descriptions_and_order_do_not_change_the_hash() {
        let ab = object(
            &json!({"a": {"type": "string"}, "b": {"type": "integer"}}),
            &["a", "b"],
        );
        let ba = object(
            &json!({
                "b": {"description": "How many.", "type": "integer"},
                "a": {"type": "string", "default": ""},
            }),
            &["b", "a"],
        );
        assert_eq!(hash(&ab), hash(&ba));
        let plain = json!({"type": "string", "enum": ["yes", "no"]});
        let described = json!({"title": "Answer", "oneOf": [
            {"type": "string", "enum": ["no"]},
            {"type": "string", "const": "yes", "description": "It is fine."},
        ]});
        assert_eq!(hash(&plain), hash(&described));
    }

    #[test]
    fn schemas_that_accept_other_values_have_other_hashes() {
        let text = json!({"type": "string"});
        let all = [
            json!(true),
            text.clone(),
            json!({"type": ["string", "null"]}),
            json!({"type": "integer", "format": "uint8", "minimum": 0}),
            json!({"type": "integer", "format": "uint16", "minimum": 0}),
            json!({"type": "string", "enum": ["yes", "no"]}),
            json!({"type": "string", "enum": ["yes", "no", "perhaps"]}),
            object(&json!({"a": text}), &["a"]),
            object(&json!({"a": text}), &[]),
            object(&json!({"a": text, "b": text}), &["a"]),
            // A property may have the name of a describing keyword.
            object(&json!({"a": text, "description": text}), &["a"]),
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        ];
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert_ne!(hash(a), hash(b), "{a} {b}");
            }
        }
    }
}
