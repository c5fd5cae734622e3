//! Checks of the tools of an agent: of their names, and of the tools that were added at run time.

use super::respond::RESPOND;
use super::transfer::TRANSFER;
use crate::agents::llm::agent::LlmAgent;
use crate::runtime::agent::DynAgent as _;
use crate::runtime::run::Prepare;
use crate::spec::{AgentMeta, Spec, Step, StepKind, ToolMeta};
use crate::store::session::Scope;
use crate::{Error, ErrorKind, Result};
use adk_spec::__private::wait_in_tool;

/// Names that the runtime reserves for its own tools.
pub(in crate::agents::llm) const RESERVED: [&str; 2] = [TRANSFER, RESPOND];

impl LlmAgent {
    /// Checks the names of all tools before the first call. The macro checks only the declared
    /// tools.
    pub(in crate::agents::llm) fn check_tools(&self) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        for tool in self.tools() {
            let name = tool.declaration_dyn().name.as_str();
            if RESERVED.contains(&name) {
                let message = format!(
                    "tool-reserved: a tool is called `{name}`, a name of the runtime's own"
                );
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("give it another name: `#[tool(name = ...)]`"));
            }
            if seen.contains(&name) {
                let message = format!("tool-duplicate: two tools are called `{name}`");
                return Err(Error::new(ErrorKind::Config, message).with_help(
                    "add it once, or give one of them another name: `#[tool(name = ...)]`",
                ));
            }
            seen.push(name);
        }
        let added = self
            .settings
            .tools
            .0
            .iter()
            .filter_map(|tool| tool.meta().agent);
        let waits = added
            .filter_map(|agent| wait_in_tool(self.meta().name, agent))
            .next();
        if let Some(message) = waits {
            let (fact, help) = message
                .as_str()
                .split_once("; help: ")
                .unwrap_or((message.as_str(), ""));
            return Err(Error::new(ErrorKind::Config, fact).with_help(help));
        }
        Ok(())
    }

    /// Checks that the declaration permits each added tool, and that the tool stays within the
    /// effects that the checks assumed.
    pub(in crate::agents::llm) fn check_added(&self, prepare: &Prepare<'_>) -> Result<()> {
        let meta = self.meta();
        if !meta.more_tools
            && let Some(toolset) = self.settings.toolsets.0.first()
        {
            let message = format!(
                "`add_toolset` gave toolset `{}` to agent `{}`, but its declaration does not allow \
                 more tools",
                toolset.name(),
                meta.name
            );
            return Err(
                Error::new(ErrorKind::Unchecked, message).with_help("write `tools: [..]` there")
            );
        }
        let counts_calls =
            meta.max_turns.is_some() && meta.tools.iter().all(|tool| tool.agent.is_none());
        for tool in self.settings.tools.0.iter().map(|tool| tool.meta()) {
            let (fact, help) = if !meta.more_tools {
                (
                    "its declaration does not allow more tools".to_owned(),
                    "list it in `tools`, or write `tools: [..]` there",
                )
            } else if tool.may_exit && !meta.may_exit {
                (
                    "the tool may end a loop, and no declared one does".to_owned(),
                    "list it in `tools`",
                )
            } else if let Some((verb, key)) = unseen_key(tool) {
                (
                    format!("the tool {verb} the key `{key}`, which no check has seen"),
                    "list it in `tools`",
                )
            } else if counts_calls && tool.agent.is_some_and(may_call_models) {
                let fact = "the tool is an agent that asks a model, and those calls are limited by \
                    `max_turns`";
                (
                    fact.to_owned(),
                    "list it in `tools`, or leave `max_turns` out",
                )
            } else if prepare.is_tool && (tool.confirm || tool.long_running) {
                let fact = "the tool waits for an answer from outside, and the agent is used as a \
                    tool, which cannot wait";
                (fact.to_owned(), "call the agent as a step")
            } else {
                continue;
            };
            let message = format!(
                "`add_tool` gave tool `{}` to agent `{}`, but {fact}",
                tool.name, meta.name
            );
            return Err(Error::new(ErrorKind::Unchecked, message).with_help(help));
        }
        Ok(())
    }
}

/// Returns a key of the session that a tool reads or writes, with the verb.
pub(super) fn unseen_key<'a>(tool: &ToolMeta<'a>) -> Option<(&'static str, &'a str)> {
    let reads = tool.reads.iter().map(|key| ("reads", key.name));
    let mut keys = reads.chain(tool.writes.iter().map(|key| ("writes", key.name)));
    keys.find(|(_, key)| Scope::of(key) == Scope::Session)
}

/// Reports whether an agent may make model calls.
fn may_call_models(agent: &AgentMeta<'_>) -> bool {
    let steps = [Step::new(
        agent.name,
        StepKind::Agent {
            meta: agent,
            instance: false,
        },
        0,
    )];
    Spec::new(agent.name, "", &steps).bounds().model_calls != Some(0)
}
