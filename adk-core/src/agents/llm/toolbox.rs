//! The tools of one turn: those of the runtime, which depend on the place of the agent, then the agent's own.

use super::respond::SetModelResponse;
use super::transfer::TransferToAgent;
use super::{LlmAgent, live, toolsets};
use crate::Result;
use crate::models::model::ToolDeclaration;
use crate::runtime::run::{Context, ModelChain};
use crate::runtime::tool::{DynTool, ProcessRequest};
use serde_json::Value;
use std::sync::Arc;

/// The tools of one turn.
pub(super) struct Toolbox<'a> {
    agent: &'a LlmAgent,
    added: Vec<Arc<dyn DynTool>>,
    /// Those of its toolsets, as the current model call offers them.
    offered: Vec<Arc<dyn DynTool>>,
    /// The answer is asked for by a tool.
    responds: bool,
}

impl<'a> Toolbox<'a> {
    pub(super) fn new(agent: &'a LlmAgent, models: &ModelChain, cx: &Context) -> Self {
        let mut added: Vec<Arc<dyn DynTool>> = Vec::new();
        let transfer = TransferToAgent::new(cx);
        let own_tools = agent.tools().next().is_some() || agent.toolsets().next().is_some();
        let other_tools = transfer.is_some() || own_tools;
        if other_tools
            // One request is for all of them.
            && !models.iter().all(|model| model.answers_in_schema_beside_tools())
            && let Some(output) = &agent.output
            && let Some(schema) = agent.schema()
        {
            added.push(Arc::new(SetModelResponse::new(output.clone(), schema)));
        }
        let responds = !added.is_empty();
        if let Some(transfer) = transfer {
            added.push(Arc::new(transfer));
        }
        added.extend(live::tool(agent, cx));
        Self { agent, added, offered: Vec::new(), responds }
    }

    /// The agent's own tools alone.
    pub(super) fn of(agent: &'a LlmAgent) -> Self {
        Self { agent, added: Vec::new(), offered: Vec::new(), responds: false }
    }

    /// Asks the toolsets for the tools of the next model call.
    ///
    /// # Errors
    /// When one of them gives none, or some that the agent cannot take.
    pub(super) async fn refresh(&mut self, cx: &mut Context) -> Result<()> {
        if self.agent.toolsets().next().is_none() {
            return Ok(());
        }
        self.offered.clear();
        let taken: Vec<_> = self.iter().map(|tool| tool.declaration_dyn().name.as_str()).collect();
        // In a box: few agents have toolsets, and all would hold it.
        self.offered = Box::pin(toolsets::offered(self.agent, &taken, cx)).await?;
        Ok(())
    }

    /// All that the model sees, in the order of its request.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.all().filter(|tool| tool.processor_dyn().is_none_or(|processor| processor.is_declared()))
    }

    fn all(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.added.iter().chain(self.agent.tools()).chain(&self.offered)
    }

    /// Those that change the requests of the agent.
    pub(super) fn processors(&self) -> impl Iterator<Item = &dyn ProcessRequest> {
        self.all().filter_map(|tool| tool.processor_dyn())
    }

    /// The tool that a model calls by that name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<dyn DynTool>> {
        self.iter().find(|tool| *tool.declaration_dyn().name == *name)
    }

    /// Whether calls of that name are answered from outside, after the tool has returned.
    pub(super) fn runs_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|tool| tool.meta().long_running)
    }

    /// Whose tools they are.
    pub(super) fn agent(&self) -> &'a LlmAgent {
        self.agent
    }

    pub(super) fn declarations(&self) -> Vec<ToolDeclaration> {
        self.iter().map(|tool| tool.declaration_dyn().clone()).collect()
    }

    /// The schema that the model is held to, where no tool asks for the answer.
    pub(super) fn response_schema(&self) -> Option<Arc<Value>> {
        if self.responds { None } else { self.agent.schema() }
    }

    /// Whether the answer is asked for by a tool.
    pub(super) fn responds(&self) -> bool {
        self.responds
    }
}
