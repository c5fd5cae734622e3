//! What an answer has to be.

use crate::agents::llm::OutputKey;
use crate::runtime::tool::decode;
use serde_json::Value;
use std::sync::Arc;

/// What an answer has to be.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// A type of the program.
    Type(OutputKey),
    /// A JSON schema that came from outside; null where anything fits.
    Schema(Arc<Value>),
}

impl Form {
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Type(output) => output.schema.map_or(Value::Null, |make| Value::clone(&make())),
            Self::Schema(schema) => Value::clone(schema),
        }
    }

    /// The value as its type serializes it; why it does not fit, otherwise.
    pub(crate) fn read(&self, value: &Value) -> Result<Value, String> {
        match self {
            Self::Type(output) => (output.read)(value),
            Self::Schema(schema) => decode::check(value, schema).map(|()| value.clone()),
        }
    }
}
