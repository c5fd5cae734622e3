//! Checks the fields of an [`LlmAgentBuilder`] and creates the agent.

use super::{LlmAgentBuilder, OutputType};
use crate::build::LlmAgent;
use crate::build::error::BuildError;
use crate::build::item::{DEEPEST, Item, Placed, SubAgent};
use crate::build::tree::{OUTPUT_KEY, SUB_AGENTS, Tree};
use adk_core::__private::build::{
    ANSWER_ATTEMPTS, AgentOutput, DescriptionParts, Key, LlmParts, OwnedGuards, SEES_ALL,
    contents_fault, described, shown, toolset_fault, value_schema,
};
use adk_core::check::{Check, Diagnostic};
use adk_core::llm::Instruction;
use adk_core::spec::AgentKind;
use adk_core::spec::ident::is_identifier;
use adk_core::spec::placeholder::is_key;
use std::sync::Arc;

impl LlmAgentBuilder {
    /// Returns all faults of the agent and of the agents below it.
    pub fn check(&self) -> Vec<Diagnostic> {
        Tree::new(self.clone().part().0, self.options.clone()).check()
    }

    /// Builds the agent.
    ///
    /// The check ignores the flow of keys, because the tree that contains the agent is checked as a
    /// whole.
    ///
    /// # Errors
    /// Returns all other faults of the agent.
    pub fn build(self) -> Result<LlmAgent, BuildError> {
        let mut faults = self.check();
        faults.retain(|fault| !fault.is_of_flow());
        if !self.options.guards.checks {
            faults.retain(|fault| !fault.is_of_guards());
        }
        if faults.is_empty() {
            Ok(LlmAgent::from_parts(self.parts()))
        } else {
            Err(BuildError::new(faults, self.part()))
        }
    }

    pub(in crate::build) fn part(self) -> SubAgent {
        let depth = 1 + self
            .sub_agents
            .iter()
            .map(SubAgent::depth)
            .max()
            .unwrap_or_default();
        let faults = if depth > DEEPEST {
            Vec::new()
        } else {
            self.own_faults()
        };
        let agent = Arc::new(LlmAgent::from_parts(self.parts()));
        SubAgent(Item::Agent(Placed::with_faults(agent, faults, depth)))
    }

    /// Returns the faults of the agent itself.
    fn own_faults(&self) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        for tool in &self.tools.own {
            let declaration = tool.declaration_dyn();
            if declaration
                .parameters
                .get("type")
                .is_none_or(|kind| kind != "object")
            {
                let fact = format!(
                    "tool `{}` of agent `{}` takes arguments that are no object; help: take a \
                     struct, whose fields the model fills in",
                    declaration.name, self.name
                );
                faults.push(Diagnostic::new(Check::ToolArgument, &*self.name, fact));
            }
        }
        for toolset in &self.tools.sets {
            if let Some(fault) = toolset_fault(toolset) {
                let fact = fault.trim_start_matches("syntax: ");
                faults.push(Diagnostic::new(Check::Syntax, &*self.name, fact));
            }
        }
        if self.settings.max_turns == Some(0) {
            let fact = format!(
                "`max_turns` of agent `{}` is 0; help: use 1 or more, because a turn makes at \
                 least one model call",
                self.name
            );
            faults.push(Diagnostic::new(Check::Syntax, &*self.name, fact));
        }
        if self.answer.attempts == Some(0) {
            let fact = format!(
                "`answer_attempts` of agent `{}` is 0; help: use 1 or more",
                self.name
            );
            faults.push(Diagnostic::new(Check::Syntax, &*self.name, fact));
        }
        if let Some(fault) = contents_fault(self.include_contents, self.compact) {
            let fact = format!(
                "agent `{}`: {}",
                self.name,
                fault.trim_start_matches("syntax: ")
            );
            faults.push(Diagnostic::new(Check::Syntax, &*self.name, fact));
        }
        faults.extend(
            self.answer
                .key
                .as_deref()
                .filter(|key| !is_key(key))
                .map(|key| self.key_fault(key)),
        );
        // A tree is checked with all its parts, but the handover targets of this agent are in no
        // tree, so their faults are added here. Faults of steps inside of a target are found by its
        // description.
        for part in &self.sub_agents {
            if let Item::Agent(placed) = &part.0 {
                let below = placed
                    .faults
                    .iter()
                    .filter(|fault| fault.step.is_none())
                    .cloned();
                faults.extend(below.map(|fault| fault.at(SUB_AGENTS)));
            }
        }
        // A block below the agent is checked as a tree of its own.
        let blocks = self
            .sub_agents
            .iter()
            .filter(|part| matches!(part.0, Item::Block(_)));
        let inner = blocks.flat_map(|part| Tree::from_item(part.0.clone()).check());
        faults.extend(inner.filter(|fault| !fault.is_of_flow() && !fault.is_of_guards()));
        faults
    }

    /// Returns the fault of an output key that only code can read: a prompt treats `{no key}` as
    /// text.
    fn key_fault(&self, key: &str) -> Diagnostic {
        let name = key.rsplit(':').next().unwrap_or_default();
        let suggestion = name.replace(|c: char| !c.is_alphanumeric(), "_");
        let example = if is_identifier(&suggestion) {
            &*suggestion
        } else {
            "draft"
        };
        let fact = format!(
            "agent `{}` writes `{key}`, which is no key that a prompt can read; help: use letters, \
             digits and `_`, not beginning with a digit, perhaps after `user:`, `app:` or `temp:`, \
             as in `{example}`",
            self.name
        );
        Diagnostic::new(Check::NameInvalid, &*self.name, fact).at(OUTPUT_KEY)
    }

    fn parts(self) -> LlmParts {
        let mut parts = DescriptionParts::new(AgentKind::Llm, &*self.name);
        parts.description = self.description;
        let prompts = [&self.instruction, &self.global_instruction]
            .into_iter()
            .filter_map(Instruction::prompt);
        parts.prompts = prompts
            .filter(|prompt| !prompt.is_empty())
            .map(str::to_owned)
            .collect();
        let kept = self.sub_agents.iter().filter(|part| part.depth() < DEEPEST);
        parts.transfer = kept.map(SubAgent::to_agent).collect();
        parts.guards = self.options.guards.rules.map(OwnedGuards::new);
        let short = self.tools.is_empty() && parts.transfer.is_empty();
        let is_text = match &self.answer.form {
            Some(OutputType::Schema(_)) => false,
            Some(OutputType::Type { output, .. }) => output.schema.is_none(),
            _ => true,
        };
        let attempts = self.answer.attempts.unwrap_or(ANSWER_ATTEMPTS);
        parts.max_turns =
            self.settings
                .max_turns
                .or(short.then_some(if is_text { 1 } else { attempts }));
        parts.context.compacts = self.compact.is_some();
        parts.context.conversation = shown(self.include_contents);
        let instructions = [&self.instruction, &self.global_instruction];
        if instructions.iter().any(|one| one.prompt().is_none()) {
            parts.context.labels = SEES_ALL;
        }
        parts.tools = self.tools;
        parts.answer.schema = match &self.answer.form {
            Some(OutputType::Type { output, .. }) => described(output),
            Some(OutputType::Schema(schema)) => Some(value_schema(schema)),
            None => None,
        };
        let name = self.answer.key;
        let key = name.as_deref();
        let (output, key) = match self.answer.form {
            None => (
                name.clone().map(AgentOutput::text),
                key.map(Key::typed::<String>),
            ),
            Some(OutputType::Type { output, key: typed }) => (
                Some(AgentOutput::with_type(name.clone(), output)),
                key.map(|key| typed(key.to_owned())),
            ),
            Some(OutputType::Schema(schema)) => (
                Some(AgentOutput::with_schema(name.clone(), schema)),
                key.map(Key::any),
            ),
        };
        parts.writes.extend(key);
        LlmParts {
            parts,
            instruction: self.instruction,
            global: self.global_instruction,
            output,
            include_contents: self.include_contents,
            compact: self.compact,
            answer_attempts: attempts,
            disallow_transfer: self.disallow_transfer,
            settings: self.settings,
        }
    }
}
