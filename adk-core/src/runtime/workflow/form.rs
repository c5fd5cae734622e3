//! [`Form`]: the input and output of a workflow as JSON, for programs that know it by name.

use super::Keys;
use crate::runtime::tool::function::schema_of;
use crate::runtime::tool::schema::{describe_schema, describe_value};
use crate::runtime::tool::{decode, schema};
use crate::{Content, Error, ErrorKind, Name, Result, secret};
use serde::Serialize;
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
    mode: Mode,
}

/// What a form is for.
#[derive(Default)]
enum Mode {
    /// To be told the fields.
    #[default]
    Asks,
    /// To read an input.
    Reads { given: Map<String, Value>, faults: Vec<FieldFault> },
    /// To write the defaults of inputs that were given no value.
    Defaults { wanted: Vec<Name>, keys: Keys, error: Option<Error> },
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

    /// The form without some inputs.
    pub(crate) fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.inputs.retain(|input| !is_left_out(&input.key));
        self
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

    /// A form that reads an input.
    pub(crate) fn reading(&self, given: Value) -> Self {
        let mut faults = Vec::new();
        let mut fault = |field: &str, message: String| faults.push(FieldFault::new(field, message));
        let given = match given {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            other => {
                fault("", format!("expected an object with the inputs, got {}", describe_value(&other)));
                Map::new()
            }
        };
        for key in given.keys().filter(|key| !self.inputs.iter().any(|input| *input.key == ***key)) {
            let known: Vec<_> = self.inputs.iter().map(|input| format!("`{}`", input.key)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            fault(key, format!("there is no such input; the inputs are: {known}"));
        }
        Self { mode: Mode::Reads { given, faults }, ..Self::default() }
    }

    /// What is wrong with the input that was read.
    pub(crate) fn faults(self) -> Vec<FieldFault> {
        match self.mode {
            Mode::Reads { faults, .. } => faults,
            Mode::Asks | Mode::Defaults { .. } => Vec::new(),
        }
    }

    /// A form that writes the defaults of these inputs.
    pub(crate) fn wanting(wanted: Vec<Name>) -> Self {
        Self { mode: Mode::Defaults { wanted, keys: Keys::default(), error: None }, ..Self::default() }
    }

    /// The defaults, and the inputs that have none.
    ///
    /// # Errors
    /// When one has no form in JSON.
    pub(crate) fn defaults(self) -> Result<(Keys, Vec<Name>)> {
        match self.mode {
            Mode::Defaults { error: Some(error), .. } => Err(error),
            Mode::Defaults { wanted, keys, .. } => Ok((keys, wanted)),
            Mode::Asks | Mode::Reads { .. } => Ok(Default::default()),
        }
    }

    /// An input: says it to a form that asks, and reads its value from one that holds an input. `None` when there is none, or
    /// one that does not fit, which the form keeps.
    pub fn input<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &'static str,
        description: &str,
        schema: Option<MakeSchema>,
        default: Option<fn() -> T>,
    ) -> Option<T> {
        match &mut self.mode {
            Mode::Asks => {
                let is_required = default.is_none() && T::deserialize(Value::Null).is_err();
                self.inputs.push(FormField::new(key, description, schema, is_required));
                None
            }
            Mode::Defaults { .. } => {
                self.default_value(key, default?);
                None
            }
            Mode::Reads { given, faults } => {
                let schema = schema.map(|make| make()).unwrap_or_default();
                let read = match given.remove(key) {
                    Some(value) => read(value, &schema),
                    None => {
                        let value =
                            default.map(|default| default()).or_else(|| T::deserialize(Value::Null).ok());
                        value.ok_or_else(|| format!("is missing: expected {}", describe_schema(&schema)))
                    }
                };
                read.map_err(|why| faults.push(FieldFault::new(key, why))).ok()
            }
        }
    }

    /// Writes the default of an input, if that is what the form is for and the input has no value.
    pub fn default_value<T: Serialize>(&mut self, key: &'static str, default: impl FnOnce() -> T) {
        if let Mode::Defaults { wanted, keys, error } = &mut self.mode
            && let Some(at) = wanted.iter().position(|wanted| *wanted == key)
        {
            wanted.remove(at);
            *error = error.take().or(keys.input(key, &default()).err());
        }
    }

    /// The inputs of a tool by itself: its arguments, by the schema of its declaration.
    pub(crate) fn arguments(&mut self, parameters: &Value) -> Option<Map<String, Value>> {
        let required = |key: &str| {
            let required = parameters.get("required").and_then(Value::as_array);
            required.is_some_and(|keys| keys.iter().any(|other| other == key))
        };
        let fields = parameters.get("properties").and_then(Value::as_object).into_iter().flatten();
        match &mut self.mode {
            Mode::Asks => {
                self.inputs.extend(fields.map(|(key, schema)| {
                    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                    FormField {
                        key: Name::shared(key),
                        description: description.to_owned(),
                        schema: schema.clone(),
                        is_required: required(key),
                    }
                }));
                None
            }
            Mode::Reads { given, faults } => {
                let mut args = Map::new();
                for (key, schema) in fields {
                    let read = match given.remove(key) {
                        Some(Value::Null) | None if !required(key) => continue,
                        None => Err(format!("is missing: expected {}", describe_schema(schema))),
                        Some(mut value) => {
                            let check = |value: &Value| decode::check(value, schema);
                            decode::settle(&mut value, schema, &check)
                                .map(|()| args.insert(key.clone(), value))
                        }
                    };
                    faults.extend(read.err().map(|why| FieldFault::new(key, why)));
                }
                Some(args)
            }
            // The tool knows its own.
            Mode::Defaults { .. } => None,
        }
    }

    /// The input of a tree that was built at run time: what the user says, as the text `message`.
    pub(crate) fn message(&mut self) -> Option<Content> {
        let text: String = self.input("message", "What the user says.", Some(schema_of::<String>), None)?;
        Some(Content::user(text))
    }

    /// An output.
    pub fn output(&mut self, key: &'static str, description: &str, schema: Option<MakeSchema>) {
        if matches!(self.mode, Mode::Asks) {
            self.outputs.push(FormField::new(key, description, schema, true));
        }
    }
}

/// The value of an input, or why it is none.
fn read<T: DeserializeOwned>(mut value: Value, schema: &Value) -> Result<T, String> {
    if let Ok(value) = T::deserialize(secret::written(&value)) {
        return Ok(value);
    }
    let check = |value: &Value| T::deserialize(value).map(drop).map_err(|error| error.to_string());
    decode::settle(&mut value, schema, &check)?;
    T::deserialize(value).map_err(|error| error.to_string())
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

impl FormField {
    fn new(key: &'static str, description: &str, schema: Option<MakeSchema>, is_required: bool) -> Self {
        let schema = schema.map_or_else(|| Value::Object(Map::new()), |make| Value::clone(&make()));
        Self { key: key.into(), description: description.to_owned(), schema, is_required }
    }
}

impl FieldFault {
    /// What is wrong with a field of that key.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into() }
    }
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
