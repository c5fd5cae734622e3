//! The callbacks of an LLM agent that is made at run time.

use super::LlmAgentBuilder;
use crate::callback::{
    AgentCallbacks, CallbackContext, ModelCallbacks, Said, ToolCallbacks, With1, With2, With3,
};
use crate::model::{ModelRequest, ModelResponse};
use crate::{Error, FunctionCall};
use serde_json::Value;

impl LlmAgentBuilder {
    /// Adds a callback that is called before the agent. Content of it stands in place of the agent, which does not run.
    #[must_use]
    pub fn before_agent<M>(
        mut self,
        callback: impl for<'a> With1<'a, &'a mut CallbackContext, Said, M> + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.before(callback);
        self
    }

    /// Adds a callback that is called after the agent. Content of it is one more event.
    #[must_use]
    pub fn after_agent<M>(
        mut self,
        callback: impl for<'a> With1<'a, &'a mut CallbackContext, Said, M> + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.after(callback);
        self
    }

    /// Adds a callback that is called before each call of the model. See [`ModelCallbacks::before`].
    ///
    /// [`ModelCallbacks::before`]: crate::callback::ModelCallbacks::before
    #[must_use]
    pub fn before_model<M>(
        mut self,
        callback: impl for<'a> With2<'a, &'a mut CallbackContext, &'a mut ModelRequest, ModelResponse, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.model_callbacks.before(callback);
        self
    }

    /// Adds a callback that is called with each response of the model. See [`ModelCallbacks::after`].
    ///
    /// [`ModelCallbacks::after`]: crate::callback::ModelCallbacks::after
    #[must_use]
    pub fn after_model<M>(
        mut self,
        callback: impl for<'a> With2<'a, &'a mut CallbackContext, &'a mut ModelResponse, ModelResponse, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.model_callbacks.after(callback);
        self
    }

    /// Adds a callback that is called when a call of the model has failed. See [`ModelCallbacks::on_error`].
    ///
    /// [`ModelCallbacks::on_error`]: crate::callback::ModelCallbacks::on_error
    #[must_use]
    pub fn on_model_error<M>(
        mut self,
        callback: impl for<'a> With3<'a, &'a mut CallbackContext, &'a ModelRequest, &'a Error, ModelResponse, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.model_callbacks.on_error(callback);
        self
    }

    /// Adds a callback that is called before each call of a tool. See [`ToolCallbacks::before`].
    ///
    /// [`ToolCallbacks::before`]: crate::callback::ToolCallbacks::before
    #[must_use]
    pub fn before_tool<M>(
        mut self,
        callback: impl for<'a> With2<'a, &'a mut CallbackContext, &'a mut FunctionCall, Value, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.tool_callbacks.before(callback);
        self
    }

    /// Adds a callback that is called with each result of a tool. See [`ToolCallbacks::after`].
    ///
    /// [`ToolCallbacks::after`]: crate::callback::ToolCallbacks::after
    #[must_use]
    pub fn after_tool<M>(
        mut self,
        callback: impl for<'a> With3<'a, &'a mut CallbackContext, &'a FunctionCall, &'a mut Value, Value, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.tool_callbacks.after(callback);
        self
    }

    /// Adds a callback that is called when a tool has failed. See [`ToolCallbacks::on_error`].
    ///
    /// [`ToolCallbacks::on_error`]: crate::callback::ToolCallbacks::on_error
    #[must_use]
    pub fn on_tool_error<M>(
        mut self,
        callback: impl for<'a> With3<'a, &'a mut CallbackContext, &'a FunctionCall, &'a Error, Value, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.tool_callbacks.on_error(callback);
        self
    }

    /// The callbacks that a config names.
    pub(in crate::build) fn callbacks(
        mut self,
        agent: AgentCallbacks,
        model: ModelCallbacks,
        tool: ToolCallbacks,
    ) -> Self {
        let settings = &mut self.settings;
        (settings.callbacks, settings.model_callbacks, settings.tool_callbacks) = (agent, model, tool);
        self
    }
}
