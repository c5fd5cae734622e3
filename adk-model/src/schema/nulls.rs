//! [`drop_nulls`]: removes the nulls that models write for absent properties.

use super::{alternatives, is_required, properties, property, required};
use serde_json::{Map, Value};

/// Removes nulls of properties that the schema does not require, because they mean "absent". A type
/// with a default of its own would reject the null. Returns whether a null was removed.
pub fn drop_nulls(schema: &Value, value: &mut Value) -> bool {
    let mut dropped = false;
    let others = schema.get("additionalProperties");
    match value {
        Value::Object(fields) => {
            fields.retain(|name, field| {
                let inner = property(schema, name);
                if field.is_null() && inner.is_some() && !is_required(schema, name) {
                    dropped = true;
                    return false;
                }
                if let Some(inner) = inner.or(others) {
                    dropped |= drop_nulls(inner, field);
                }
                true
            });
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                let inner = schema.get("prefixItems").and_then(|all| all.get(at));
                if let Some(inner) = inner.or(schema.get("items")) {
                    dropped |= drop_nulls(inner, item);
                }
            }
        }
        _ => return false,
    }
    let all = schema.get("allOf").and_then(Value::as_array);
    for branch in alternatives(schema).into_iter().chain(all).flatten() {
        if value
            .as_object()
            .is_none_or(|fields| tags_fit(branch, fields))
        {
            dropped |= drop_nulls(branch, value);
        }
    }
    dropped
}

/// Reports whether an object may match a branch: it has all required properties, and the constants
/// agree.
fn tags_fit(branch: &Value, fields: &Map<String, Value>) -> bool {
    required(branch).all(|name| fields.contains_key(name))
        && properties(branch)
            .filter_map(|(name, schema)| Some((fields.get(name)?, schema.get("const")?)))
            .all(|(field, constant)| field == constant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_nulls_of_optional_properties_are_removed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "must": {"type": ["string", "null"]},
                "may": {"type": "integer", "default": 3},
                "list": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"x": {"type": "number"}}},
                },
                "tagged": {"oneOf": [
                    {
                        "type": "object",
                        "properties": {"t": {"const": "a"}, "n": {"type": "null"}},
                        "required": ["t", "n"],
                    },
                    {
                        "type": "object",
                        "properties": {"t": {"const": "b"}, "n": {"type": "string"}},
                        "required": ["t"],
                    },
                ]},
            },
            "required": ["must", "list", "tagged"],
        });
        let mut value = json!({
            "must": null,
            "may": null,
            "list": [{"x": null}],
            "tagged": {"t": "b", "n": null},
        });
        assert!(drop_nulls(&schema, &mut value));
        assert_eq!(
            value,
            json!({"must": null, "list": [{}], "tagged": {"t": "b"}})
        );
        let mut value =
            json!({"must": null, "list": [], "tagged": {"t": "a", "n": null}, "other": null});
        let same = value.clone();
        assert!(!drop_nulls(&schema, &mut value));
        assert_eq!(value, same);
    }
}
