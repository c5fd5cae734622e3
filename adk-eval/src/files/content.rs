//! [`RawContent`]: a message as google-genai writes it, with every field.

use crate::schema::{PART, canonical};
use adk_core::Content;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A message with all fields of google-genai, in its snake-case JSON. [`Content`] is the type of
/// the runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawContent(Value);

/// A call of a tool in an evalset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The id of the call. No metric compares it.
    pub id: Option<String>,
    /// The arguments by name. A call without arguments differs from one with an empty object.
    pub args: Option<Map<String, Value>>,
    /// The name of the tool.
    pub name: Option<String>,
    /// Parts of arguments of a streamed call.
    pub partial_args: Option<Vec<Value>>,
    /// True if more parts of the arguments follow.
    pub will_continue: Option<bool>,
}

/// The answer to a [`ToolUse`] in an evalset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// True if more answers follow.
    pub will_continue: Option<bool>,
    /// When the model reads the answer.
    pub scheduling: Option<String>,
    /// Parts of the answer that are not JSON.
    pub parts: Option<Vec<Value>>,
    /// The id of the call.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// The answer.
    pub response: Option<Map<String, Value>>,
}

impl RawContent {
    /// Creates a message with one text.
    pub fn new(role: &str, text: &str) -> Self {
        Self::from_parts(role, [json!({"text": text})])
    }

    /// Creates a message of parts in either spelling, without those that google-genai refuses.
    fn from_parts(role: &str, parts: impl IntoIterator<Item = Value>) -> Self {
        let parts = parts
            .into_iter()
            .filter_map(|part| canonical(&PART, part).ok());
        let parts: Vec<_> = parts.map(Value::Object).collect();
        Self(json!({"parts": parts, "role": role}))
    }

    /// Returns the parts as JSON.
    pub fn parts(&self) -> impl Iterator<Item = &Value> {
        let parts = self.0.get("parts").and_then(Value::as_array);
        parts.into_iter().flatten()
    }

    /// Returns all texts, joined by line breaks. As in google-adk, thoughts are among them.
    pub fn text(&self) -> String {
        let texts = self.parts().filter_map(|part| part["text"].as_str());
        let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
        texts.join("\n")
    }

    /// Returns the calls of tools, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = ToolUse> + '_ {
        self.parts().filter_map(|part| field(part, "function_call"))
    }

    /// Returns the answers to calls, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = ToolResult> + '_ {
        self.parts()
            .filter_map(|part| field(part, "function_response"))
    }

    /// Returns the message as the runtime reads it.
    pub fn to_content(&self) -> Content {
        let mut parts: Vec<Value> = self.parts().cloned().collect();
        parts.iter_mut().for_each(remove_nulls);
        let content = json!({"parts": parts, "role": self.0["role"].as_str()});
        serde_json::from_value(content).unwrap_or_else(|_| Content::user(self.text()))
    }
}

fn field<T: serde::de::DeserializeOwned>(part: &Value, name: &str) -> Option<T> {
    let value = part.get(name).filter(|value| !value.is_null())?;
    serde_json::from_value(value.clone()).ok()
}

/// Removes the null fields of a part and of its models, not those of arguments and answers.
fn remove_nulls(part: &mut Value) {
    let Some(fields) = part.as_object_mut() else {
        return;
    };
    fields.retain(|_, value| !value.is_null());
    for value in fields.values_mut().filter_map(Value::as_object_mut) {
        value.retain(|_, value| !value.is_null());
    }
}

impl From<&Content> for RawContent {
    fn from(content: &Content) -> Self {
        let mut content = serde_json::to_value(content).unwrap_or_default();
        let parts = content["parts"].as_array_mut().map(std::mem::take);
        let mut parts = parts.unwrap_or_default();
        for part in &mut parts {
            // google-genai has no malformed calls.
            if let Some(call) = part.get_mut("functionCall").and_then(Value::as_object_mut) {
                call.remove("malformed");
            }
        }
        Self::from_parts(content["role"].as_str().unwrap_or("user"), parts)
    }
}
