//! [`CallOutcome`]: the result of a tool call. [`ResultLimit`]: truncation of long results. The
//! model reads the beginning of a long result; an artifact contains the whole result.

use crate::agents::llm::toolbox::Toolbox;
use crate::runtime::run::{CallStep, Context};
use crate::runtime::tool::{ToolContext, ToolError};
use crate::{FunctionCall, Part, Result};
use adk_spec::hash::hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The result of a tool call, as the model reads it. Its JSON is that of a `Result`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::agents::llm) enum CallOutcome {
    #[serde(rename = "Ok")]
    Value(Value),
    #[serde(rename = "Err")]
    Error(String),
}

impl CallOutcome {
    /// Returns the outcome of a call whose error the model reads.
    pub(super) fn from_result(result: Result<Value, ToolError>) -> Self {
        result.map_or_else(|error| Self::Error(error.to_string()), Self::Value)
    }

    /// Returns the value, or an object with the error.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Error(message) => json!({"error": message}),
        }
    }

    /// Returns an object, the form of a response that models expect.
    pub(in crate::agents::llm) fn into_object(self) -> Map<String, Value> {
        match self.into_value() {
            Value::Object(map) => map,
            value => Map::from_iter([("result".to_owned(), value)]),
        }
    }
}

/// The limit for the result of one call.
pub(super) struct ResultLimit {
    /// Maximum length in bytes.
    most: usize,
    /// The beginning of the artifact's name. A repeated call saves under the same name.
    name: String,
    /// Whether the agent has the tool `load_artifacts`.
    loads: bool,
}

impl ResultLimit {
    /// Creates the limit for the result of `call`; `None` if the run has no limit.
    pub(super) fn new(
        tools: &Toolbox<'_>,
        call: &FunctionCall,
        step: &CallStep,
        cx: &Context,
    ) -> Option<Self> {
        let most = cx.config().max_tool_result?;
        let number = hash(&format!("{}/{}:{step}", cx.run_id(), cx.path()));
        let loads = tools.get("load_artifacts").is_some();
        Some(Self {
            most: most as usize,
            name: format!("{}_{number:016x}", call.name),
            loads,
        })
    }

    /// Returns the result that the model reads.
    ///
    /// # Errors
    /// Fails if the artifact cannot be saved.
    pub(super) async fn apply(
        self,
        result: CallOutcome,
        own: &mut ToolContext,
    ) -> Result<CallOutcome> {
        let Self { most, name, loads } = self;
        let (text, end) = match &result {
            CallOutcome::Value(Value::String(text)) | CallOutcome::Error(text) => {
                (text.clone(), "txt")
            }
            CallOutcome::Value(value) => (value.to_string(), "json"),
        };
        if text.len() <= most {
            return Ok(result);
        }
        let name = format!("{name}.{end}");
        let head = &text[..text.floor_char_boundary(most)];
        let (shown, len) = (head.len(), text.len());
        let how = if loads {
            ": call `load_artifacts` with that name to read it"
        } else {
            ""
        };
        let note = format!(
            "These are the first {shown} of {len} bytes. All of the result is in the artifact \
             `{name}`{how}."
        );
        let cut = match result {
            CallOutcome::Value(_) => CallOutcome::Value(json!({"result": head, "truncated": note})),
            CallOutcome::Error(_) => CallOutcome::Error(format!("{head} ... ({note})")),
        };
        own.artifacts().save(name, Part::Text(text)).await?;
        Ok(cut)
    }
}
