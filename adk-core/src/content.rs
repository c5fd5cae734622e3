//! What is said: ADK's `Content` and `Part`, in its JSON shape.

mod json;

use serde_json::{Map, Value};
use std::sync::Arc;

/// Who speaks in the conversation with a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model.
    Model,
    /// The user, also the answers of functions, and any other speaker of a foreign program.
    #[default]
    #[serde(other)]
    User,
}

/// A message of one or more parts.
///
/// ```
/// # use adk_core as adk;
/// use adk::{Content, Part};
/// let content = Content::user("What is this?").with(Part::inline_data("image/png", vec![1, 2, 3]));
/// assert_eq!(content.text(), "What is this?");
/// assert_eq!(
///     serde_json::to_string(&Content::model("Hi")).unwrap(),
///     r#"{"parts":[{"text":"Hi"}],"role":"model"}"#
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Content {
    /// The parts in the order in which they were said.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Who said it.
    #[serde(default)]
    pub role: Role,
}

/// One part of a message. In JSON it is ADK's object with one field, such as `{"functionCall": {...}}`.
///
/// Every kind but text is in a box, so that a part is as small as its text; `Part::from` makes the box. A call is shared:
/// its message, its record and its tool read the same one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// What the model thought; never part of its answer.
    Thought(Box<Thought>),
    /// A call that the model asks for.
    FunctionCall(Arc<FunctionCall>),
    /// The answer to a call.
    FunctionResponse(Box<FunctionResponse>),
    /// Bytes.
    InlineData(Box<Blob>),
    /// A file by its address.
    FileData(Box<FileData>),
    /// Anything else that ADK has a field for, such as executable code, as JSON. Models are not told of it.
    Other(Box<Map<String, Value>>),
}

/// Text of a model's thinking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thought {
    /// The text.
    pub text: String,
    /// What the provider wants to get back with it.
    pub signature: Option<String>,
}

/// A call of a function that the model asks for.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FunctionCall {
    /// The model's id of the call; made by the framework, with the prefix `adk-`, where the model gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The name of the tool.
    #[serde(default)]
    pub name: String,
    /// The arguments by name; empty when `malformed` is set.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// What the provider wants to get back with the call.
    #[serde(skip)]
    pub signature: Option<String>,
    /// The arguments as the model wrote them, when they were no JSON object; what they were, when they were nested deeper
    /// than [`MAX_DEPTH`](crate::MAX_DEPTH). Such a call must not be run: it is answered with an error result that tells the
    /// model so. It is part of the JSON (which is then not quite ADK's), since a resumed run must not take the call for one
    /// without arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// The answer to a [`FunctionCall`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FunctionResponse {
    /// The id of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The name of the tool.
    #[serde(default)]
    pub name: String,
    /// The result; a result that is no object is under `result`, an error under `error`.
    #[serde(default)]
    pub response: Map<String, Value>,
}

/// Bytes with their type. Clones share them.
#[derive(Clone, Debug, PartialEq)]
pub struct Blob {
    /// Such as `image/png`.
    pub mime_type: String,
    /// The bytes; base64 in JSON.
    pub data: Arc<[u8]>,
    /// A file name to show.
    pub display_name: Option<String>,
}

/// A file that the provider can read by itself.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileData {
    /// Where it is.
    #[serde(default, alias = "file_uri")]
    pub file_uri: String,
    /// Such as `application/pdf`.
    #[serde(default, alias = "mime_type", skip_serializing_if = "String::is_empty")]
    pub mime_type: String,
}

impl Content {
    /// Text that the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// Text that the model says.
    pub fn model(text: impl Into<String>) -> Self {
        Self { role: Role::Model, parts: vec![Part::Text(text.into())] }
    }

    /// Parts of one speaker.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { parts, role }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// All text, without thoughts.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// The calls that the model asks for, in order.
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::FunctionCall(call) => Some(&**call),
            _ => None,
        })
    }

    /// The answers to calls, in order.
    pub fn function_responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        self.parts.iter().filter_map(|part| match part {
            Part::FunctionResponse(response) => Some(&**response),
            _ => None,
        })
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

impl Part {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Bytes with their type, such as `image/png`.
    pub fn inline_data(mime_type: impl Into<String>, data: impl Into<Arc<[u8]>>) -> Self {
        Self::from(Blob { mime_type: mime_type.into(), data: data.into(), display_name: None })
    }

    /// A file by its address and type.
    pub fn file_data(file_uri: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::from(FileData { file_uri: file_uri.into(), mime_type: mime_type.into() })
    }

    /// The text, when it is text and no thought.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Makes parts of their contents.
macro_rules! boxed {
    ($($kind:ident($content:ident)),*) => {$(
        impl From<$content> for Part {
            fn from(content: $content) -> Self {
                Self::$kind(content.into())
            }
        }
    )*};
}

boxed!(
    Thought(Thought),
    FunctionCall(FunctionCall),
    FunctionResponse(FunctionResponse),
    InlineData(Blob),
    FileData(FileData)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_no_larger_than_its_text() {
        assert_eq!(size_of::<Part>(), size_of::<String>());
    }
}
