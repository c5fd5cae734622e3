//! [`LlmAgent`]: an agent that calls a language model.

mod call;
mod calls;
mod compact;
mod confirm;
mod contents;
mod declare;
mod declared;
mod hooks;
mod instruction;
mod live;
mod long_result;
mod long_running;
mod merge;
mod no_answer;
mod output;
mod pieces;
mod questions;
mod repair;
mod request;
mod respond;
mod sequence;
mod template;
mod tool_workflow;
mod toolbox;
mod tools;
mod toolsets;
mod trace;
mod transfer;
mod turn;

pub use crate::store::event::COST_KEY;
pub use call::{COMPACTION_KEY, FALLBACK_KEY, RETRY_KEY};
pub use compact::Compaction;
#[doc(hidden)]
pub use declare::ANSWER_ATTEMPTS;
pub use declare::{IncludeContents, LlmDecl, LlmSettings, OutputKey, Retry, ToolList, ToolsetList};
pub use declared::{Declared, Declares};
pub use instruction::{AsyncInstruction, Fallible, Instruction, Instructs, Text};
pub use tool_workflow::ToolWorkflow;

#[doc(hidden)]
pub use output::AgentOutput;
pub(crate) use template::render;

use crate::Flow;
use crate::agents::description::{AgentDescription, DescriptionParts};
use crate::runtime::agent::{AnnouncedKeys, DynAgent, Handover};
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, Prepare, PromptSource};
use crate::runtime::workflow::prepare_root;
use crate::spec::AgentMeta;
use crate::{BoxFuture, Content, Error, ErrorKind, Event, Name, Result};
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An agent that calls a language model: ADK's `LlmAgent`.
///
/// A turn calls the model, executes the tools that the model calls, and calls the model again until
/// its reply has no tool calls. Macros declare an agent; `adk-build` builds an agent at run time.
pub struct LlmAgent {
    description: AgentDescription,
    instruction: Instruction,
    /// The instruction for this agent and all agents below it. Used unless an agent above has one.
    global: Option<Arc<dyn PromptSource>>,
    output: Option<AgentOutput>,
    include_contents: IncludeContents,
    compact: Option<Compaction>,
    /// The declared maximum of model calls per turn, on which the checks rely.
    max_turns: Option<u32>,
    /// Maximum number of replies per turn that may not fit the output type.
    answer_attempts: u32,
    /// The declared tools. The tools of the settings follow them.
    tools: ToolList,
    /// The sub-agents that a builder got, in the order of [`AgentMeta::transfer`]. Empty for an
    /// agent that a macro declares.
    sub_agents: Vec<Arc<dyn DynAgent>>,
    /// Whether handovers are disallowed to the parent, and to the other agents of the parent.
    disallow_transfer: (bool, bool),
    /// The declared toolsets. The toolsets of the settings follow them.
    toolsets: ToolsetList,
    settings: LlmSettings,
}

/// The values that a builder creates an agent from.
#[doc(hidden)]
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
        let prompt = || Instruction::from(decl.instruction);
        let global = decl.make_global_instruction.map(|make| make());
        let global = global.unwrap_or_else(|| Instruction::from(decl.global_instruction));
        Self {
            description: AgentDescription::from_const(&decl.meta),
            instruction: decl.make_instruction.map_or_else(prompt, |make| make()),
            global: global.for_all(),
            output: decl.output.map(AgentOutput::from_declaration),
            include_contents: decl.include_contents,
            compact: decl.compact,
            max_turns: decl.max_turns,
            answer_attempts: decl.answer_attempts,
            tools: ToolList((decl.tools)()),
            sub_agents: Vec::new(),
            disallow_transfer: (
                decl.disallow_transfer_to_parent,
                decl.disallow_transfer_to_peers,
            ),
            toolsets: ToolsetList::default(),
            settings: (decl.settings)(),
        }
    }

    /// Creates an agent that is built at run time.
    #[doc(hidden)]
    pub fn from_parts(parts: LlmParts) -> Self {
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
        let (tools, sub_agents) = (ToolList(parts.tools.clone()), parts.transfer.clone());
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
            sub_agents,
            disallow_transfer,
            toolsets: ToolsetList::default(),
            settings,
        }
    }

    /// Returns the sub-agents, to which the agent may hand over.
    pub fn sub_agents(&self) -> &[Arc<dyn DynAgent>] {
        &self.sub_agents
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

    /// Returns the schema of the answer.
    fn schema(&self) -> Option<Arc<Value>> {
        self.output.as_ref().and_then(AgentOutput::schema)
    }

    /// Returns the maximum of model calls per turn: the setting, otherwise the declared number.
    fn max_turns(&self) -> Option<u32> {
        self.settings.max_turns.or(self.max_turns)
    }

    /// Checks that settings do not raise `max_turns`, from which `bounds` computes the worst case
    /// of model calls.
    fn check_turns(&self) -> Result<()> {
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
    fn max_calls(&self) -> Option<u32> {
        let added = !self.settings.tools.0.is_empty() || !self.settings.toolsets.0.is_empty();
        let counted = self.description.meta().max_turns.filter(|_| !added);
        self.max_turns().or(counted)
    }
}

impl DynAgent for LlmAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        self.description.meta()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let meter = cx.meter_of_budget(self.settings.budget);
            let mut cx = cx.enter(meter);
            let flow = match cx.run.kind.live().cloned() {
                // Boxed to keep the future small, because few runs are live.
                Some(input) => Box::pin(live::run(self, input, &mut cx)).await,
                None => turn::run(self, &mut cx).await,
            };
            flow.map_err(|error| error.at(cx.path()))
        })
    }

    fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
        Some(&self.settings.callbacks)
    }

    fn stand_in_dyn(&self, mut content: Content) -> Result<Event> {
        let value = match &self.output {
            Some(output) => {
                output::value(output, &mut content).map_err(|misfit| misfit.error(None, 1))?
            }
            None => None,
        };
        let event = Event::new().with_content(content);
        Ok(match value {
            Some((key, value)) => event.with_state(key, value),
            None => event,
        })
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        prepare.needs_model(self.settings.model.as_ref(), &self.settings.fallback);
        if let Some(by) = self.compact.and_then(|compact| compact.model(self)) {
            prepare.needs_model(Some(&by), &[]);
        }
        if let Err(error) = self
            .check_tools()
            .and_then(|()| self.check_added(prepare))
            .and_then(|()| self.check_turns())
        {
            prepare.fail(error);
        }
        self.tools()
            .for_each(|tool| prepare.needs_resources(tool.meta().resources));
        for toolset in self.toolsets() {
            let toolset = toolset.clone();
            prepare.awaits(Box::pin(async move { toolset.prepare().await }));
        }
        for agent in self.tools().filter_map(|tool| tool.agent_dyn()) {
            prepare.check_tool(Name::shared(agent.meta().name), |prepare| {
                prepare_root(agent, prepare)
            });
        }
    }

    fn announced_dyn(&self) -> AnnouncedKeys {
        self.description.announced()
    }

    fn handover_dyn(&self) -> Handover<'_> {
        Handover {
            decides: true,
            not_to_parent: self.disallow_transfer.0,
            not_to_peers: self.disallow_transfer.1,
            max_calls: self.max_calls(),
            model: self.settings.model.as_ref(),
            global: self.global.as_ref(),
            agents: &self.sub_agents,
        }
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
