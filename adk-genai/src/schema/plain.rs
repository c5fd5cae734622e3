//! [`plain`]: the form of a schema on which all dialects are built.

use adk_model::__private::schema::{SchemaLimits, inline, kind, map_parts, properties, types};
use serde_json::{Map, Value, json};
use std::convert::Infallible;

/// Limits of a schema. A toolset may have lower limits.
const LIMITS: SchemaLimits = SchemaLimits {
    bytes: 1 << 20,
    depth: 100,
};

/// Keywords that OpenAI or Anthropic refuse in the schema of a tool outside of its properties.
const INNER: [&str; 7] = ["anyOf", "not", "if", "then", "else", "enum", "const"];

/// Returns a schema without references, `allOf`, `oneOf` and boolean schemas, in which each list
/// has
/// `items` and no object has both properties and alternatives. The result may accept more values;
/// arguments and answers are validated later.
///
/// # Errors
/// Fails if the schema is too large.
pub(crate) fn plain(schema: &Value) -> Result<Value, String> {
    let schema = inline(schema, LIMITS, |target| match target.get("type") {
        Some(types) => json!({"type": types}),
        None => json!({}),
    });
    Ok(simplify(&schema?))
}

/// Returns the plain form of the schema of a tool's arguments: one object with all arguments.
///
/// # Errors
/// Fails if the schema is too large.
pub(crate) fn arguments(schema: &Value) -> Result<Value, String> {
    let mut schema = plain(schema)?;
    if let Value::Object(root) = &mut schema {
        flatten(root);
        root.retain(|keyword, _| !INNER.contains(&&**keyword));
        root.insert("type".to_owned(), "object".into());
        root.entry("properties").or_insert_with(|| json!({}));
    }
    Ok(schema)
}

fn simplify(schema: &Value) -> Value {
    let Value::Object(object) = schema else {
        let nothing = *schema == false;
        return if nothing {
            json!({"not": {}})
        } else {
            json!({})
        };
    };
    let mut out = Map::new();
    for (keyword, value) in object {
        // What these refuse depends on the parts that are combined below.
        if keyword.starts_with("unevaluated") {
            continue;
        }
        let may_be_boolean = keyword.ends_with("Properties");
        let mut part = |inner: &Value| match inner {
            Value::Bool(_) if may_be_boolean => Ok(inner.clone()),
            inner => Ok::<_, Infallible>(simplify(inner)),
        };
        let mut value = value.clone();
        if keyword == "properties"
            && let Value::Object(all) = &mut value
        {
            all.retain(|_, property| *property != false);
        }
        let Ok(value) = map_parts(keyword, &value, &mut part);
        match &**keyword {
            "items" if object["items"] == false => {}
            "oneOf" if object.contains_key("anyOf") => {}
            "oneOf" => drop(out.insert("anyOf".to_owned(), value)),
            _ => drop(out.insert(keyword.clone(), value)),
        }
    }
    if let Some(Value::Array(all)) = out.shift_remove("allOf") {
        for branch in all {
            merge(&mut out, branch);
        }
    }
    if out.contains_key("properties") {
        flatten(&mut out);
    }
    let is_list = types(schema).any(|kind| kind == "array") || out.contains_key("prefixItems");
    if is_list && !out.contains_key("items") {
        let items = match out.get("prefixItems") {
            Some(Value::Array(all)) if is_closed(object, all.len()) => any_of(all.clone()),
            _ => json!({}),
        };
        out.insert("items".to_owned(), items);
    }
    Value::Object(out)
}

/// Reports whether a list has no items after its first ones.
fn is_closed(schema: &Map<String, Value>, len: usize) -> bool {
    schema.get("items").is_some_and(|items| *items == false)
        || schema.get("maxItems").is_some_and(|most| *most == len)
}

/// Adds the constraints of a schema to another schema. A constraint that cannot be combined is left
/// out.
fn merge(into: &mut Map<String, Value>, from: Value) {
    let Value::Object(mut from) = from else {
        return;
    };
    // These keywords change each other.
    for set in [
        ["if", "then", "else"],
        ["contains", "minContains", "maxContains"],
    ] {
        if set.iter().any(|keyword| into.contains_key(*keyword)) {
            from.retain(|keyword, _| !set.contains(&&**keyword));
        }
    }
    for (keyword, new) in from {
        let Some(old) = into.get_mut(&keyword) else {
            into.insert(keyword, new);
            continue;
        };
        match (&*keyword, old, new) {
            ("properties" | "patternProperties", Value::Object(old), Value::Object(new)) => {
                for (name, new) in new {
                    match old.get_mut(&name) {
                        Some(Value::Object(old)) => merge(old, new),
                        _ => drop(old.insert(name, new)),
                    }
                }
            }
            ("items" | "additionalProperties", Value::Object(old), new) => merge(old, new),
            ("required", Value::Array(old), Value::Array(new)) => {
                let new: Vec<_> = new.into_iter().filter(|one| !old.contains(one)).collect();
                old.extend(new);
            }
            ("enum", Value::Array(old), Value::Array(new))
                if new.iter().any(|n| old.contains(n)) =>
            {
                old.retain(|one| new.contains(one));
            }
            _ => {}
        }
    }
}

/// Replaces the alternatives of an object by one object with the properties of all alternatives. It
/// requires what each alternative requires. A property of one alternative keeps its schema in all,
/// because the model needs to know the schema.
fn flatten(object: &mut Map<String, Value>) {
    let Some(Value::Array(all)) = object.shift_remove("anyOf") else {
        return;
    };
    let (mut added, mut required) = (Map::<String, Value>::new(), None::<Vec<Value>>);
    let is_object = |branch: &Value| matches!(kind(branch), "" | "object");
    for mut branch in all.into_iter().filter(is_object) {
        if let Value::Object(branch) = &mut branch {
            flatten(branch);
        }
        let branch = &branch;
        for (name, property) in properties(branch) {
            let all = match added.shift_remove(name) {
                Some(other) => any_of(vec![other, property.clone()]),
                None => property.clone(),
            };
            added.insert(name.clone(), all);
        }
        let names = branch.get("required").and_then(Value::as_array).cloned();
        let names = names.unwrap_or_default();
        match &mut required {
            Some(all) => all.retain(|name| names.contains(name)),
            None => required = Some(names),
        }
    }
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, property) in added {
            properties.entry(name).or_insert(property);
        }
    }
    if let Some(required) = required.filter(|all| !all.is_empty()) {
        merge(object, json!({"required": required}));
    }
}

/// Returns the schema of values that one of several schemas accepts.
fn any_of(schemas: Vec<Value>) -> Value {
    let mut all = Vec::new();
    for schema in schemas {
        let inner = match schema.get("anyOf") {
            Some(Value::Array(inner)) if schema.as_object().is_some_and(|map| map.len() == 1) => {
                inner.clone()
            }
            _ => vec![schema],
        };
        all.extend(
            inner
                .into_iter()
                .filter(|one| !all.contains(one))
                .collect::<Vec<_>>(),
        );
    }
    match &all[..] {
        [] => json!({}),
        [one] => one.clone(),
        // `{}` accepts any value.
        all if all.contains(&json!({})) => json!({}),
        all => json!({"anyOf": all}),
    }
}
