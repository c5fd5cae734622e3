//! What the answer of an agent has to be.

use crate::agents::llm::OutputKey;
use crate::spec::Key;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::TypeId;
use std::sync::Arc;

/// What an answer has to be.
#[derive(Clone)]
pub(in crate::builders::build) enum OutputType {
    Type { output: OutputKey, key: fn(String) -> Key },
    Schema(Arc<Value>),
}

impl OutputType {
    /// `String` is text as it is.
    pub(in crate::builders::build) fn from_type<T: JsonSchema + Serialize + DeserializeOwned + 'static>()
    -> Self {
        let is_text = TypeId::of::<T>() == TypeId::of::<String>();
        let output = if is_text { OutputKey::text("") } else { OutputKey::json::<T>("") };
        Self::Type { output, key: Key::read_as::<T> }
    }
}
