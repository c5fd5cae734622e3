//! Plugins that follow a script.

use super::format::{Hook, HookDef, PluginDef};
use super::recorder::Recorder;
use adk::callback::{CallbackContext, Plugin};
use adk::model::{ModelRequest, ModelResponse};
use adk::{Content, Error, Event, FunctionCall, Result};
use serde_json::Value;
use std::sync::Arc;

pub struct Scripted {
    def: PluginDef,
    recorder: Arc<Recorder>,
}

impl Scripted {
    pub fn new(def: &PluginDef, recorder: Arc<Recorder>) -> Self {
        Self {
            def: def.clone(),
            recorder,
        }
    }

    /// Returns the actions at a hook, if there are any. The trace shows `about` after the hook.
    fn at(
        &self,
        hook: Hook,
        about: Option<&str>,
        cx: &mut CallbackContext,
    ) -> Result<Option<&HookDef>> {
        let Some(def) = self.def.hooks.get(&hook) else {
            return Ok(None);
        };
        let about = about.map_or(String::new(), |about| format!(":{about}"));
        self.recorder
            .trace(format!("plugin:{}:{}{about}", self.def.name, hook.name()));
        let other_agent =
            |agents: &Vec<String>| !agents.iter().any(|agent| agent == cx.agent_name());
        if def.agents.as_ref().is_some_and(other_agent) {
            return Ok(None);
        }
        def.apply(cx)?;
        Ok(Some(def))
    }

    fn of_agent(&self, hook: Hook, cx: &mut CallbackContext) -> Result<Option<&HookDef>> {
        let agent = cx.agent_name().to_owned();
        self.at(hook, Some(&agent), cx)
    }
}

impl Plugin for Scripted {
    fn name(&self) -> &str {
        &self.def.name
    }

    async fn on_user_message(
        &self,
        cx: &mut CallbackContext,
        _: &Content,
    ) -> Result<Option<Content>> {
        let def = self.at(Hook::OnUserMessage, None, cx)?;
        Ok(def.and_then(HookDef::text).map(Content::user))
    }

    async fn before_run(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        Ok(self
            .at(Hook::BeforeRun, None, cx)?
            .and_then(HookDef::content))
    }

    async fn after_run(&self, cx: &mut CallbackContext) -> Result<()> {
        self.at(Hook::AfterRun, None, cx).map(drop)
    }

    async fn on_event(&self, cx: &mut CallbackContext, event: &Event) -> Result<Option<Event>> {
        // The author of an event without an author is the agent that emits it.
        let author = if event.author.is_empty() {
            cx.agent_name().to_owned()
        } else {
            event.author.to_string()
        };
        let content = self
            .at(Hook::OnEvent, Some(&author), cx)?
            .and_then(HookDef::content);
        Ok(content.map(|content| event.clone().with_content(content)))
    }

    async fn before_agent(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        Ok(self
            .of_agent(Hook::BeforeAgent, cx)?
            .and_then(HookDef::content))
    }

    async fn after_agent(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        Ok(self
            .of_agent(Hook::AfterAgent, cx)?
            .and_then(HookDef::content))
    }

    async fn before_model(
        &self,
        cx: &mut CallbackContext,
        request: &mut ModelRequest,
    ) -> Result<Option<ModelResponse>> {
        let Some(def) = self.of_agent(Hook::BeforeModel, cx)? else {
            return Ok(None);
        };
        def.edit(request);
        Ok(def.response())
    }

    async fn after_model(
        &self,
        cx: &mut CallbackContext,
        _: &mut ModelResponse,
    ) -> Result<Option<ModelResponse>> {
        Ok(self
            .of_agent(Hook::AfterModel, cx)?
            .and_then(HookDef::response))
    }

    async fn on_model_error(
        &self,
        cx: &mut CallbackContext,
        _: &ModelRequest,
        _: &Error,
    ) -> Result<Option<ModelResponse>> {
        Ok(self
            .of_agent(Hook::OnModelError, cx)?
            .and_then(HookDef::response))
    }

    async fn before_tool(
        &self,
        cx: &mut CallbackContext,
        call: &mut FunctionCall,
    ) -> Result<Option<Value>> {
        let Some(def) = self.at(Hook::BeforeTool, Some(&call.name), cx)? else {
            return Ok(None);
        };
        def.edit_args(call);
        Ok(def.result())
    }

    async fn after_tool(
        &self,
        cx: &mut CallbackContext,
        call: &FunctionCall,
        _: &mut Value,
    ) -> Result<Option<Value>> {
        Ok(self
            .at(Hook::AfterTool, Some(&call.name), cx)?
            .and_then(HookDef::result))
    }

    async fn on_tool_error(
        &self,
        cx: &mut CallbackContext,
        call: &FunctionCall,
        _: &Error,
    ) -> Result<Option<Value>> {
        Ok(self
            .at(Hook::OnToolError, Some(&call.name), cx)?
            .and_then(HookDef::result))
    }
}
