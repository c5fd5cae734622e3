//! Schemas of a server's tools in the form that models and the validator accept: small objects
//! without references.

use crate::limits::Limits;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

/// Maximum number of backtracking steps of a regular expression, because a server may send
/// malicious patterns.
const STEPS: usize = 100_000;

/// Maximum number of violations of a schema that one error lists.
const FAULTS: usize = 5;

/// Keywords that identify or contain parts of the schema. Nothing refers to them after references
/// are replaced.
const NAMES: [&str; 8] = [
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "$defs",
    "definitions",
];

/// Replaces references by their targets.
struct Inliner<'a> {
    root: &'a Value,
    limits: &'a Limits,
    /// References whose targets contain the current part of the schema. A reference inside its own
    /// target is recursive.
    open: Vec<&'a str>,
    bytes: usize,
}

/// Returns a schema without references. Recursive references and references to other documents
/// allow any value.
pub(crate) fn inline(schema: &Value, limits: &Limits) -> Result<Value, String> {
    let mut inliner = Inliner {
        root: schema,
        limits,
        open: Vec::new(),
        bytes: 0,
    };
    let mut schema = inliner.inline(schema, 0)?;
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

impl<'a> Inliner<'a> {
    fn inline(&mut self, schema: &'a Value, depth: usize) -> Result<Value, String> {
        if depth > self.limits.schema_depth {
            return Err(format!(
                "is more than {} levels deep",
                self.limits.schema_depth
            ));
        }
        match schema {
            Value::Object(object) => self.object(object, depth),
            Value::Array(items) => {
                self.count(2 + items.len())?;
                let items = items.iter().map(|item| self.inline(item, depth + 1));
                Ok(Value::Array(items.collect::<Result<_, _>>()?))
            }
            other => {
                self.count(other.as_str().map_or(4, |text| text.len() + 2))?;
                Ok(other.clone())
            }
        }
    }

    fn object(&mut self, object: &'a Map<String, Value>, depth: usize) -> Result<Value, String> {
        let mut out = Map::new();
        let reference = ["$ref", "$dynamicRef", "$recursiveRef"]
            .iter()
            .find_map(|key| object.get(*key));
        if let Some(reference) = reference.and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer));
            if let Some(target) = target.filter(|_| !self.open.contains(&reference)) {
                self.open.push(reference);
                let inlined = self.inline(target, depth + 1);
                self.open.pop();
                if let Value::Object(inlined) = inlined? {
                    out = inlined;
                }
            }
        }
        for (key, value) in object {
            // Under `properties`, a key is the name of a property and may be `$id`. Those keys are
            // handled one level deeper.
            if key.ends_with("Ref") && key.starts_with('$')
                || key == "$ref"
                || NAMES.contains(&key.as_str())
            {
                continue;
            }
            self.count(key.len() + 4)?;
            let value = match (key.as_str(), value) {
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                    let mut all = Map::new();
                    for (name, inner) in named {
                        self.count(name.len() + 4)?;
                        all.insert(name.clone(), self.inline(inner, depth + 1)?);
                    }
                    Value::Object(all)
                }
                ("const" | "enum" | "default" | "examples", value) => {
                    self.count(value.to_string().len())?;
                    value.clone()
                }
                (_, value) => self.inline(value, depth + 1)?,
            };
            out.insert(key.clone(), value);
        }
        Ok(Value::Object(out))
    }

    /// Counts bytes of the result. References may expand a short text exponentially, so the size is
    /// checked while it grows.
    fn count(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes += bytes;
        if self.bytes > self.limits.schema_bytes {
            return Err(format!("is larger than {} bytes", self.limits.schema_bytes));
        }
        Ok(())
    }
}

/// Compiles a schema without references, in the draft of the original schema.
pub(crate) fn validator(schema: &Value, original: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(STEPS);
    let draft = Draft::default().detect(original);
    let built = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(patterns)
        .build(schema);
    built.map_err(|error| format!("is not a JSON schema: {error}"))
}

/// Validates arguments. If they are invalid, tries again without null values of optional arguments,
/// because some models write all arguments.
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
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        fields.retain(|name, value| !value.is_null() || is_required(name));
    }
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
