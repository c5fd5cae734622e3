//! [`Form`]: the input and output of a workflow as JSON, for programs that know the workflow by
//! name.

use super::keys::Keys;
use crate::runtime::tool::function::schema_of;
use crate::runtime::tool::schema::{describe_schema, describe_value};
use crate::runtime::tool::{decode, schema};
use crate::schema::{is_required, properties};
use crate::{Content, Error, ErrorKind, Name, Result, secret};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// A function that makes the schema of a type.
pub type MakeSchema = fn() -> Arc<Value>;

/// The input and output of a workflow as JSON. A workflow describes them field by field, and reads
/// its input in the same way: see [`Workflow::form`](super::Workflow::form).
#[derive(Default)]
pub struct Form {
    inputs: Vec<FormField>,
    outputs: Vec<FormField>,
    mode: FormMode,
}

/// The purpose of a form.
#[derive(Default)]
enum FormMode {
    /// The workflow describes its fields.
    #[default]
    Asks,
    /// The workflow reads an input.
    Reads {
        input: Map<String, Value>,
        faults: Vec<FieldFault>,
    },
    /// The workflow writes the defaults of inputs without a value.
    Defaults {
        wanted: Vec<Name>,
        keys: Keys,
        error: Option<Error>,
    },
}

/// An input or an output of a workflow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// Key of the field.
    pub key: Name,
    /// Doc comment of the field; empty without one.
    pub description: String,
    /// JSON schema of the type; `{}` if the type has no schema.
    pub schema: Value,
    /// Whether a caller must give the field: an input without a default that is not an `Option`.
    pub is_required: bool,
}

/// A mistake in one field of an input.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FieldFault {
    /// Key of the field; empty for the input as a whole.
    pub field: String,
    /// The expected value and the actual one.
    pub message: String,
}

impl Form {
    /// Returns the inputs in the order of their declaration.
    pub fn inputs(&self) -> &[FormField] {
        &self.inputs
    }

    /// Returns the outputs in the order of their declaration.
    pub fn outputs(&self) -> &[FormField] {
        &self.outputs
    }

    /// Removes the inputs that `is_left_out` accepts.
    pub(crate) fn without_inputs(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.inputs.retain(|input| !is_left_out(&input.key));
        self
    }

    /// Returns the JSON schema of the input: an object with a property for each field, and no other
    /// properties.
    pub fn input_schema(&self) -> Value {
        object(&self.inputs)
    }

    /// Returns the JSON schema of the output: null without outputs, the schema of the value for one
    /// output, an object for several.
    pub fn output_schema(&self) -> Value {
        match &self.outputs[..] {
            [] => serde_json::json!({"type": "null"}),
            [one] => described_schema(one),
            all => object(all),
        }
    }

    /// Makes a form from which the workflow reads this input.
    pub(crate) fn with_input(&self, input: Value) -> Self {
        let mut faults = Vec::new();
        let mut fault = |field: &str, message: String| faults.push(FieldFault::new(field, message));
        let input = match input {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            other => {
                fault(
                    "",
                    format!(
                        "expected an object with the inputs, got {}",
                        describe_value(&other)
                    ),
                );
                Map::new()
            }
        };
        for key in input
            .keys()
            .filter(|key| !self.inputs.iter().any(|field| *field.key == ***key))
        {
            let known: Vec<_> = self
                .inputs
                .iter()
                .map(|field| format!("`{}`", field.key))
                .collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            fault(key, format!("is not an input; the inputs are: {known}"));
        }
        Self {
            mode: FormMode::Reads { input, faults },
            ..Self::default()
        }
    }

    /// Returns the mistakes in the input that was read.
    pub(crate) fn faults(self) -> Vec<FieldFault> {
        match self.mode {
            FormMode::Reads { faults, .. } => faults,
            FormMode::Asks | FormMode::Defaults { .. } => Vec::new(),
        }
    }

    /// Makes a form into which the workflow writes the defaults of these inputs.
    pub(crate) fn for_defaults(wanted: Vec<Name>) -> Self {
        Self {
            mode: FormMode::Defaults {
                wanted,
                keys: Keys::default(),
                error: None,
            },
            ..Self::default()
        }
    }

    /// Returns the defaults, and the names of the inputs that have no default.
    ///
    /// # Errors
    /// Returns an error if a default cannot be represented as JSON.
    pub(crate) fn defaults(self) -> Result<(Keys, Vec<Name>)> {
        match self.mode {
            FormMode::Defaults {
                error: Some(error), ..
            } => Err(error),
            FormMode::Defaults { wanted, keys, .. } => Ok((keys, wanted)),
            FormMode::Asks | FormMode::Reads { .. } => Ok(Default::default()),
        }
    }

    /// Describes an input to a form that collects fields, or reads its value from a form that holds
    /// an input. Returns `None` if the form holds no value, or a value that does not fit; the form
    /// keeps the mistake.
    pub fn input<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &'static str,
        description: &str,
        schema: Option<MakeSchema>,
        default: Option<fn() -> T>,
    ) -> Option<T> {
        match &mut self.mode {
            FormMode::Asks => {
                let is_required = default.is_none() && T::deserialize(Value::Null).is_err();
                self.inputs
                    .push(FormField::new(key, description, schema, is_required));
                None
            }
            FormMode::Defaults { .. } => {
                self.default_value(key, default?);
                None
            }
            FormMode::Reads { input, faults } => {
                let schema = schema.map(|make| make()).unwrap_or_default();
                let read = match input.remove(key) {
                    Some(value) => read(value, &schema),
                    None => {
                        let value = default
                            .map(|default| default())
                            .or_else(|| T::deserialize(Value::Null).ok());
                        value.ok_or_else(|| {
                            format!("is missing: expected {}", describe_schema(&schema))
                        })
                    }
                };
                read.map_err(|why| faults.push(FieldFault::new(key, why)))
                    .ok()
            }
        }
    }

    /// Writes the default of an input if the form collects defaults and the input has no value.
    pub fn default_value<T: Serialize>(&mut self, key: &'static str, default: impl FnOnce() -> T) {
        if let FormMode::Defaults {
            wanted,
            keys,
            error,
        } = &mut self.mode
            && let Some(at) = wanted.iter().position(|wanted| *wanted == key)
        {
            wanted.remove(at);
            *error = error.take().or(keys.input(key, &default()).err());
        }
    }

    /// Describes or reads the arguments of a tool that runs by itself, by the schema of its
    /// declaration.
    pub(crate) fn arguments(&mut self, parameters: &Value) -> Option<Map<String, Value>> {
        let required = |key: &str| is_required(parameters, key);
        let fields = properties(parameters);
        match &mut self.mode {
            FormMode::Asks => {
                self.inputs.extend(fields.map(|(key, schema)| {
                    let description = schema
                        .get("description")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    FormField {
                        key: Name::shared(key),
                        description: description.to_owned(),
                        schema: schema.clone(),
                        is_required: required(key),
                    }
                }));
                None
            }
            FormMode::Reads { input, faults } => {
                let mut args = Map::new();
                for (key, schema) in fields {
                    let read = match input.remove(key) {
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
            // The tool applies its own defaults.
            FormMode::Defaults { .. } => None,
        }
    }

    /// Describes or reads the input of a tree that was built at run time: the user's text, as
    /// `message`.
    pub(crate) fn message(&mut self) -> Option<Content> {
        let text: String = self.input(
            "message",
            "The message of the user.",
            Some(schema_of::<String>),
            None,
        )?;
        Some(Content::user(text))
    }

    /// Describes an output.
    pub fn output(&mut self, key: &'static str, description: &str, schema: Option<MakeSchema>) {
        if matches!(self.mode, FormMode::Asks) {
            self.outputs
                .push(FormField::new(key, description, schema, true));
        }
    }
}

/// Decodes the value of an input, or returns the reason why it does not fit.
fn read<T: DeserializeOwned>(mut value: Value, schema: &Value) -> Result<T, String> {
    if let Ok(value) = T::deserialize(secret::wrap(&value)) {
        return Ok(value);
    }
    let check = |value: &Value| {
        T::deserialize(value)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    decode::settle(&mut value, schema, &check)?;
    T::deserialize(value).map_err(|error| error.to_string())
}

/// Makes the error that contains all mistakes of an input.
pub(crate) fn input_error(workflow: &str, faults: &[FieldFault]) -> Error {
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| match &*fault.field {
            "" => fault.message.clone(),
            field => format!("`{field}`: {}", fault.message),
        })
        .collect();
    let message = format!(
        "the input of `{workflow}` does not fit: {}",
        faults.join("; ")
    );
    Error::new(ErrorKind::InputInvalid, message)
        .with_help("send an input that fits the schema of the workflow; no run has started")
}

impl FormField {
    fn new(
        key: &'static str,
        description: &str,
        schema: Option<MakeSchema>,
        is_required: bool,
    ) -> Self {
        let schema = schema.map_or_else(|| Value::Object(Map::new()), |make| Value::clone(&make()));
        Self {
            key: key.into(),
            description: description.to_owned(),
            schema,
            is_required,
        }
    }
}

impl FieldFault {
    /// Makes a mistake in the field with this key.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            message: message.into(),
        }
    }
}

fn described_schema(field: &FormField) -> Value {
    let mut schema = field.schema.clone();
    if let (Value::Object(map), false) = (&mut schema, field.description.is_empty()) {
        map.insert("description".to_owned(), field.description.clone().into());
    }
    schema
}

fn object(fields: &[FormField]) -> Value {
    let properties = fields
        .iter()
        .map(|field| (field.key.to_string(), described_schema(field)))
        .collect();
    let required = fields
        .iter()
        .filter(|field| field.is_required)
        .map(|field| field.key.to_string().into());
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
