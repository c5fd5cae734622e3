//! Calls of callbacks and plugins around model calls and tool calls. Agents without callbacks have
//! no cost.

use super::toolbox::Toolbox;
use super::{LlmAgent, no_answer};
use crate::model::{ModelRequest, ModelResponse};
use crate::runtime::callback::{self, ToolCallbacks};
use crate::runtime::run::{Context, ToolActions};
use crate::runtime::tool::{ToolContext, ToolError, ToolErrorKind};
use crate::{Error, ErrorKind, FunctionCall, Result};
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) fn is_watched(agent: &LlmAgent, cx: &Context) -> bool {
    !agent.settings.model_callbacks.is_empty() || !cx.run.services.plugins.is_empty()
}

/// Lets each tool that has a [`ProcessRequest`](crate::tool::ProcessRequest) hook change the
/// request. The hooks cannot request actions.
async fn process(tools: &Toolbox<'_>, request: &mut ModelRequest, cx: &mut Context) -> Result<()> {
    for processor in tools.processors() {
        let mut own = cx.callback_context();
        own.refuse_updates("by a tool that changes a model request");
        let processed = processor.process_request(request, &mut own).await;
        cx.end_callback(own);
        processed?;
    }
    Ok(())
}

/// Runs the callbacks before a model call. A returned reply replaces the call. The actions that
/// callbacks request are added to `actions`, as in [`after_call`].
///
/// The work after the checks is boxed, here and below, because few agents have callbacks and every
/// future would contain it.
pub(super) async fn before_model(
    tools: &Toolbox<'_>,
    request: &mut ModelRequest,
    actions: &mut ToolActions,
    cx: &mut Context,
) -> Result<Option<ModelResponse>> {
    let agent = tools.agent();
    if tools.processors().next().is_some() {
        Box::pin(process(tools, request, cx)).await?;
    }
    if !is_watched(agent, cx) {
        return Ok(None);
    }
    Box::pin(async move {
        let mut own = cx.callback_context();
        let given =
            callback::before_model(&agent.settings.model_callbacks, &mut own, request).await;
        add(actions, cx.end_callback(own));
        given
    })
    .await
}

/// Runs the callbacks after a model call. A callback may replace an error by a reply, and a reply
/// by another reply.
pub(super) async fn after_call(
    agent: &LlmAgent,
    request: &ModelRequest,
    answer: Result<ModelResponse>,
    actions: &mut ToolActions,
    cx: &mut Context,
) -> Result<ModelResponse> {
    let callbacks = &agent.settings.model_callbacks;
    let response = match answer {
        Ok(response) => response,
        Err(error) => {
            let mut own = cx.callback_context();
            let given = callback::on_model_error(callbacks, &mut own, request, &error).await;
            add(actions, cx.end_callback(own));
            given?.ok_or(error)?
        }
    };
    let mut response = no_answer::with_no_content_code(response);
    let mut own = cx.callback_context();
    let given = callback::after_model(callbacks, &mut own, &mut response).await;
    add(actions, cx.end_callback(own));
    Ok(given?.unwrap_or(response))
}

fn add(all: &mut ToolActions, asked: ToolActions) {
    all.escalate |= asked.escalate;
    all.skip_summarization |= asked.skip_summarization;
    all.transfer_to_agent = asked.transfer_to_agent.or(all.transfer_to_agent.take());
    all.exit_to = asked.exit_to.or(all.exit_to.take());
}

/// The callbacks around one tool call. They are part of the recorded call, so this type owns its
/// values.
pub(super) struct ToolHooks {
    own: ToolCallbacks,
    is_watched: bool,
    /// Whether an error of a tool ends the run (`RunConfig::tool_errors_end_run`).
    is_strict: bool,
}

impl ToolHooks {
    pub(super) fn new(agent: &LlmAgent, cx: &Context) -> Self {
        let own = agent.settings.tool_callbacks.clone();
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
            let given = callback::before_tool(&self.own, &mut own, Arc::make_mut(call)).await;
            cx.give_back(own);
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
    ) -> Result<Result<Value, String>> {
        let message = error.to_string();
        let kind = error.kind();
        // The model called the tool with wrong arguments, and reads this error.
        if kind == ToolErrorKind::Argument || !self.is_watched && !self.is_strict {
            return Ok(Err(message));
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
        };
        if let Some(value) = self.replace_error(call, &error, cx).await? {
            return Ok(Ok(value));
        }
        if self.is_strict {
            Err(error.at(cx.path()))
        } else {
            Ok(Err(message))
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
            let given = callback::on_tool_error(&self.own, &mut own, call, error).await;
            cx.give_back(own);
            given
        })
        .await
    }

    /// Returns the result for the model after the callbacks.
    pub(super) async fn after(
        &self,
        call: &FunctionCall,
        result: Result<Value, String>,
        cx: &mut ToolContext,
    ) -> Result<Result<Value, String>> {
        if !self.is_watched {
            return Ok(result);
        }
        let mut value = result.unwrap_or_else(|message| {
            Value::Object(Map::from_iter([(
                "error".to_owned(),
                Value::String(message),
            )]))
        });
        Box::pin(async move {
            let mut own = cx.callback();
            let given = callback::after_tool(&self.own, &mut own, call, &mut value).await;
            cx.give_back(own);
            Ok(Ok(given?.unwrap_or(value)))
        })
        .await
    }
}
