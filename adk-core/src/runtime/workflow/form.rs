//! [`Form`]: the input and output of a workflow as JSON, for programs that know it by name.

use crate::runtime::tool::function::schema_of;
use crate::runtime::tool::schema::{expected, shown};
use crate::runtime::tool::{decode, schema};
use crate::{Content, Error, ErrorKind, Name, secret};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// Makes the schema of a type.
pub type MakeSchema = fn() -> Arc<Value>;

/// What a workflow takes and gives, as JSON. A workflow says it field by field, and reads its input in the same way: see
/// [`Workflow::form`](super::Workflow::form).
#[derive(Default)]
pub struct Form {
    inputs: Vec<FormField>,
    outputs: Vec<FormField>,
    /// What is read; nothing when the fields are only asked for.
    given: Option<Map<String, Value>>,
    faults: Vec<FieldFault>,
}

/// An input or an output of a workflow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// Its key.
    pub key: Name,
    /// What its doc comment says; empty without one.
    pub description: String,
    /// The JSON schema of its type; `{}` where the type has none.
    pub schema: Value,
    /// Whether it has to be given: it is an input without a default, and no `Option`.
    pub is_required: bool,
}

/// What is wrong with one field of an input.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FieldFault {
    /// Its key; empty for the input as a whole.
    pub field: String,
    /// What was expected, and what came.
    pub message: String,
}

impl Form {
    /// The inputs, in the order of the declaration.
    pub fn inputs(&self) -> &[FormField] {
        &self.inputs
    }

    /// The outputs, in the order of the declaration.
    pub fn outputs(&self) -> &[FormField] {
        &self.outputs
    }

    /// The JSON schema of the input: an object with a property for each field, and no others.
    pub fn input_schema(&self) -> Value {
        object(&self.inputs)
    }

    /// The JSON schema of the output: null for none, that of the value for one, else an object.
    pub fn output_schema(&self) -> Value {
        match &self.outputs[..] {
            [] => serde_json::json!({"type": "null"}),
            [one] => described(one),
            all => object(all),
        }
    }

    /// A form that reads an input: an object; or the value itself where there is one field that has to be given.
    pub(crate) fn reading(&self, given: Value) -> Self {
        let mut form = Self { given: Some(Map::new()), ..Self::default() };
        match given {
            Value::Object(fields) => form.given = Some(fields),
            Value::Null => {}
            other => form.fault("", format!("expected an object with the inputs, got {}", shown(&other))),
        }
        let unknown = form
            .given
            .iter()
            .flat_map(Map::keys)
            .filter(|key| !self.inputs.iter().any(|one| *one.key == ***key));
        let unknown: Vec<_> = unknown.cloned().collect();
        for key in unknown {
            let known: Vec<_> = self.inputs.iter().map(|one| format!("`{}`", one.key)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            form.fault(&key, format!("there is no such input; the inputs are: {known}"));
        }
        form
    }

    /// What is wrong with the input that was read.
    pub(crate) fn faults(self) -> Vec<FieldFault> {
        self.faults
    }

    fn fault(&mut self, field: &str, message: String) {
        self.faults.push(FieldFault { field: field.to_owned(), message });
    }

    /// An input: says it to a form that asks, and reads its value from one that holds an input. `None` when there is none, or
    /// one that does not fit, which the form keeps.
    pub fn input<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        description: &str,
        schema: Option<MakeSchema>,
        default: Option<fn() -> T>,
    ) -> Option<T> {
        let schema = schema.map(|make| make()).unwrap_or_default();
        let Some(given) = &mut self.given else {
            let is_required = default.is_none() && T::deserialize(Value::Null).is_err();
            self.inputs.push(field(key, description, &schema, is_required));
            return None;
        };
        let Some(mut value) = given.remove(key) else {
            if let Some(default) = default {
                return Some(default());
            }
            return T::deserialize(Value::Null).ok().or_else(|| {
                self.fault(key, format!("is missing: expected {}", expected(&schema)));
                None
            });
        };
        if let Ok(value) = T::deserialize(secret::written(&value)) {
            return Some(value);
        }
        let read = |value: &Value| T::deserialize(value).map(drop).map_err(|error| error.to_string());
        match decode::settle(&mut value, &schema, read) {
            Ok(()) => T::deserialize(value).ok(),
            Err(why) => {
                self.fault(key, why);
                None
            }
        }
    }

    /// The inputs of a tool by itself: its arguments, by the schema of its declaration.
    pub(crate) fn arguments(&mut self, parameters: &Value) -> Option<Map<String, Value>> {
        let required = |key: &str| {
            let required = parameters.get("required").and_then(Value::as_array);
            required.is_some_and(|keys| keys.iter().any(|other| other == key))
        };
        let mut args = Map::new();
        for (key, schema) in parameters.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(given) = &mut self.given else {
                let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                self.inputs.push(FormField {
                    key: Name::shared(key),
                    description: description.to_owned(),
                    schema: schema.clone(),
                    is_required: required(key),
                });
                continue;
            };
            match given.remove(key) {
                None if required(key) => {
                    self.fault(key, format!("is missing: expected {}", expected(schema)));
                }
                None => {}
                Some(Value::Null) if !required(key) => {}
                Some(mut value) => {
                    match decode::settle(&mut value, schema, |value| decode::check(value, schema)) {
                        Ok(()) => drop(args.insert(key.clone(), value)),
                        Err(why) => self.fault(key, why),
                    }
                }
            }
        }
        self.given.is_some().then_some(args)
    }

    /// The input of a tree that was built at run time: what the user says, as the text `message`.
    pub(crate) fn message(&mut self) -> Option<Content> {
        let text: String = self.input("message", "What the user says.", Some(schema_of::<String>), None)?;
        Some(Content::user(text))
    }

    /// An output.
    pub fn output(&mut self, key: &'static str, description: &str, schema: Option<MakeSchema>) {
        if self.given.is_none() {
            let schema = schema.map(|make| make()).unwrap_or_default();
            self.outputs.push(field(key, description, &schema, true));
        }
    }
}

/// What all faults of an input say together.
pub(crate) fn invalid(workflow: &str, faults: &[FieldFault]) -> Error {
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| match &*fault.field {
            "" => fault.message.clone(),
            field => format!("`{field}`: {}", fault.message),
        })
        .collect();
    let message = format!("the input of `{workflow}` does not fit: {}", faults.join("; "));
    Error::new(ErrorKind::InputInvalid, message)
        .with_help("nothing was begun; the schema of the input says what fits")
}

fn field(key: &'static str, description: &str, schema: &Arc<Value>, is_required: bool) -> FormField {
    let schema = if schema.is_null() { Value::Object(Map::new()) } else { Value::clone(schema) };
    FormField { key: key.into(), description: description.to_owned(), schema, is_required }
}

fn described(field: &FormField) -> Value {
    let mut schema = field.schema.clone();
    if let (Value::Object(map), false) = (&mut schema, field.description.is_empty()) {
        map.insert("description".to_owned(), field.description.clone().into());
    }
    schema
}

fn object(fields: &[FormField]) -> Value {
    let properties = fields.iter().map(|field| (field.key.to_string(), described(field))).collect();
    let required = fields.iter().filter(|field| field.is_required).map(|field| field.key.to_string().into());
    schema::object(properties, required.collect(), &Map::new())
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form")
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
