//! [`LlmAgent`]: the definition of an LLM agent. It is data; `agents::llm` runs it.

mod conversation;
pub(crate) mod declare;
mod declared;
mod instruction;
pub(crate) mod output;
mod template;

pub use conversation::{Compaction, IncludeContents};
pub use declare::{LlmDecl, LlmSettings, OutputKey, Retry, ToolList, ToolsetList};
pub use declared::{Declared, Declares};
pub use instruction::{AsyncInstruction, Fallible, Instruction, Instructs, Text};
pub(crate) use output::AgentOutput;
pub(super) use output::json_of_python;
pub(crate) use template::render;

use crate::agents::description::{AgentDescription, DescriptionParts};
use crate::model::ModelRef;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::PromptSource;
use crate::runtime::tool::{DeclaredToolset, DynTool, Toolset};
use crate::{Error, ErrorKind, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// An agent that calls a language model: ADK's `LlmAgent`.
///
/// A turn calls the model, executes the tools that the model calls, and calls the model again until
/// its reply has no tool calls. Macros declare an agent; `LlmAgent::builder` builds an agent at
/// run time.
pub struct LlmAgent {
    pub(super) description: AgentDescription,
    pub(super) instruction: Instruction,
    /// The instruction for this agent and all agents below it. Used unless an agent above has one.
    pub(super) global: Option<Arc<dyn PromptSource>>,
    pub(super) output: Option<AgentOutput>,
    pub(super) include_contents: IncludeContents,
    pub(super) compact: Option<Compaction>,
    /// The declared maximum of model calls per turn, on which the checks rely.
    pub(super) max_turns: Option<u32>,
    /// Maximum number of replies per turn that may not fit the output type.
    pub(super) answer_attempts: u32,
    /// The declared tools. The tools of the settings follow them.
    pub(super) tools: ToolList,
    /// Whether handovers are disallowed to the parent, and to the other agents of the parent.
    pub(super) disallow_transfer: (bool, bool),
    /// The declared toolsets. The toolsets of the settings follow them.
    pub(super) toolsets: ToolsetList,
    pub(super) settings: LlmSettings,
}

/// The values that a builder creates an agent from.
#[allow(
    missing_docs,
    missing_debug_implementations,
    reason = "only `adk-build` creates it"
)]
pub struct LlmParts {
    pub parts: DescriptionParts,
    pub instruction: Instruction,
    pub global: Instruction,
    pub output: Option<AgentOutput>,
    pub include_contents: IncludeContents,
    pub compact: Option<Compaction>,
    pub answer_attempts: u32,
    pub disallow_transfer: (bool, bool),
    pub settings: LlmSettings,
}

impl LlmAgent {
    pub(crate) fn from_declaration(decl: &'static LlmDecl) -> Self {
        Self {
            description: AgentDescription::from_const(&decl.meta, (decl.sub_agents)()),
            instruction: decl.instruction.create(),
            global: decl.global_instruction.create().for_all(),
            output: decl.output.map(AgentOutput::from_declaration),
            include_contents: decl.include_contents,
            compact: decl.compact,
            max_turns: decl.max_turns,
            answer_attempts: decl.answer_attempts,
            tools: ToolList((decl.tools)()),
            disallow_transfer: decl.disallow_transfer,
            toolsets: ToolsetList::default(),
            settings: (decl.settings)(),
        }
    }

    pub(crate) fn from_parts(parts: LlmParts) -> Self {
        let LlmParts {
            parts,
            instruction,
            global,
            output,
            include_contents,
            compact,
            answer_attempts,
            disallow_transfer,
            settings,
        } = parts;
        let tools = ToolList(parts.tools.own.clone());
        let toolsets = parts.tools.sets.iter().cloned();
        let toolsets = ToolsetList(toolsets.map(DeclaredToolset::into_dyn).collect());
        let max_turns = settings.max_turns;
        Self {
            description: AgentDescription::from_parts(parts),
            instruction,
            global: global.for_all(),
            output,
            include_contents,
            compact,
            max_turns,
            answer_attempts,
            tools,
            disallow_transfer,
            toolsets,
            settings,
        }
    }

    /// Returns the sub-agents that the agent holds, to which it may hand over. A workflow holds the
    /// sub-agents of the agents that it declares.
    pub fn sub_agents(&self) -> &[Arc<dyn DynAgent>] {
        self.description.sub_agents()
    }

    /// Reports whether the agent cannot hand over to its parent.
    pub fn disallow_transfer_to_parent(&self) -> bool {
        self.disallow_transfer.0
    }

    /// Reports whether the agent cannot hand over to the other agents of its parent.
    pub fn disallow_transfer_to_peers(&self) -> bool {
        self.disallow_transfer.1
    }

    /// Reports whether the agent answers with JSON.
    pub(crate) fn answers_json(&self) -> bool {
        self.schema().is_some()
    }

    /// Reports whether the answer is a value without text. Its event then holds nothing but the
    /// value.
    pub(super) fn answers_closed(&self) -> bool {
        matches!(self.description.meta().writes, [key] if key.is_closed())
    }

    /// Returns the schema of the answer.
    pub(super) fn schema(&self) -> Option<Arc<Value>> {
        self.output.as_ref().and_then(AgentOutput::schema)
    }

    /// Returns the maximum of model calls per turn: the setting, otherwise the declared number.
    pub(super) fn max_turns(&self) -> Option<u32> {
        self.settings.max_turns.or(self.max_turns)
    }

    /// Checks that settings do not raise `max_turns`, from which `bounds` computes the worst case
    /// of model calls.
    pub(super) fn check_turns(&self) -> Result<()> {
        let (kind, why) = match (self.max_turns(), self.max_turns) {
            (Some(0), _) => (
                ErrorKind::Config,
                "an agent makes at least one model call".to_owned(),
            ),
            (Some(set), Some(most)) if set > most => {
                let why = format!(
                    "it is declared with `max_turns: {most}`, and the checks rely on this maximum"
                );
                (ErrorKind::Unchecked, why)
            }
            _ => return self.check_call(),
        };
        let set = self.max_turns().unwrap_or_default();
        Err(Error::new(kind, format!("`set_max_turns({set})`: {why}")))
    }

    /// Checks that settings do not raise the declared limits of a model call.
    fn check_call(&self) -> Result<()> {
        let (meta, settings) = (self.description.meta(), &self.settings);
        let longest = settings.timeout.map(|attempt| settings.longest(attempt));
        let tokens = settings.generation.max_output_tokens;
        let raised = if meta
            .timeout
            .is_some_and(|most| longest.is_none_or(|longest| longest > most))
        {
            "`set_timeout`, `set_retry` or `set_fallback`: a model call may take longer"
        } else if meta
            .max_output_tokens
            .is_some_and(|most| tokens.is_none_or(|tokens| tokens > most))
        {
            "`set_max_output_tokens`: an answer may be longer"
        } else {
            return Ok(());
        };
        let message = format!("{raised} than declared, and the checks rely on the declaration");
        Err(Error::new(ErrorKind::Unchecked, message)
            .with_help("declare the largest value that you set"))
    }

    /// Returns the maximum number of model calls of an agent that receives handovers, over all its
    /// turns at one path. If only a handover can cause a further call, `bounds` counts one call, so
    /// the limit is one. Tools that were added at run time cause further calls, so the limit of one
    /// does not apply then.
    pub(super) fn max_calls(&self) -> Option<u32> {
        let added = !self.settings.tools.0.is_empty() || !self.settings.toolsets.0.is_empty();
        let counted = self.description.meta().max_turns.filter(|_| !added);
        self.max_turns().or(counted)
    }

    /// Returns all tools, in the order of the model request.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.0.iter().chain(&self.settings.tools.0)
    }

    /// Returns all toolsets.
    pub(super) fn toolsets(&self) -> impl Iterator<Item = &Arc<dyn Toolset>> {
        self.toolsets.0.iter().chain(&self.settings.toolsets.0)
    }

    /// Returns the model that summarizes, unless it is the agent's model.
    pub(super) fn summary_model(&self) -> Option<ModelRef> {
        let by = self.compact?.by.map(ModelRef::from);
        self.settings.compact_by.clone().or(by)
    }
}

impl fmt::Debug for LlmAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmAgent")
            .field("name", &self.description.meta().name)
            .field("instruction", &self.instruction)
            .field("output", &self.output)
            .field("tools", &self.tools)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
