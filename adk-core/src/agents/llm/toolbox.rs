//! [`Toolbox`]: the tools of one turn. The runtime's tools come first and depend on the agent's
//! place in the workflow; the agent's own tools follow.

mod check;
mod labels;
pub(super) mod respond;
mod toolsets;
pub(super) mod transfer;

pub(super) use check::RESERVED;
pub(super) use labels::Sink;

use self::respond::SetModelResponse;
use self::transfer::{TransferToAgent, task_completed};
use super::agent::LlmAgent;
use crate::model::ToolDeclaration;
use crate::runtime::run::{Context, ModelChain};
use crate::runtime::tool::{DynTool, ProcessRequest};
use crate::{Name, Result};
use serde_json::Value;
use std::sync::Arc;

/// Reports whether a model may call the tool, and the runtime runs it.
pub(super) fn is_function(tool: &dyn DynTool) -> bool {
    let processor = tool.processor_dyn();
    !tool.meta().at_provider && processor.is_none_or(|processor| processor.is_declared())
}

/// The tools of one turn.
pub(super) struct Toolbox<'a> {
    agent: &'a LlmAgent,
    added: Vec<Arc<dyn DynTool>>,
    /// The tools that toolsets offer for the current model call.
    offered: Vec<Arc<dyn DynTool>>,
    /// Whether the model gives its answer through a tool.
    has_answer_tool: bool,
}

impl<'a> Toolbox<'a> {
    pub(super) fn new(agent: &'a LlmAgent, models: &ModelChain, cx: &Context) -> Self {
        let mut added: Vec<Arc<dyn DynTool>> = Vec::new();
        let transfer = TransferToAgent::new(cx);
        let own_tools = agent.tools().next().is_some() || agent.toolsets().next().is_some();
        let other_tools = transfer.is_some() || own_tools;
        if other_tools
            // The agent's model and its fallback models get the same request. If one of them
            // supports no response schema together with tools, the model answers through a tool.
            && !models.iter().all(|model| model.answers_in_schema_beside_tools())
            && let Some(output) = &agent.output
            && let Some(schema) = agent.schema()
        {
            added.push(Arc::new(SetModelResponse::new(output.clone(), schema)));
        }
        let has_answer_tool = !added.is_empty();
        if let Some(transfer) = transfer {
            added.push(Arc::new(transfer));
        }
        added.extend(task_completed(agent, cx));
        Self {
            agent,
            added,
            offered: Vec::new(),
            has_answer_tool,
        }
    }

    /// Creates a toolbox with only the agent's own tools.
    pub(super) fn with_own_tools(agent: &'a LlmAgent) -> Self {
        Self {
            agent,
            added: Vec::new(),
            offered: Vec::new(),
            has_answer_tool: false,
        }
    }

    /// Updates the tools of the toolsets for the next model call.
    ///
    /// # Errors
    /// Fails if a toolset fails, or offers a tool that the agent cannot accept.
    pub(super) async fn refresh(&mut self, cx: &mut Context) -> Result<()> {
        if self.agent.toolsets().next().is_none() {
            return Ok(());
        }
        self.offered.clear();
        let taken: Vec<_> = self
            .iter()
            .map(|tool| tool.declaration_dyn().name.as_str())
            .collect();
        // Boxed to keep the future small, because few agents have toolsets.
        self.offered = Box::pin(toolsets::list_offered(self.agent, &taken, cx)).await?;
        Ok(())
    }

    /// Returns all tools that the model may call, in the order of its request.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.all().filter(|tool| is_function(&***tool))
    }

    /// Returns the names of the tools that the provider runs.
    pub(super) fn provider_tools(&self, cx: &Context) -> Vec<Name> {
        let at_provider = self
            .all()
            .filter(|tool| tool.meta().at_provider && self.may_offer(tool, cx));
        at_provider
            .map(|tool| Name::shared(tool.meta().name))
            .collect()
    }

    fn all(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.added
            .iter()
            .chain(self.agent.tools())
            .chain(&self.offered)
    }

    /// Returns the tools that change the requests of the agent.
    pub(super) fn processors(&self) -> impl Iterator<Item = &dyn ProcessRequest> {
        self.all().filter_map(|tool| tool.processor_dyn())
    }

    /// Returns the tool with this name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<dyn DynTool>> {
        self.iter()
            .find(|tool| *tool.declaration_dyn().name == *name)
    }

    /// Reports whether calls of this tool get their response from outside, after the tool has
    /// returned.
    pub(super) fn is_long_running(&self, name: &str) -> bool {
        self.get(name).is_some_and(|tool| tool.meta().long_running)
    }

    /// Returns the agent of the tools.
    pub(super) fn agent(&self) -> &'a LlmAgent {
        self.agent
    }

    pub(super) fn declarations(&self) -> Vec<ToolDeclaration> {
        self.iter()
            .map(|tool| tool.declaration_dyn().clone())
            .collect()
    }

    /// Returns the response schema of a request; `None` if the model gives its answer through a
    /// tool.
    pub(super) fn response_schema(&self) -> Option<Arc<Value>> {
        if self.has_answer_tool {
            None
        } else {
            self.agent.schema()
        }
    }

    /// Reports whether the model gives its answer through a tool.
    pub(super) fn has_answer_tool(&self) -> bool {
        self.has_answer_tool
    }
}
