//! Asks the plugins, then the callbacks of the agent's own: the first that gives something wins.

use super::{AgentCallbacks, CallbackContext, ModelCallbacks, Said, ToolCallbacks};
use crate::models::model::{ModelRequest, ModelResponse};
use crate::panic::catch_panic;
use crate::{Content, Error, ErrorKind, FunctionCall, Result};
use serde_json::Value;

/// Asks one after the other until one gives something.
macro_rules! first {
    ($cx:ident, $own:expr, |$asked:ident| $plugin:expr, $callback:expr) => {{
        let services = $cx.services();
        let all = async {
            for $asked in services.plugins.iter() {
                if let Some(given) = $plugin.await? {
                    return Ok(Some(given));
                }
            }
            for $asked in $own {
                if let Some(given) = $callback.await? {
                    return Ok(Some(given));
                }
            }
            Ok(None)
        };
        whole(catch_panic(all).await)
    }};
}

fn whole<T>(asked: Result<Result<T>, String>) -> Result<T> {
    asked.unwrap_or_else(|panic| {
        let message = format!("a callback of it panicked: {panic}");
        Err(Error::new(ErrorKind::Panic, message).with_help("this is a defect of the callback's own code"))
    })
}

async fn said(asked: impl Future<Output = Result<Option<Said>>>) -> Result<Option<Content>> {
    Ok(asked.await?.map(|said| said.0))
}

pub(crate) async fn before_agent(own: &AgentCallbacks, cx: &mut CallbackContext) -> Result<Option<Content>> {
    first!(cx, &own.before, |asked| asked.agent_begins(cx), said(asked(cx)))
}

pub(crate) async fn after_agent(own: &AgentCallbacks, cx: &mut CallbackContext) -> Result<Option<Content>> {
    first!(cx, &own.after, |asked| asked.agent_ended(cx), said(asked(cx)))
}

pub(crate) async fn before_model(
    own: &ModelCallbacks,
    cx: &mut CallbackContext,
    request: &mut ModelRequest,
) -> Result<Option<ModelResponse>> {
    first!(cx, &own.before, |asked| asked.model_begins(cx, request), asked(cx, request))
}

pub(crate) async fn after_model(
    own: &ModelCallbacks,
    cx: &mut CallbackContext,
    response: &mut ModelResponse,
) -> Result<Option<ModelResponse>> {
    first!(cx, &own.after, |asked| asked.model_ended(cx, response), asked(cx, response))
}

pub(crate) async fn on_model_error(
    own: &ModelCallbacks,
    cx: &mut CallbackContext,
    request: &ModelRequest,
    error: &Error,
) -> Result<Option<ModelResponse>> {
    first!(cx, &own.on_error, |asked| asked.model_failed(cx, request, error), asked(cx, request, error))
}

pub(crate) async fn before_tool(
    own: &ToolCallbacks,
    cx: &mut CallbackContext,
    call: &mut FunctionCall,
) -> Result<Option<Value>> {
    first!(cx, &own.before, |asked| asked.tool_begins(cx, call), asked(cx, call))
}

pub(crate) async fn after_tool(
    own: &ToolCallbacks,
    cx: &mut CallbackContext,
    call: &FunctionCall,
    result: &mut Value,
) -> Result<Option<Value>> {
    first!(cx, &own.after, |asked| asked.tool_ended(cx, call, result), asked(cx, call, result))
}

pub(crate) async fn on_tool_error(
    own: &ToolCallbacks,
    cx: &mut CallbackContext,
    call: &FunctionCall,
    error: &Error,
) -> Result<Option<Value>> {
    first!(cx, &own.on_error, |asked| asked.tool_failed(cx, call, error), asked(cx, call, error))
}

/// Tells the plugins that an agent or a block has failed. Their own errors are dropped: they say less than this one.
pub(crate) async fn on_agent_error(cx: &mut CallbackContext, error: &Error) {
    let services = cx.services();
    let all = async {
        for plugin in services.plugins.iter() {
            drop(plugin.agent_failed(cx, error).await);
        }
    };
    drop(catch_panic(all).await);
}

/// Asks the plugins with the message of the user; what is stored in its place.
pub(crate) async fn on_user_message(cx: &mut CallbackContext, message: &Content) -> Result<Option<Content>> {
    first!(cx, &NOBODY, |asked| asked.user_message(cx, message), nothing(asked))
}

/// Asks the plugins before the first agent; the answer that replaces all of them.
pub(crate) async fn before_run(cx: &mut CallbackContext) -> Result<Option<Content>> {
    first!(cx, &NOBODY, |asked| asked.run_begins(cx), nothing(asked))
}

/// Tells the plugins that the run has ended.
pub(crate) async fn after_run(cx: &mut CallbackContext) -> Result<()> {
    let services = cx.services();
    let all = async {
        for plugin in services.plugins.iter() {
            plugin.run_ended(cx).await?;
        }
        Ok(())
    };
    whole(catch_panic(all).await)
}

/// A run as such has no callbacks of its own.
const NOBODY: [(); 0] = [];

async fn nothing<T>((): &()) -> Result<Option<T>> {
    Ok(None)
}
