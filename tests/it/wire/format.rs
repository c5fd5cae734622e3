//! The parts of each wire format that the tests read.

use crate::wire_server::Recorded;
use serde_json::{Value, json};

pub(crate) const KEY: &str = "sk-test-0123456789";

/// A wire format, selected by the name of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    /// Chat completions.
    OpenAi,
    Gemini,
}

/// Returns both formats, streamed and not streamed.
pub(crate) fn everywhere() -> impl Iterator<Item = (Format, bool)> {
    [Format::OpenAi, Format::Gemini]
        .into_iter()
        .flat_map(|format| [(format, true), (format, false)])
}

impl Format {
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::OpenAi => "gpt-4o-mini",
            Self::Gemini => "gemini-2.5-flash",
        }
    }

    /// Returns the path of a request.
    pub(crate) fn path(self, streaming: bool) -> &'static str {
        match (self, streaming) {
            (Self::OpenAi, _) => "/v1/chat/completions",
            (Self::Gemini, true) => "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            (Self::Gemini, false) => "/v1beta/models/gemini-2.5-flash:generateContent",
        }
    }

    /// Returns the API key of a request.
    pub(crate) fn key(self, request: &Recorded) -> Option<&str> {
        match self {
            Self::OpenAi => request.header("authorization")?.strip_prefix("Bearer "),
            Self::Gemini => request.header("x-goog-api-key"),
        }
    }

    /// Returns the instruction, without the framework's text about the agent after it.
    pub(crate) fn instruction(self, request: &Recorded) -> &str {
        let text = match self {
            Self::OpenAi => &request.body["messages"][0]["content"],
            Self::Gemini => &request.body["systemInstruction"]["parts"][0]["text"],
        };
        let text = text.as_str().unwrap_or_default();
        text.split_once("\n\nYou are an agent.")
            .map_or(text, |(instruction, _)| instruction)
    }

    /// Returns the names of the declared tools.
    pub(crate) fn tools(self, request: &Recorded) -> Vec<&str> {
        let (tools, name) = match self {
            Self::OpenAi => (&request.body["tools"], "/function/name"),
            Self::Gemini => (&request.body["tools"][0]["functionDeclarations"], "/name"),
        };
        let tools = tools.as_array().into_iter().flatten();
        tools
            .filter_map(|tool| tool.pointer(name)?.as_str())
            .collect()
    }

    /// Returns the results of the tools, in order.
    pub(crate) fn results(self, request: &Recorded) -> Vec<Value> {
        let parsed = |text: &Value| {
            serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or_else(|_| text.clone())
        };
        match self {
            Self::OpenAi => {
                let messages = request.body["messages"].as_array().into_iter().flatten();
                messages
                    .filter(|message| message["role"] == "tool")
                    .map(|message| parsed(&message["content"]))
                    .collect()
            }
            Self::Gemini => {
                let contents = request.body["contents"].as_array().into_iter().flatten();
                let parts =
                    contents.flat_map(|content| content["parts"].as_array().into_iter().flatten());
                parts
                    .filter_map(|part| part.pointer("/functionResponse/response"))
                    .cloned()
                    .collect()
            }
        }
    }

    /// Returns the names of the required properties of the reply.
    pub(crate) fn required(self, request: &Recorded) -> &Value {
        let schema = match self {
            Self::OpenAi => &request.body["response_format"]["json_schema"]["schema"],
            Self::Gemini => &request.body["generationConfig"]["responseJsonSchema"],
        };
        &schema["required"]
    }

    /// Returns the last text of the user.
    pub(crate) fn user_text(self, request: &Recorded) -> &str {
        let text = match self {
            Self::OpenAi => request.body["messages"]
                .as_array()
                .and_then(|all| all.last())
                .map(|one| &one["content"]),
            Self::Gemini => request.body["contents"]
                .as_array()
                .and_then(|all| all.last())
                .map(|one| &one["parts"][0]["text"]),
        };
        text.and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the request asks for a stream.
    pub(crate) fn streams(self, request: &Recorded) -> bool {
        match self {
            Self::OpenAi => request.body["stream"] == json!(true),
            Self::Gemini => request.path.contains(":streamGenerateContent"),
        }
    }
}
