//! JSON schemas for models, in one canonical form with everything inline. The model crates convert
//! this form to the dialects of providers.

use crate::schema::{alternatives, kind, required};
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;

/// Returns a generator of schemas without references, except for types that contain themselves.
pub(crate) fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator()
}

/// Returns the schema of a type, with the variants of an enum in the order of their declaration.
pub(crate) fn for_type<T: JsonSchema + DeserializeOwned>(
    generator: &mut SchemaGenerator,
) -> Schema {
    let mut schema = generator.subschema_for::<T>();
    sort_variants::<T>(&mut schema);
    schema
}

/// Returns the schema of the arguments of a tool: an object with exactly these properties.
pub(crate) fn object(
    properties: Map<String, Value>,
    required: Vec<Value>,
    definitions: &Map<String, Value>,
) -> Value {
    let mut root = Map::new();
    root.insert("type".to_owned(), "object".into());
    root.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        root.insert("required".to_owned(), required.into());
    }
    let mut root = Schema::from(root);
    close(&mut root, definitions);
    root.to_value()
}

/// Removes references and titles from a schema.
pub(super) fn close(schema: &mut Schema, definitions: &Map<String, Value>) {
    schema.remove("title");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.trim().to_owned();
    }
    if let Some(Value::String(reference)) = schema.remove("$ref") {
        replace_recursion(schema, &reference, definitions);
    }
    transform_subschemas(&mut |inner: &mut Schema| close(inner, definitions), schema);
}

/// Replaces a reference of a type to itself with the kind of the type, because not every provider
/// follows references.
fn replace_recursion(schema: &mut Schema, reference: &str, definitions: &Map<String, Value>) {
    let name = reference.rsplit('/').next().unwrap_or_default();
    let kind = definitions
        .get(name)
        .and_then(|definition| definition.get("type"));
    if let Some(kind) = kind {
        schema.insert("type".to_owned(), kind.clone());
    }
    if schema.get("description").is_none() {
        schema.insert(
            "description".to_owned(),
            format!("Another {name}, of the same shape.").into(),
        );
    }
}

/// Sorts variants in the order in which the type declares them. schemars puts the variants without
/// documentation first.
pub(crate) fn sort_variants<T: DeserializeOwned>(schema: &mut Schema) {
    let names = Cell::new(None);
    drop(T::deserialize(Variants(&names)));
    if let Some(names) = names.get() {
        reorder(schema, names);
    }
}

fn reorder(schema: &mut Schema, names: &[&str]) {
    if let Some(Value::Array(options)) = schema.get_mut("anyOf") {
        for option in options {
            if let Ok(option) = <&mut Schema>::try_from(option) {
                reorder(option, names);
            }
        }
    }
    let Some(Value::Array(options)) = schema.get_mut("oneOf") else {
        return;
    };
    let mut single: Vec<Value> = Vec::with_capacity(names.len());
    for option in options.drain(..) {
        match option.get("enum") {
            Some(Value::Array(values)) => single.extend(values.iter().map(const_schema)),
            _ => single.push(option),
        }
    }
    single.sort_by_key(|option| variant_position(option, names));
    *options = single;
}

fn const_schema(value: &Value) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "string".into());
    schema.insert("const".to_owned(), value.clone());
    Value::Object(schema)
}

/// Returns the position of a variant, which is a text or the only key of an object.
fn variant_position(option: &Value, names: &[&str]) -> usize {
    let text = option.get("const").and_then(Value::as_str);
    let key = || option.get("required")?.get(0)?.as_str();
    text.or_else(key)
        .and_then(|name| names.iter().position(|other| *other == name))
        .unwrap_or(names.len())
}

/// Deserializer that asks a type for its variants and never supplies a value.
struct Variants<'a>(&'a Cell<Option<&'static [&'static str]>>);

impl<'de> Deserializer<'de> for Variants<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("only asked"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.set(Some(variants));
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// Describes the type that a schema requires.
pub(crate) fn describe_schema(schema: &Value) -> String {
    if let Some(allowed) = allowed_values(schema) {
        let texts: Vec<_> = allowed.iter().map(ToString::to_string).collect();
        return match &texts[..] {
            [one] => one.clone(),
            _ => format!("one of {}", texts.join(", ")),
        };
    }
    if let Some(options) = alternatives(schema) {
        let mut texts: Vec<_> = options
            .iter()
            .filter(|option| kind(option) != "null")
            .map(describe_schema)
            .collect();
        texts.dedup();
        return texts.join(", or ");
    }
    let format = schema
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind(schema) {
        "string" if format.is_empty() => "a string".to_owned(),
        "string" => format!("a string ({format})"),
        "integer" => match format
            .strip_prefix('u')
            .map_or(("i", format), |rest| ("u", rest))
        {
            (sign, bits) if bits.starts_with("int") && bits.len() > 3 => {
                format!("an integer ({sign}{})", &bits[3..])
            }
            (sign, "int") => format!("an integer ({sign}size)"),
            _ => "an integer".to_owned(),
        },
        "number" => "a number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "null" => "null".to_owned(),
        "array" => match schema.get("items") {
            Some(items) if items.is_object() => format!("a list, each {}", describe_schema(items)),
            _ => "a list".to_owned(),
        },
        "object" => {
            let keys: Vec<_> = required(schema).map(|key| format!("`{key}`")).collect();
            match &keys[..] {
                [] => "an object".to_owned(),
                keys => format!("an object with {}", keys.join(", ")),
            }
        }
        _ => "another value".to_owned(),
    }
}

/// Returns the only values that a schema allows.
pub(crate) fn allowed_values(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().filter(|value| !value.is_null()).collect());
    }
    let mut all = Vec::new();
    for option in alternatives(schema)?
        .iter()
        .filter(|option| kind(option) != "null")
    {
        all.extend(allowed_values(option)?);
    }
    Some(all)
}

/// Describes a value for a message.
pub fn describe_value(value: &Value) -> String {
    const MOST: usize = 60;
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => format!("the number {value}"),
        Value::String(text) if text.chars().count() > MOST => {
            let start: String = text.chars().take(MOST).collect();
            format!("the string {start:?}...")
        }
        Value::String(text) => format!("the string {text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
