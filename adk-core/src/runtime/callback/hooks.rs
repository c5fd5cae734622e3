//! Calls of plugin hooks and callbacks: plugins first, then the callbacks of the agent, until the
//! first answer.

use super::{AgentCallbacks, CallbackContext, ModelCallbacks, Said, ToolCallbacks};
use crate::model::{ModelRequest, ModelResponse};
use crate::panic::catch_panic;
use crate::{Content, Error, ErrorKind, FunctionCall, Result};
use serde_json::Value;

/// Calls hooks in sequence until the first answer.
macro_rules! first_answer {
    ($cx:ident, $own:expr, |$hook:ident| $plugin:expr, $callback:expr) => {{
        let services = $cx.services();
        let all = async {
            for $hook in services.plugins.iter() {
                if let Some(answer) = $plugin.await? {
                    return Ok(Some(answer));
                }
            }
            for $hook in $own {
                if let Some(answer) = $callback.await? {
                    return Ok(Some(answer));
                }
            }
            Ok(None)
        };
        catch_panic(all).await.unwrap_or_else(callback_panic)
    }};
}

/// Makes the error for a panic of a callback.
fn callback_panic<T>(panic: String) -> Result<T> {
    let message = format!("a callback panicked: {panic}");
    Err(Error::new(ErrorKind::Panic, message).with_help("fix the code of the callback"))
}

async fn into_content(
    asked: impl Future<Output = Result<Option<Said>>>,
) -> Result<Option<Content>> {
    Ok(asked.await?.map(|said| said.0))
}

pub(crate) async fn before_agent(
    own: &AgentCallbacks,
    cx: &mut CallbackContext,
) -> Result<Option<Content>> {
    first_answer!(
        cx,
        &own.before,
        |hook| hook.agent_begins(cx),
        into_content(hook(cx))
    )
}

pub(crate) async fn after_agent(
    own: &AgentCallbacks,
    cx: &mut CallbackContext,
) -> Result<Option<Content>> {
    first_answer!(
        cx,
        &own.after,
        |hook| hook.agent_ended(cx),
        into_content(hook(cx))
    )
}

pub(crate) async fn before_model(
    own: &ModelCallbacks,
    cx: &mut CallbackContext,
    request: &mut ModelRequest,
) -> Result<Option<ModelResponse>> {
    first_answer!(
        cx,
        &own.before,
        |hook| hook.model_begins(cx, request),
        hook(cx, request)
    )
}

pub(crate) async fn after_model(
    own: &ModelCallbacks,
    cx: &mut CallbackContext,
    response: &mut ModelResponse,
) -> Result<Option<ModelResponse>> {
    first_answer!(
        cx,
        &own.after,
        |hook| hook.model_ended(cx, response),
        hook(cx, response)
    )
}

pub(crate) async fn on_model_error(
    own: &ModelCallbacks,
    cx: &mut CallbackContext,
    request: &ModelRequest,
    error: &Error,
) -> Result<Option<ModelResponse>> {
    first_answer!(
        cx,
        &own.on_error,
        |hook| hook.model_failed(cx, request, error),
        hook(cx, request, error)
    )
}

pub(crate) async fn before_tool(
    own: &ToolCallbacks,
    cx: &mut CallbackContext,
    call: &mut FunctionCall,
) -> Result<Option<Value>> {
    first_answer!(
        cx,
        &own.before,
        |hook| hook.tool_begins(cx, call),
        hook(cx, call)
    )
}

pub(crate) async fn after_tool(
    own: &ToolCallbacks,
    cx: &mut CallbackContext,
    call: &FunctionCall,
    result: &mut Value,
) -> Result<Option<Value>> {
    first_answer!(
        cx,
        &own.after,
        |hook| hook.tool_ended(cx, call, result),
        hook(cx, call, result)
    )
}

pub(crate) async fn on_tool_error(
    own: &ToolCallbacks,
    cx: &mut CallbackContext,
    call: &FunctionCall,
    error: &Error,
) -> Result<Option<Value>> {
    first_answer!(
        cx,
        &own.on_error,
        |hook| hook.tool_failed(cx, call, error),
        hook(cx, call, error)
    )
}

/// Notifies the plugins that an agent or a block has failed. Errors of the plugins are dropped,
/// because the error of the agent or block matters more.
pub(crate) async fn on_agent_error(cx: &mut CallbackContext, error: &Error) {
    let services = cx.services();
    let all = async {
        for plugin in services.plugins.iter() {
            drop(plugin.agent_failed(cx, error).await);
        }
    };
    drop(catch_panic(all).await);
}

/// Calls the plugins with the message of the user. Returns the message that replaces it.
pub(crate) async fn on_user_message(
    cx: &mut CallbackContext,
    message: &Content,
) -> Result<Option<Content>> {
    first_answer!(
        cx,
        &NO_CALLBACKS,
        |hook| hook.user_message(cx, message),
        no_answer(hook)
    )
}

/// Calls the plugins before the first agent. Returns the answer that replaces all agents.
pub(crate) async fn before_run(cx: &mut CallbackContext) -> Result<Option<Content>> {
    first_answer!(
        cx,
        &NO_CALLBACKS,
        |hook| hook.run_begins(cx),
        no_answer(hook)
    )
}

/// Notifies the plugins that the run has ended.
pub(crate) async fn after_run(cx: &mut CallbackContext) -> Result<()> {
    let services = cx.services();
    let all = async {
        for plugin in services.plugins.iter() {
            plugin.run_ended(cx).await?;
        }
        Ok(())
    };
    catch_panic(all).await.unwrap_or_else(callback_panic)
}

/// An empty list, for hooks of a whole run, which only plugins have.
const NO_CALLBACKS: [(); 0] = [];

async fn no_answer<T>((): &()) -> Result<Option<T>> {
    Ok(None)
}
