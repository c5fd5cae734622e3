//! The agents of a case, with their scripts, replies, tools and callbacks.

use super::format::{Hook, HookDef};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An agent, or a reference to an earlier instance.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub enum AgentDef {
    Ref(String),
    Agent(Box<Agent>),
}

#[derive(Clone, Debug)]
pub struct Agent {
    pub common: Common,
    pub kind: Kind,
}

/// The fields of all kinds of agents.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub sub_agents: Vec<AgentDef>,
    #[serde(default)]
    pub callbacks: BTreeMap<Hook, Vec<HookDef>>,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Scripted(Script),
    Sequential,
    Parallel,
    Loop { max_iterations: Option<i64> },
    Llm(Box<Llm>),
}

impl TryFrom<Map<String, Value>> for AgentDef {
    type Error = serde_json::Error;

    fn try_from(mut map: Map<String, Value>) -> Result<Self, serde_json::Error> {
        if let Some(name) = map.remove("ref") {
            return match map.keys().next() {
                None => serde_json::from_value(name).map(Self::Ref),
                Some(key) => Err(serde_json::Error::custom(format!("`{key}` beside `ref`"))),
            };
        }
        let kind = map.remove("type").unwrap_or(Value::Null);
        let mut common = Map::new();
        for key in ["name", "description", "sub_agents", "callbacks"] {
            if let Some(value) = map.remove(key) {
                common.insert(key.to_owned(), value);
            }
        }
        let common: Common = serde_json::from_value(common.into())?;
        let rest = Value::Object(map);
        let kind = match kind.as_str().unwrap_or_default() {
            "scripted" => Kind::Scripted(serde_json::from_value(rest)?),
            "sequential" => serde_json::from_value::<Nothing>(rest).map(|_| Kind::Sequential)?,
            "parallel" => serde_json::from_value::<Nothing>(rest).map(|_| Kind::Parallel)?,
            "loop" => {
                let LoopFields { max_iterations } = serde_json::from_value(rest)?;
                Kind::Loop { max_iterations }
            }
            "llm" => Kind::Llm(serde_json::from_value(rest)?),
            _ => {
                return Err(serde_json::Error::custom(format!(
                    "`{kind}` is no type of an agent"
                )));
            }
        };
        let agent_hooks = [Hook::BeforeAgent, Hook::AfterAgent];
        let plugin_hooks = [
            Hook::OnUserMessage,
            Hook::BeforeRun,
            Hook::AfterRun,
            Hook::OnEvent,
        ];
        let allowed = |hook: &Hook| match kind {
            Kind::Llm(_) => !plugin_hooks.contains(hook),
            _ => agent_hooks.contains(hook),
        };
        if let Some(hook) = common.callbacks.keys().find(|hook| !allowed(hook)) {
            let message = format!("`{}` has no callback `{}`", common.name, hook.name());
            return Err(serde_json::Error::custom(message));
        }
        Ok(Self::Agent(Box::new(Agent { common, kind })))
    }
}

impl AgentDef {
    /// Returns the names of the agents in the tree. Agents of tools are in their own trees.
    pub fn names(&self) -> Vec<String> {
        let Self::Agent(agent) = self else {
            return Vec::new();
        };
        let below = agent.common.sub_agents.iter().flat_map(Self::names);
        std::iter::once(agent.common.name.clone())
            .chain(below)
            .collect()
    }

    /// Whether the tree contains a parallel block.
    pub fn is_parallel(&self) -> bool {
        let Self::Agent(agent) = self else {
            return false;
        };
        let tools = match &agent.kind {
            Kind::Parallel => return true,
            Kind::Llm(llm) => &llm.tools[..],
            _ => &[],
        };
        let in_tool = |tool: &ToolDef| matches!(tool, ToolDef::Agent(agent) if agent.is_parallel());
        agent.common.sub_agents.iter().any(Self::is_parallel) || tools.iter().any(in_tool)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoopFields {
    #[serde(default)]
    max_iterations: Option<i64>,
}

/// The steps of a scripted agent in its `k`th run. After the end, the last entry repeats.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default)]
    pub runs: Vec<Vec<Step>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "StepFields")]
pub enum Step {
    Emit(Emit),
    EmitState(String),
    Increment {
        key: String,
        escalate_at: Option<i64>,
    },
    Sleep(u64),
    Raise(String),
    EndInvocation(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFields {
    emit: Option<Emit>,
    emit_state: Option<String>,
    increment: Option<String>,
    escalate_at: Option<i64>,
    sleep_ms: Option<u64>,
    raise: Option<String>,
    end_invocation: Option<bool>,
}

impl TryFrom<StepFields> for Step {
    type Error = String;

    fn try_from(fields: StepFields) -> Result<Self, String> {
        let StepFields {
            emit,
            emit_state,
            increment,
            escalate_at,
            sleep_ms,
            raise,
            end_invocation,
        } = fields;
        if escalate_at.is_some() && increment.is_none() {
            return Err("`escalate_at` without `increment`".to_owned());
        }
        let mut steps = [
            emit.map(Self::Emit),
            emit_state.map(Self::EmitState),
            increment.map(|key| Self::Increment { key, escalate_at }),
            sleep_ms.map(Self::Sleep),
            raise.map(Self::Raise),
            end_invocation.map(Self::EndInvocation),
        ]
        .into_iter()
        .flatten();
        match (steps.next(), steps.next()) {
            (Some(step), None) => Ok(step),
            _ => Err("a step does one thing".to_owned()),
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emit {
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub state: Map<String, Value>,
    #[serde(default)]
    pub escalate: Option<bool>,
    #[serde(default)]
    pub skip_summarization: Option<bool>,
    #[serde(default)]
    pub transfer_to_agent: Option<String>,
    #[serde(default)]
    pub partial: bool,
    #[serde(default)]
    pub author: Option<String>,
    #[serde(default)]
    pub branch: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    #[serde(default)]
    pub instruction: String,
    #[serde(default)]
    pub instruction_provider_text: Option<String>,
    #[serde(default)]
    pub global_instruction: String,
    #[serde(default)]
    pub output_key: Option<String>,
    #[serde(default)]
    pub output_schema: Option<Fields>,
    #[serde(default)]
    pub include_contents: Option<IncludeDef>,
    #[serde(default)]
    pub tools: Vec<ToolDef>,
    #[serde(default)]
    pub disallow_transfer_to_parent: bool,
    #[serde(default)]
    pub disallow_transfer_to_peers: bool,
    #[serde(default)]
    pub model: Vec<ReplyDef>,
    #[serde(default)]
    pub model_on_exhausted: Option<OnExhausted>,
}

/// The fields and their types, in the order of the file.
pub type Fields = Map<String, Value>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IncludeDef {
    Default,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExhausted {
    RepeatLast,
    Error,
}

/// The reply of the model to one call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyDef {
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub thought: Option<String>,
    #[serde(default)]
    pub function_calls: Vec<CallDef>,
    /// The chunks of the reply, used only when the run streams.
    #[serde(default)]
    pub partials: Vec<String>,
    #[serde(default)]
    pub error_code: Option<String>,
    #[serde(default)]
    pub error_message: Option<String>,
    #[serde(default)]
    pub finish_reason: Option<String>,
    #[serde(default)]
    pub empty_content: bool,
    #[serde(default)]
    pub raise: Option<String>,
    #[serde(default)]
    pub sleep_ms: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallDef {
    pub name: String,
    #[serde(default)]
    pub args: Map<String, Value>,
    #[serde(default)]
    pub id: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub enum ToolDef {
    ExitLoop,
    Agent(AgentDef),
    Function(FunctionDef),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionDef {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub params: Vec<ParamDef>,
    #[serde(default)]
    pub long_running: bool,
    #[serde(default)]
    pub behavior: Vec<Act>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamDef {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    /// The default value. An explicit `null` is a default, too.
    #[serde(default, deserialize_with = "present")]
    pub default: Option<Value>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// One action of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    SetState(Map<String, Value>),
    AppendState(AppendDef),
    SleepMs(u64),
    Escalate(bool),
    SkipSummarization(bool),
    TransferToAgent(String),
    Raise(String),
    Return(Value),
    ReturnArg(String),
    ReturnSum(Vec<String>),
    ReturnState(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppendDef {
    pub key: String,
    pub value: Value,
}

impl TryFrom<Map<String, Value>> for ToolDef {
    type Error = serde_json::Error;

    fn try_from(mut map: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let alone = |map: &Map<String, Value>| match map.keys().next() {
            None => Ok(()),
            Some(key) => Err(serde_json::Error::custom(format!(
                "unknown field `{key}` of a tool"
            ))),
        };
        if let Some(builtin) = map.remove("builtin") {
            alone(&map)?;
            return match builtin.as_str() {
                Some("exit_loop") => Ok(Self::ExitLoop),
                _ => Err(serde_json::Error::custom(format!(
                    "{builtin} is no built-in tool"
                ))),
            };
        }
        if let Some(agent) = map.remove("agent_tool") {
            alone(&map)?;
            return serde_json::from_value(agent).map(Self::Agent);
        }
        serde_json::from_value(Value::Object(map)).map(Self::Function)
    }
}
