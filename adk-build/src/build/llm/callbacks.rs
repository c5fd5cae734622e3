//! Callbacks of an LLM agent that is built at run time.

use super::LlmAgentBuilder;
use adk_core::__private::build::setters;
use adk_core::callback::{
    AfterAgent, AfterModel, AfterTool, AgentCallbacks, BeforeAgent, BeforeModel, BeforeTool,
    ModelCallbacks, OnModelError, OnToolError, ToolCallbacks,
};

impl LlmAgentBuilder {
    setters! {
        [#[must_use]] (mut self) -> Self, (self.settings);
        before_agent(impl BeforeAgent<M>),
        after_agent(impl AfterAgent<M>),
        before_model(impl BeforeModel<M>),
        after_model(impl AfterModel<M>),
        on_model_error(impl OnModelError<M>),
        before_tool(impl BeforeTool<M>),
        after_tool(impl AfterTool<M>),
        on_tool_error(impl OnToolError<M>),
    }

    /// Sets the callbacks of a config.
    pub(in crate::build) fn callbacks(
        mut self,
        agent: AgentCallbacks,
        model: ModelCallbacks,
        tool: ToolCallbacks,
    ) -> Self {
        let settings = &mut self.settings;
        (
            settings.callbacks,
            settings.model_callbacks,
            settings.tool_callbacks,
        ) = (agent, model, tool);
        self
    }
}
