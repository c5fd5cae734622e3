//! [`AnswerForm`]: the form of a valid answer.

use crate::agents::llm::OutputKey;
use crate::runtime::tool::decode;
use serde_json::Value;
use std::sync::Arc;

/// The form of a valid answer.
#[derive(Clone, Debug)]
pub enum AnswerForm {
    /// A Rust type of the program.
    Type(OutputKey),
    /// A JSON schema from outside; null accepts every value.
    Schema(Arc<Value>),
}

impl AnswerForm {
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Type(output) => output
                .schema
                .map_or(Value::Null, |make| Value::clone(&make())),
            Self::Schema(schema) => Value::clone(schema),
        }
    }

    /// Returns the value as its type serializes it, or its fields that the schema names; or the
    /// reason why the value does not fit.
    pub fn read(&self, value: &Value) -> Result<Value, String> {
        match self {
            Self::Type(output) => (output.read)(value),
            Self::Schema(schema) => {
                decode::check(value, schema).map(|()| decode::known_part(value, schema))
            }
        }
    }
}
