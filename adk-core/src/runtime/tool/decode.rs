//! Decoding of arguments and answers. Common mistakes of models are repaired; an error names the
//! argument, the expected type and the actual value.

use super::schema::{allowed_values, describe_schema, describe_value};
use super::{ToolArgs, ToolError, text};
use crate::depth;
use crate::schema::{alternatives, is_required, kind, properties, property, required, types};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads an argument. The schema is only needed if the value cannot be read as it is.
pub(crate) fn arg<'a, T>(
    name: &str,
    mut value: Value,
    schema: impl FnOnce() -> &'a Value,
    decode: impl Fn(&Value) -> Result<T, serde_json::Error>,
) -> Result<T, ToolError> {
    let error = match decode(&value) {
        Ok(decoded) => return Ok(decoded),
        Err(error) => error,
    };
    let schema = schema();
    if repair(&mut value, schema)
        && let Ok(decoded) = decode(&value)
    {
        return Ok(decoded);
    }
    Err(explain(name, &value, schema, &error.to_string()))
}

/// Repairs an answer until it passes the check, as [`arg`] does for an argument. Otherwise returns
/// the reason and the position of the wrong value in the answer.
pub(crate) fn settle(
    value: &mut Value,
    schema: &Value,
    check: &dyn Fn(&Value) -> Result<(), String>,
) -> Result<(), String> {
    let Err(error) = check(value) else {
        return Ok(());
    };
    if repair(value, schema) && check(value).is_ok() && depth::check(value).is_ok() {
        return Ok(());
    }
    let mut path = String::new();
    match mismatch(value, schema, true, &mut path) {
        Some(fault) if path.is_empty() => Err(fault.trim_start_matches(": ").to_owned()),
        Some(fault) => Err(format!("`{}`{fault}", path.trim_start_matches('.'))),
        None => Err(error),
    }
}

/// Reads all arguments of a call as one value.
pub(super) fn args<T: DeserializeOwned>(args: ToolArgs, schema: &Value) -> Result<T, ToolError> {
    let mut value = Value::Object(args);
    let error = match T::deserialize(&value) {
        Ok(decoded) => return Ok(decoded),
        Err(error) => error,
    };
    // A call without arguments, for a function without parameters.
    if let Ok(decoded) = T::deserialize(Value::Null)
        && value.as_object().is_some_and(Map::is_empty)
    {
        return Ok(decoded);
    }
    if repair(&mut value, schema)
        && let Ok(decoded) = T::deserialize(&value)
    {
        return Ok(decoded);
    }
    let mut path = String::new();
    let text = match mismatch(&value, schema, true, &mut path) {
        Some(fault) if !path.is_empty() => {
            format!("argument `{}`{fault}", path.trim_start_matches('.'))
        }
        _ => format!("the arguments cannot be read: {error}"),
    };
    Err(ToolError::argument(text))
}

/// Creates the error of a missing argument.
#[cold]
pub(crate) fn missing(name: &str, schema: &Value) -> ToolError {
    ToolError::argument(format!(
        "argument `{name}` is missing: expected {}",
        describe_schema(schema)
    ))
}

/// Repairs common distortions of providers and forms: null for an absent field, `3.0` for 3, an
/// object or a list as text. Returns whether the value changed.
fn repair(value: &mut Value, schema: &Value) -> bool {
    if let Some(options) = alternatives(schema) {
        let repaired = options.iter().find_map(|option| {
            let mut one = value.clone();
            (repair(&mut one, option) && check(&one, option).is_ok()).then_some(one)
        });
        return repaired.map(|one| *value = one).is_some();
    }
    let mut changed = false;
    match value {
        Value::Number(number) if kind(schema) == "integer" => {
            if let Some(integer) = to_integer(number) {
                *value = integer;
                changed = true;
            }
        }
        Value::String(text) if matches!(kind(schema), "object" | "array") => {
            let mut fits = |value: &mut Value| {
                repair(value, schema);
                check(value, schema)
            };
            if let Ok(read) = text::read(text, &mut fits) {
                *value = read;
                changed = true;
            }
        }
        Value::Array(items) => {
            let subschema = schema.get("items").unwrap_or(&Value::Null);
            for item in items {
                changed |= repair(item, subschema);
            }
        }
        Value::Object(fields) => {
            let before = fields.len();
            let may_be_null =
                |key: &str| is_required(schema, key) || property(schema, key).is_none();
            fields.retain(|key, value| !value.is_null() || may_be_null(key));
            changed |= fields.len() != before;
            for (key, value) in fields {
                let subschema = property(schema, key)
                    .or_else(|| schema.get("additionalProperties"))
                    .unwrap_or(&Value::Null);
                changed |= repair(value, subschema);
            }
        }
        _ => {}
    }
    changed
}

fn to_integer(number: &serde_json::Number) -> Option<Value> {
    if !number.is_f64() {
        return None;
    }
    // A float represents integers exactly only up to 2^53.
    let text = number
        .as_f64()
        .filter(|float| float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0)?;
    format!("{text:.0}").parse::<i64>().ok().map(Value::from)
}

#[cold]
fn explain(name: &str, value: &Value, schema: &Value, reason: &str) -> ToolError {
    let mut path = name.to_owned();
    let text = match mismatch(value, schema, true, &mut path) {
        Some(fault) => format!("argument `{path}`{fault}"),
        None => format!(
            "argument `{name}`: expected {}: {reason}",
            describe_schema(schema)
        ),
    };
    ToolError::argument(text)
}

/// Checks a value against a schema without a Rust type.
pub(crate) fn check(value: &Value, schema: &Value) -> Result<(), String> {
    let mut path = String::new();
    match mismatch(value, schema, false, &mut path) {
        None => Ok(()),
        Some(fault) if path.is_empty() => Err(fault.trim_start_matches(": ").to_owned()),
        Some(fault) => Err(format!("`{}`{fault}", path.trim_start_matches('.'))),
    }
}

/// Returns the part of a valid value that its schema describes. Unknown fields are removed, unless
/// the schema allows additional fields.
pub(crate) fn known_part(value: &Value, schema: &Value) -> Value {
    if let Some(options) = alternatives(schema) {
        let option = options.iter().find(|option| check(value, option).is_ok());
        return option.map_or_else(|| value.clone(), |option| known_part(value, option));
    }
    match value {
        Value::Object(fields) => {
            let (properties, others) =
                (schema.get("properties"), schema.get("additionalProperties"));
            let is_closed = properties.is_some() && others.is_none_or(|others| *others == false);
            let fields = fields.iter().filter_map(|(key, value)| {
                match properties.and_then(|all| all.get(key)) {
                    Some(subschema) => Some((key.clone(), known_part(value, subschema))),
                    None if is_closed => None,
                    None => Some((
                        key.clone(),
                        others.map_or_else(
                            || value.clone(),
                            |subschema| known_part(value, subschema),
                        ),
                    )),
                }
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => match schema.get("items") {
            Some(subschema) => items
                .iter()
                .map(|item| known_part(item, subschema))
                .collect(),
            None => value.clone(),
        },
        _ => value.clone(),
    }
}

/// Returns the first difference between a value and its schema. For an `unread` value, which could
/// not be read as its type, a text with a format counts as different.
fn mismatch(value: &Value, schema: &Value, unread: bool, path: &mut String) -> Option<String> {
    // The alternatives of an unread value are not compared, because the error of its type is a more
    // precise reason.
    if !unread && let Some(fits) = is_one_of(value, schema) {
        return (!fits).then(|| type_mismatch(value, schema));
    }
    if let Some(allowed) = allowed_values(schema) {
        return (!allowed.contains(&value)).then(|| type_mismatch(value, schema));
    }
    match (kind(schema), value) {
        ("", _) => None,
        ("object", Value::Object(fields)) => {
            let absent = |key: &&str| !fields.contains_key(*key);
            if let Some(key) = required(schema).find(absent) {
                let subschema = property(schema, key).unwrap_or(&Value::Null);
                path.push('.');
                path.push_str(key);
                return Some(format!(
                    " is missing: expected {}",
                    describe_schema(subschema)
                ));
            }
            properties(schema)
                .filter_map(|(key, subschema)| Some((key, fields.get(key)?, subschema)))
                .find_map(|(key, value, subschema)| {
                    if value.is_null() {
                        return None;
                    }
                    mismatch_inside(value, subschema, unread, path, &format!(".{key}"))
                })
        }
        ("array", Value::Array(items)) => {
            let subschema = schema.get("items")?;
            items.iter().enumerate().find_map(|(at, item)| {
                mismatch_inside(item, subschema, unread, path, &format!("[{at}]"))
            })
        }
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_)) => {
            (unread && value.is_string() && schema.get("format").is_some())
                .then(|| type_mismatch(value, schema))
        }
        ("integer", Value::Number(number)) if fits_format(number, schema) => None,
        _ => Some(type_mismatch(value, schema)),
    }
}

/// Returns whether a value fits one of the alternatives of a schema, including null; `None` if the
/// schema has no alternatives.
fn is_one_of(value: &Value, schema: &Value) -> Option<bool> {
    let has_types = schema.get("type").is_some_and(Value::is_array);
    if value.is_null() && has_types && types(schema).any(|one| one == "null") {
        return Some(true);
    }
    let options = alternatives(schema)?;
    let fits = |option: &Value| match option.get("type") {
        Some(kind) if kind == "null" => value.is_null(),
        _ => mismatch(value, option, false, &mut String::new()).is_none(),
    };
    Some(options.iter().any(fits))
}

fn mismatch_inside(
    value: &Value,
    schema: &Value,
    unread: bool,
    path: &mut String,
    step: &str,
) -> Option<String> {
    let outer = path.len();
    path.push_str(step);
    let fault = mismatch(value, schema, unread, path);
    if fault.is_none() {
        path.truncate(outer);
    }
    fault
}

/// Returns whether the format of the schema can represent a number.
fn fits_format(number: &serde_json::Number, schema: &Value) -> bool {
    let Some(integer) = number.as_i128() else {
        return false;
    };
    match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => u8::try_from(integer).is_ok(),
        Some("uint16") => u16::try_from(integer).is_ok(),
        Some("uint32") => u32::try_from(integer).is_ok(),
        Some("uint64" | "uint" | "uint128") => integer >= 0,
        Some("int8") => i8::try_from(integer).is_ok(),
        Some("int16") => i16::try_from(integer).is_ok(),
        Some("int32") => i32::try_from(integer).is_ok(),
        _ => true,
    }
}

fn type_mismatch(value: &Value, schema: &Value) -> String {
    format!(
        ": expected {}, got {}",
        describe_schema(schema),
        describe_value(value)
    )
}
