//! The format of a case file. An unknown field is an error, so that no field is ignored.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The input and the expectations of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(default = "first_format")]
    pub format: u32,
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub tags: Vec<String>,
    pub root: super::agents::AgentDef,
    #[serde(default = "one_run")]
    pub runs: Vec<RunDef>,
    #[serde(default)]
    pub state: Map<String, Value>,
    #[serde(default)]
    pub artifacts: BTreeMap<String, String>,
    #[serde(default)]
    pub no_artifact_service: bool,
    #[serde(default)]
    pub resumable: bool,
    #[serde(default)]
    pub record_persisted: bool,
    #[serde(default)]
    pub run_config: RunConfigDef,
    #[serde(default)]
    pub plugins: Vec<PluginDef>,
    #[serde(default)]
    pub compare: Compare,
    pub expect: Map<String, Value>,
    #[serde(default)]
    pub variants: BTreeMap<String, Map<String, Value>>,
    #[serde(default)]
    pub generated_with: Option<String>,
}

fn first_format() -> u32 {
    1
}

fn one_run() -> Vec<RunDef> {
    vec![RunDef {
        message: Some("go".to_owned()),
        ..RunDef::default()
    }]
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// The text is not a case of this format.
    pub fn parse(text: &str) -> Result<Self, String> {
        let case: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match case.format {
            1 => Ok(case),
            other => Err(format!("format {other} is not known, only 1")),
        }
    }
}

/// The compared part of an expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// All events in their order.
    #[default]
    Exact,
    /// The order within each branch, and the order of the events without a branch.
    PerBranch,
    /// Only the kind of the error.
    None,
}

/// One turn of the user.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunDef {
    #[serde(default)]
    pub message: Option<String>,
    #[serde(default)]
    pub function_response: Option<AnswerDef>,
    #[serde(default)]
    pub resume_previous_invocation: bool,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub state_delta: Map<String, Value>,
    #[serde(default)]
    pub stop_after_events: Option<usize>,
    #[serde(default)]
    pub live: bool,
}

/// The answer to a pending call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerDef {
    pub id: String,
    pub name: String,
    pub response: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfigDef {
    #[serde(default)]
    pub max_llm_calls: Option<i64>,
    #[serde(default)]
    pub streaming_mode: Option<StreamingMode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamingMode {
    Sse,
    None,
}

/// A plugin: its name, and its actions at each hook.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct PluginDef {
    pub name: String,
    pub hooks: BTreeMap<Hook, HookDef>,
}

impl TryFrom<Map<String, Value>> for PluginDef {
    type Error = serde_json::Error;

    fn try_from(mut map: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let name = map.remove("name").unwrap_or(Value::Null);
        Ok(Self {
            name: serde_json::from_value(name)?,
            hooks: serde_json::from_value(Value::Object(map))?,
        })
    }
}

/// The place at which a callback or a plugin is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    OnUserMessage,
    BeforeRun,
    AfterRun,
    OnEvent,
    BeforeAgent,
    AfterAgent,
    BeforeModel,
    AfterModel,
    OnModelError,
    BeforeTool,
    AfterTool,
    OnToolError,
}

impl Hook {
    /// Returns the name in cases and in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnUserMessage => "on_user_message",
            Self::BeforeRun => "before_run",
            Self::AfterRun => "after_run",
            Self::OnEvent => "on_event",
            Self::BeforeAgent => "before_agent",
            Self::AfterAgent => "after_agent",
            Self::BeforeModel => "before_model",
            Self::AfterModel => "after_model",
            Self::OnModelError => "on_model_error",
            Self::BeforeTool => "before_tool",
            Self::AfterTool => "after_tool",
            Self::OnToolError => "on_tool_error",
        }
    }
}

/// The actions of a callback, in this order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookDef {
    /// Limits an agent hook of a plugin to these agents.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    #[serde(default)]
    pub state: Map<String, Value>,
    #[serde(default)]
    pub escalate: Option<bool>,
    #[serde(default)]
    pub append_instruction: Option<String>,
    #[serde(default)]
    pub set_args: Map<String, Value>,
    #[serde(default)]
    pub raise: Option<String>,
    /// Text for callbacks of agents and models, an object for callbacks of tools.
    #[serde(default, rename = "return", alias = "return_text")]
    pub returns: Option<Value>,
}

impl HookDef {
    /// Returns the text that the callback returns.
    pub fn text(&self) -> Option<&str> {
        self.returns.as_ref().and_then(Value::as_str)
    }

    /// Returns the object that the callback returns.
    pub fn object(&self) -> Option<&Map<String, Value>> {
        self.returns.as_ref().and_then(Value::as_object)
    }
}
