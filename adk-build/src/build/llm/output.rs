//! [`OutputType`]: the form of an agent's answer.

use adk_core::__private::build::Key;
use adk_core::llm::OutputKey;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::TypeId;
use std::sync::Arc;

/// The form of an agent's answer.
#[derive(Clone)]
pub(in crate::build) enum OutputType {
    Type {
        output: OutputKey,
        key: fn(String) -> Key,
    },
    Schema(Arc<Value>),
}

impl OutputType {
    /// Returns the form for a Rust type. `String` means plain text.
    pub(in crate::build) fn from_type<T: JsonSchema + Serialize + DeserializeOwned + 'static>()
    -> Self {
        let is_text = TypeId::of::<T>() == TypeId::of::<String>();
        let output = if is_text {
            OutputKey::text("")
        } else {
            OutputKey::json::<T>("")
        };
        Self::Type {
            output,
            key: Key::read_as::<T>,
        }
    }
}
