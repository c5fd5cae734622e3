//! [`ToolHooks`]: the callbacks and plugins around tool calls. Agents without callbacks have no
//! cost.

use super::outcome::CallOutcome;
use crate::agents::llm::agent::LlmAgent;
use crate::runtime::run::{Context, Hooks, hooks};
use crate::runtime::tool::{ToolContext, ToolError, ToolErrorKind};
use crate::{Error, ErrorKind, FunctionCall, Result};
use serde_json::Value;
use std::sync::Arc;

/// The callbacks around one tool call. They are part of the recorded call, so this type owns its
/// values.
pub(super) struct ToolHooks {
    own: Hooks,
    is_watched: bool,
    /// Whether an error of a tool ends the run (`RunConfig::tool_errors_end_run`).
    is_strict: bool,
}

impl ToolHooks {
    pub(super) fn new(agent: &LlmAgent, cx: &Context) -> Self {
        let own = agent.settings.tool_callbacks.0.clone();
        let is_watched = !own.is_empty() || !cx.run.services.plugins.is_empty();
        Self {
            own,
            is_watched,
            is_strict: cx.config().tool_errors_end_run,
        }
    }

    /// Reports whether any callback or plugin observes the call.
    pub(super) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Returns the result that replaces the call of the tool, if a callback returns one.
    pub(super) async fn before(
        &self,
        call: &mut Arc<FunctionCall>,
        cx: &mut ToolContext,
    ) -> Result<Option<Value>> {
        if !self.is_watched {
            return Ok(None);
        }
        Box::pin(async move {
            let mut own = cx.callback();
            let given = hooks::before_tool(&self.own, &mut own, Arc::make_mut(call)).await;
            cx.give_back(own);
            if matches!(given, Ok(Some(_))) {
                cx.note_callback();
            }
            given
        })
        .await
    }

    /// Returns the result of a failed tool for the model. An error of this function ends the run.
    pub(super) async fn handle_error(
        &self,
        call: &FunctionCall,
        error: ToolError,
        cx: &mut ToolContext,
    ) -> Result<CallOutcome> {
        let message = error.to_string();
        let kind = error.kind();
        // The model called the tool with wrong arguments, and reads this error.
        if kind == ToolErrorKind::Argument || !self.is_watched && !self.is_strict {
            return Ok(CallOutcome::Error(message));
        }
        let error = match kind {
            ToolErrorKind::Panic => {
                Error::new(ErrorKind::Panic, format!("tool `{}`: {error}", call.name))
            }
            ToolErrorKind::Timeout => Error::new(ErrorKind::Timeout, format!("tool {error}"))
                .with_help(
                    "give it a longer `timeout` or a `retry`, or look for what it waits for",
                ),
            _ => Error::new(
                ErrorKind::Agent,
                format!("tool `{}` failed: {error}", call.name),
            ),
        }
        .with_source(error);
        if let Some(value) = self.replace_error(call, &error, cx).await? {
            return Ok(CallOutcome::Value(value));
        }
        if self.is_strict {
            Err(error.at(cx.path()))
        } else {
            Ok(CallOutcome::Error(message))
        }
    }

    /// Returns the result that a callback returns in place of an error.
    pub(super) async fn replace_error(
        &self,
        call: &FunctionCall,
        error: &Error,
        cx: &mut ToolContext,
    ) -> Result<Option<Value>> {
        if !self.is_watched {
            return Ok(None);
        }
        Box::pin(async move {
            let mut own = cx.callback();
            let given = hooks::on_tool_error(&self.own, &mut own, call, error).await;
            cx.give_back(own);
            if matches!(given, Ok(Some(_))) {
                cx.note_callback();
            }
            given
        })
        .await
    }

    /// Returns the result for the model after the callbacks.
    pub(super) async fn after(
        &self,
        call: &FunctionCall,
        result: CallOutcome,
        cx: &mut ToolContext,
    ) -> Result<CallOutcome> {
        if !self.is_watched {
            return Ok(result);
        }
        let mut value = result.into_value();
        Box::pin(async move {
            let mut own = cx.callback();
            let before = cx.is_strict().then(|| value.clone());
            let given = hooks::after_tool(&self.own, &mut own, call, &mut value).await;
            cx.give_back(own);
            if before.is_some_and(|before| before != value) || matches!(given, Ok(Some(_))) {
                cx.note_callback();
            }
            Ok(CallOutcome::Value(given?.unwrap_or(value)))
        })
        .await
    }
}
