//! [`Content`] and [`Part`]: the messages of a conversation, in ADK's JSON shape.

mod json;

use serde_json::{Map, Value};
use std::sync::Arc;

/// The speaker of a message in the conversation with a model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model.
    Model,
    /// The user. Answers to function calls have this role too, as has any unknown role that another
    /// program has written.
    #[default]
    #[serde(other)]
    User,
}

/// A message of one or more parts.
///
/// ```
/// # use adk_build as adk;
/// use adk::{Content, Part};
/// let image = Part::inline_data("image/png", vec![1, 2, 3]);
/// let content = Content::user("What is this?").with(image);
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
    /// The speaker.
    #[serde(default)]
    pub role: Role,
}

/// One part of a message. In JSON it is ADK's object with one field, such as
/// `{"functionCall": {...}}`.
///
/// All kinds except text are boxed, so that a part is as small as its text; `Part::from` makes the
/// box. A call is shared: its message, its record and its tool read one value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// A thought of the model. It is never part of the answer.
    Thought(Box<Thought>),
    /// A call that the model asks for.
    FunctionCall(Arc<FunctionCall>),
    /// The answer to a call.
    FunctionResponse(Box<FunctionResponse>),
    /// Bytes.
    InlineData(Box<Blob>),
    /// A file, by its address.
    FileData(Box<FileData>),
    /// Any other field of ADK's part, such as executable code, as JSON. Models do not get it.
    Other(Box<Map<String, Value>>),
}

/// The text of a model's thinking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thought {
    /// The text.
    pub text: String,
    /// The signature that the provider expects back with the thought.
    pub signature: Option<String>,
}

/// A call of a function that the model asks for.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FunctionCall {
    /// The model's id of the call. The framework makes one with the prefix `adk-` if the model
    /// gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The name of the tool.
    #[serde(default)]
    pub name: String,
    /// The arguments by name; empty if `malformed` is set.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// The signature that the provider expects back with the call.
    #[serde(skip)]
    pub signature: Option<String>,
    /// The arguments as the model wrote them, if they are not a JSON object; a description of
    /// them, if they are nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH). A malformed call
    /// must not be executed: the runtime answers it with an error result that explains the
    /// mistake to the model. The field is written to the JSON, which then differs from ADK's,
    /// because a resumed run must not mistake the call for one without arguments.
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
    /// The result. A result that is not an object is stored under `result`, an error under
    /// `error`.
    #[serde(default)]
    pub response: Map<String, Value>,
}

/// Bytes with their MIME type. Clones share the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Blob {
    /// The MIME type, such as `image/png`.
    pub mime_type: String,
    /// The bytes; base64 in JSON.
    pub data: Arc<[u8]>,
    /// A file name for display.
    pub display_name: Option<String>,
}

/// A file that the provider can read by itself.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileData {
    /// The address.
    #[serde(default, alias = "file_uri")]
    pub file_uri: String,
    /// The MIME type, such as `application/pdf`.
    #[serde(default, alias = "mime_type", skip_serializing_if = "String::is_empty")]
    pub mime_type: String,
}

impl Content {
    /// Creates a message of the user with one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            parts: vec![Part::Text(text.into())],
        }
    }

    /// Creates a message of the model with one text.
    pub fn model(text: impl Into<String>) -> Self {
        Self {
            role: Role::Model,
            parts: vec![Part::Text(text.into())],
        }
    }

    /// Creates a message of several parts.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { parts, role }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns all text, without thoughts.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// Returns the calls that the model asks for, in order.
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::FunctionCall(call) => Some(&**call),
            _ => None,
        })
    }

    /// Returns the answers to calls, in order.
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
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a part of bytes with their MIME type, such as `image/png`.
    pub fn inline_data(mime_type: impl Into<String>, data: impl Into<Arc<[u8]>>) -> Self {
        Self::from(Blob {
            mime_type: mime_type.into(),
            data: data.into(),
            display_name: None,
        })
    }

    /// Creates a part for a file, by its address and MIME type.
    pub fn file_data(file_uri: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::from(FileData {
            file_uri: file_uri.into(),
            mime_type: mime_type.into(),
        })
    }

    /// Returns the text if the part is text and not a thought.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Implements `From` for parts that hold one value.
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
