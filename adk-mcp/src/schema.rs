//! Schemas of a server's tools in the form that models and the validator accept: small objects
//! without references.

use crate::limits::Limits;
use adk_model::__private::schema::{self, SchemaLimits, drop_nulls, is_required};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

/// Maximum number of backtracking steps of a regular expression, because a server may send
/// malicious patterns.
const STEPS: usize = 100_000;

/// Maximum number of violations of a schema that one error lists.
const FAULTS: usize = 5;

/// Returns a schema without references. Recursive references and references to other documents
/// allow any value.
pub(crate) fn inline(schema: &Value, limits: &Limits) -> Result<Value, String> {
    let limits = SchemaLimits {
        bytes: limits.schema_bytes,
        depth: limits.schema_depth,
    };
    schema::inline(schema, limits, |_| json!({}))
}

/// Returns the schema of the arguments of a tool.
pub(crate) fn arguments(schema: &Value, limits: &Limits) -> Result<Value, String> {
    let mut schema = inline(schema, limits)?;
    let Some(object) = schema.as_object_mut() else {
        return Err("is not an object".to_owned());
    };
    let kind = object.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        return Err("does not describe an object".to_owned());
    }
    if !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    Ok(schema)
}

/// Compiles a schema in draft 2020-12.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(STEPS);
    let built = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(patterns)
        .build(schema);
    built.map_err(|error| format!("is not a JSON schema: {error}"))
}

/// Validates arguments. If they are invalid, tries again without null values of optional arguments
/// and fields, because some models write all of them.
pub(crate) fn check(
    validator: &Validator,
    schema: &Value,
    args: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let args = Value::Object(args);
    if validator.is_valid(&args) {
        return into_object(args);
    }
    let mut without = args.clone();
    if let Some(fields) = without.as_object_mut() {
        fields.retain(|name, value| !value.is_null() || is_required(schema, name));
    }
    drop_nulls(schema, &mut without);
    match faults(validator, &without) {
        None => into_object(without),
        Some(faults) => Err(faults),
    }
}

pub(crate) fn faults(validator: &Validator, value: &Value) -> Option<String> {
    let faults = validator.iter_errors(value).take(FAULTS).map(|error| {
        let place = error.instance_path().to_string();
        if place.is_empty() {
            error.to_string()
        } else {
            format!("{error} (at {place})")
        }
    });
    let faults: Vec<_> = faults.collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

fn into_object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err("the arguments are not an object".to_owned()),
    }
}
