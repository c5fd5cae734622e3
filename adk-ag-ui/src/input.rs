//! [`RunAgentInput`]: a request of AG-UI 1.0. The server ignores the tools, the context and the
//! forwarded properties of the client, because the workflow defines the tools and inputs of its
//! agents.

use adk_core::runner::KnownWorkflow;
use adk_core::{Content, Part, Role};
use adk_server::protocol::Refusal;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunAgentInput {
    /// The session.
    pub(crate) thread_id: String,
    /// The client's id for this request.
    pub(crate) run_id: String,
    messages: Vec<Message>,
    #[serde(default)]
    state: Value,
    /// Answers to the waits of a run in the thread.
    #[serde(default)]
    pub(crate) resume: Vec<ResumeEntry>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResumeEntry {
    pub(crate) interrupt_id: String,
    pub(crate) status: ResumeStatus,
    #[serde(default)]
    pub(crate) payload: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResumeStatus {
    Resolved,
    Cancelled,
}

impl RunAgentInput {
    pub(crate) fn read(body: Value) -> Result<Self, Refusal> {
        let input: Self =
            serde_json::from_value(body).map_err(|error| invalid(error.to_string()))?;
        if input.run_id.is_empty() {
            return Err(invalid("`runId` is empty".to_owned()));
        }
        Ok(input)
    }

    /// Returns the last message of the user. The session has the earlier ones.
    pub(crate) fn user_message(&self) -> Result<Option<Content>, Refusal> {
        let Some(message) = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == "user")
        else {
            return Ok(None);
        };
        let parts = match &message.content {
            Value::String(text) => vec![Part::text(&**text)],
            Value::Array(parts) => parts.iter().map(part).collect::<Result<_, _>>()?,
            _ => {
                return Err(invalid(
                    "the content of the last message is neither text nor parts".to_owned(),
                ));
            }
        };
        Ok(Some(Content::new(Role::User, parts)))
    }

    /// Returns the input of the workflow: fields of the message, and for missing fields the state
    /// of the client.
    pub(crate) fn input_of(&self, workflow: &KnownWorkflow, message: Option<&Content>) -> Value {
        let form = workflow.form();
        let from_state = |key: &str| Some((key.to_owned(), self.state(key)?.clone()));
        let mut fields: Map<_, _> = form
            .inputs()
            .iter()
            .filter_map(|input| from_state(&input.key))
            .collect();
        match message.map(|message| workflow.input_of(message)) {
            Some(Value::Object(own)) => fields.extend(own),
            Some(Value::Null) | None => {}
            Some(other) => {
                let has_field = |key: &str| fields.contains_key(key);
                if !form
                    .inputs()
                    .iter()
                    .all(|input| !input.is_required || has_field(&input.key))
                {
                    return other;
                }
            }
        }
        Value::Object(fields)
    }

    /// Returns the session keys that the workflow reads, with the client's values. A client may not
    /// set `app:` keys.
    pub(crate) fn session_keys(&self, workflow: &KnownWorkflow) -> Vec<(String, Value)> {
        let keys = workflow.agent().meta().states.iter().map(|key| key.name);
        let own = keys.filter(|key| !key.starts_with("app:"));
        own.filter_map(|key| Some((key.to_owned(), self.state(key)?.clone())))
            .collect()
    }

    /// Returns the client's value of a key. The placeholder of a secret counts as missing.
    fn state(&self, key: &str) -> Option<&Value> {
        self.state
            .get(key)
            .filter(|value| value.get("$kept").is_none())
    }
}

fn part(part: &Value) -> Result<Part, Refusal> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = part["type"].as_str().unwrap_or_default();
    let source = &part["source"];
    let read = match kind {
        "text" => text(&part["text"]).map(Part::text),
        "image" | "audio" | "video" | "document" => {
            let (value, mime) = (text(&source["value"]), text(&source["mimeType"]));
            match source["type"].as_str() {
                // The value is base64.
                Some("data") => serde_json::from_value(json!({
                    "inlineData": {"data": value, "mimeType": mime},
                }))
                .ok(),
                Some("url" | "file") => {
                    value.map(|uri| Part::file_data(uri, mime.unwrap_or_default()))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let kind: String = kind.chars().take(40).collect();
    read.ok_or_else(|| {
        invalid(format!(
            "a part of the last message, of type `{kind}`, cannot be read"
        ))
    })
}

fn invalid(message: String) -> Refusal {
    Refusal::bad("input_invalid", message).help("send the `RunAgentInput` of AG-UI 1.0")
}
