//! [`Sampler`]: generates values that fit a JSON schema.

use crate::schema::{SchemaLimits, inline};
use serde_json::{Map, Number, Value, json};

/// Maximum depth of nested values. Deeper optional values are omitted.
const MAX_DEPTH: usize = 16;

/// Limits of a schema with its references replaced.
const LIMITS: SchemaLimits = SchemaLimits {
    bytes: 1 << 20,
    depth: 100,
};

/// Generates values for schemas as `schemars` writes them. Ignores `pattern` and conditions (`if`,
/// `not`).
pub(super) struct Sampler {
    /// The round of the innermost loop, counted from 1.
    pub(super) round: u32,
    /// The round in which loops end.
    pub(super) rounds: u32,
}

/// The position of a value in a schema.
#[derive(Clone, Copy)]
struct SchemaPosition<'a> {
    /// The name of the property, or of the schema that contains the value. Generated strings
    /// contain it.
    name: &'a str,
    /// The index in a list, so that elements differ.
    index: usize,
    depth: usize,
}

impl Sampler {
    /// Returns a value for a schema, or `null` if no value fits. Generated strings contain `name`.
    pub(super) fn sample(&self, schema: &Value, name: &str) -> Value {
        let at = SchemaPosition {
            name,
            index: 0,
            depth: 0,
        };
        // No value fits a recursive reference.
        let schema = inline(schema, LIMITS, |_| json!({"enum": []})).unwrap_or_default();
        self.value(&schema, &at).unwrap_or(Value::Null)
    }

    /// Returns `None` if the value would be endless, or if no value fits.
    fn value(&self, schema: &Value, at: &SchemaPosition<'_>) -> Option<Value> {
        if at.depth > MAX_DEPTH {
            return None;
        }
        let schema = match schema {
            Value::Bool(any) => return any.then(|| self.string(&Map::new(), at)),
            Value::Object(schema) => schema,
            _ => return None,
        };
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.rotation(values, at).next().cloned();
        }
        if let Some(example) = schema
            .get("examples")
            .and_then(Value::as_array)
            .and_then(|all| all.first())
        {
            return Some(example.clone());
        }
        for either in ["oneOf", "anyOf"] {
            if let Some(schemas) = schema.get(either).and_then(Value::as_array) {
                let (null, some): (Vec<_>, Vec<_>) =
                    schemas.iter().partition(|schema| is_null(schema));
                let mut tried = self.rotation(&some, at).chain(&null);
                let value = tried.find_map(|schema| self.value(schema, at))?;
                return Some(self.with_properties(value, schema, at));
            }
        }
        if let Some(schemas) = schema.get("allOf").and_then(Value::as_array) {
            let mut values = schemas.iter().map(|schema| self.value(schema, at));
            let mut all = values.next()??;
            for value in values {
                merge(&mut all, value?);
            }
            return Some(self.with_properties(all, schema, at));
        }
        match kind(schema) {
            "object" => self.object(schema, at),
            "array" => self.array(schema, at),
            "boolean" => Some(Value::Bool(self.round >= self.rounds)),
            "integer" => self.number(schema, at, true),
            "number" => self.number(schema, at, false),
            "null" => Some(Value::Null),
            _ => Some(self.string(schema, at)),
        }
    }

    /// Returns all elements, beginning with another one in each round and at each index.
    fn rotation<'v, T>(
        &self,
        all: &'v [T],
        at: &SchemaPosition<'_>,
    ) -> impl Iterator<Item = &'v T> + use<'v, T> {
        let first = match all.len() {
            0 => 0,
            len => (self.round as usize - 1 + at.index) % len,
        };
        all[first..].iter().chain(&all[..first])
    }

    /// Adds the properties of an object schema that also has `anyOf` or `allOf`.
    fn with_properties(
        &self,
        mut value: Value,
        schema: &Map<String, Value>,
        at: &SchemaPosition<'_>,
    ) -> Value {
        if value.is_object()
            && schema.contains_key("properties")
            && let Some(beside) = self.object(schema, at)
        {
            merge(&mut value, beside);
        }
        value
    }

    fn object(&self, schema: &Map<String, Value>, at: &SchemaPosition<'_>) -> Option<Value> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut made = Map::new();
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, schema) in properties {
                let inner = SchemaPosition {
                    name,
                    depth: at.depth + 1,
                    ..*at
                };
                match self.value(schema, &inner) {
                    Some(value) => drop(made.insert(name.clone(), value)),
                    None if required.contains(&name.as_str()) => return None,
                    None => {}
                }
            }
        } else if let Some(values) = schema
            .get("additionalProperties")
            .filter(|values| values.is_object())
        {
            // A map shows its shape in one entry.
            let inner = SchemaPosition {
                depth: at.depth + 1,
                ..*at
            };
            if let Some(value) = self.value(values, &inner) {
                made.insert(self.key(schema, at), value);
            }
        }
        Some(Value::Object(made))
    }

    /// Returns the key of a map entry. A map with numeric keys has a pattern for digits.
    fn key(&self, schema: &Map<String, Value>, at: &SchemaPosition<'_>) -> String {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        match patterns.and_then(|patterns| patterns.keys().next()) {
            Some(pattern) if pattern.contains("\\d") => "1".to_owned(),
            _ => at.name.to_owned(),
        }
    }

    fn array(&self, schema: &Map<String, Value>, at: &SchemaPosition<'_>) -> Option<Value> {
        let count = |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| n as usize);
        let fixed = schema.get("prefixItems").and_then(Value::as_array);
        let least = count("minItems").unwrap_or(0);
        let fixed_len = fixed.map_or(0, Vec::len);
        let item = schema
            .get("items")
            .filter(|item| **item != Value::Bool(false));
        // Lists get two elements, so that they are recognizable as lists.
        let wanted = match item {
            Some(_) => (fixed_len + if fixed.is_none() { 2 } else { 0 }).max(least),
            None => fixed_len,
        };
        let wanted = wanted
            .min(count("maxItems").unwrap_or(usize::MAX))
            .max(least);
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut made: Vec<Value> = Vec::new();
        for index in 0..wanted {
            let inner = SchemaPosition {
                index,
                depth: at.depth + 1,
                ..*at
            };
            let schema = fixed.and_then(|fixed| fixed.get(index)).or(item);
            match schema.map_or(Some(Value::Null), |schema| self.value(schema, &inner)) {
                Some(value) if unique && made.contains(&value) => {}
                Some(value) => made.push(value),
                None if made.len() >= least && fixed.is_none() => break,
                None => return None,
            }
        }
        Some(Value::Array(made))
    }

    /// Returns the lower limit in the first round and the upper limit in the last round. Without
    /// limits, returns the round.
    fn number(
        &self,
        schema: &Map<String, Value>,
        at: &SchemaPosition<'_>,
        integer: bool,
    ) -> Option<Value> {
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        let step = limit("multipleOf")
            .filter(|step| *step > 0.0)
            .unwrap_or(if integer { 1.0 } else { 0.0 });
        let gap = if step > 0.0 { step } else { 0.5 };
        let low = limit("minimum").or(limit("exclusiveMinimum").map(|low| low + gap));
        let high = limit("maximum").or(limit("exclusiveMaximum").map(|high| high - gap));
        // Limits that schemars derives from the integer type are not limits of the user.
        let (low, high) = match (low, high, schema.get("format").and_then(Value::as_str)) {
            (Some(low), Some(high), Some(format))
                if format.contains("int") && is_range_of_type(low, high) =>
            {
                (Some(low.max(0.0)), None)
            }
            other => (other.0, other.1),
        };
        let turn = f64::from(self.round.min(self.rounds));
        let mut value = match (low, high) {
            (Some(low), Some(high)) if self.rounds > 1 => {
                low + (high - low) * (turn - 1.0) / f64::from(self.rounds - 1)
            }
            (_, Some(high)) => high,
            (Some(low), None) => low.max(f64::from(self.round)),
            (None, None) => f64::from(self.round),
        };
        let apart = at.index as f64 * if step > 0.0 { step } else { 1.0 };
        if high.is_none_or(|high| value + apart <= high) {
            value += apart;
        } else if low.is_none_or(|low| value - apart >= low) {
            value -= apart;
        }
        if step > 0.0 {
            let down = (value / step).floor() * step;
            value = if low.is_some_and(|low| down < low) {
                down + step
            } else {
                down
            };
        }
        if integer {
            Some(Value::from(value as i64))
        } else {
            Number::from_f64(value).map(Value::Number)
        }
    }

    fn string(&self, schema: &Map<String, Value>, at: &SchemaPosition<'_>) -> Value {
        let number = self.round as usize + at.index;
        let format = schema
            .get("format")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let day = (number - 1) % 28 + 1;
        let mut text = match format {
            "date-time" => format!("2026-01-{day:02}T12:00:00Z"),
            "partial-date-time" => format!("2026-01-{day:02}T12:00:00"),
            "date" => format!("2026-01-{day:02}"),
            "time" => "12:00:00Z".to_owned(),
            "partial-time" => "12:00:00".to_owned(),
            "duration" => format!("PT{number}H"),
            "email" | "idn-email" => format!("user{number}@example.com"),
            "hostname" | "idn-hostname" => format!("host{number}.example.com"),
            "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => {
                format!("https://example.com/{number}")
            }
            "uuid" => format!("00000000-0000-4000-8000-{number:012}"),
            "ipv4" | "ip" => format!("192.0.2.{}", number % 250 + 1),
            "ipv6" => format!("2001:db8::{number:x}"),
            _ => format!("{} {number}", at.name),
        };
        let count = |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| n as usize);
        if let Some(most) = count("maxLength")
            && text.chars().count() > most
        {
            text = match most {
                1 => char::from(b'a' + (number % 26) as u8).to_string(),
                _ => text.chars().take(most).collect(),
            };
        }
        let missing = count("minLength")
            .unwrap_or(0)
            .saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('.', missing));
        json!(text)
    }
}

/// Returns the first type that is not null. Without a type, derives the type from other keywords.
fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.contains_key("properties") => "object",
        _ if schema.contains_key("items") || schema.contains_key("prefixItems") => "array",
        _ => "string",
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
        || schema.get("const") == Some(&Value::Null)
}

/// Reports whether these are the limits of an integer type such as `u8` or `i16`.
fn is_range_of_type(low: f64, high: f64) -> bool {
    [8, 16, 32, 64].iter().any(|bits| {
        let half = 2f64.powi(bits - 1);
        (low == 0.0 && high == half * 2.0 - 1.0) || (low == -half && high == half - 1.0)
    })
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
