//! [`drop_nulls`]: removes the nulls that the strict form requires for absent properties.

use serde_json::Value;

/// Removes nulls of properties that the canonical schema does not require, because they mean
/// "absent". A type with a default of its own would reject the null. Returns whether a null was
/// removed.
pub(crate) fn drop_nulls(schema: &Value, value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let mut dropped = false;
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                let required = schema.get("required").and_then(Value::as_array);
                let optional =
                    |name: &String| !required.is_some_and(|all| all.iter().any(|one| one == name));
                fields.retain(|name, field| {
                    let Some(inner) = properties.get(name) else {
                        return true;
                    };
                    if field.is_null() && optional(name) {
                        dropped = true;
                        return false;
                    }
                    dropped |= drop_nulls(inner, field);
                    true
                });
            }
            for branch in branches(schema)
                .filter(|branch| tags_fit(branch, fields))
                .cloned()
                .collect::<Vec<_>>()
            {
                dropped |= drop_nulls(&branch, value);
            }
            dropped
        }
        Value::Array(items) => {
            let mut dropped = false;
            let lists = std::iter::once(schema).chain(branches(schema));
            for inner in lists.filter_map(|list| list.get("items")) {
                for item in items.iter_mut() {
                    dropped |= drop_nulls(inner, item);
                }
            }
            dropped
        }
        _ => false,
    }
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| schema.get(key)?.as_array())
        .flatten()
}

/// Reports whether an object may match a branch: it has all required properties, and the constants
/// agree.
fn tags_fit(branch: &Value, fields: &serde_json::Map<String, Value>) -> bool {
    let required = branch
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let properties = branch
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    required
        .filter_map(Value::as_str)
        .all(|name| fields.contains_key(name))
        && properties
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
