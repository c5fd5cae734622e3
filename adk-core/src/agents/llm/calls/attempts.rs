//! The attempts of one tool call, with their timeout and the waits between them.

use crate::agents::llm::agent::Retry;
use crate::agents::llm::trace;
use crate::panic::catch_panic;
use crate::runtime::run::in_span;
use crate::runtime::tool::{DynTool, ToolContext, ToolError, ToolErrorKind};
use crate::{FunctionCall, depth, secret, task};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Calls the tool until an attempt succeeds, fails permanently, or is the last permitted attempt.
pub(super) async fn attempts(
    tool: &Arc<dyn DynTool>,
    call: &Arc<FunctionCall>,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    let meta = tool.meta();
    let mut waits = Retry::new(meta.retry).waits();
    let mut attempts = 1;
    loop {
        let mark = own.mark();
        let agent = own.trace.clone();
        own.trace = agent
            .as_ref()
            .map(|agent| trace::tool_span(agent, &**tool, call, own, attempts));
        let result = match meta.timeout {
            // Boxed, because the future holds a copy of the context.
            Some(timeout) => Box::pin(attempt_in_time(tool, timeout, call, own)).await,
            None => attempt(&**tool, call, own).await,
        };
        if let Some(span) = std::mem::replace(&mut own.trace, agent) {
            trace::end_tool(&span, &result);
        }
        let error = match result {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        // Discards the changes of a failed call, except for stored files.
        own.rewind(mark);
        let may_pass = match error.kind() {
            // A retry cannot correct a refused write.
            ToolErrorKind::Failed => !own.is_refused(),
            // A timed-out blocking call still runs on its thread and must not run twice at once.
            ToolErrorKind::Timeout => !meta.blocking,
            ToolErrorKind::Argument | ToolErrorKind::Panic | ToolErrorKind::Asks => false,
        };
        let Some(wait) = waits.next().filter(|_| may_pass) else {
            return Err(error.after(attempts));
        };
        tokio::time::sleep(wait).await;
        attempts += 1;
    }
}

async fn attempt(
    tool: &dyn DynTool,
    call: &FunctionCall,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    let caught = catch_panic(in_span(
        own.trace.clone(),
        tool.call_dyn(call.args.clone(), own),
    ))
    .await;
    caught
        .unwrap_or_else(|panic| Err(ToolError::from_panic(panic)))
        .and_then(|value| check_result(&call.name, value))
        .map_err(|error| error.with_reference("the tool", own))
}

/// Executes an attempt with a timeout.
async fn attempt_in_time(
    tool: &Arc<dyn DynTool>,
    timeout: Duration,
    call: &Arc<FunctionCall>,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    let (made, call, mut apart) = (tool.clone(), call.clone(), own.copy());
    let (result, apart) = task::spawn_scoped(async move {
        let result = tokio::time::timeout(timeout, attempt(&*made, &call, &mut apart)).await;
        (result, apart)
    })
    .await;
    *own = apart;
    result.unwrap_or_else(|_| Err(ToolError::timed_out(tool.meta(), timeout)))
}

/// Refuses a result that is nested too deep or contains a secret.
pub(super) fn check_result(tool: &str, value: Value) -> Result<Value, ToolError> {
    if let Err(deep) = depth::check(&value) {
        depth::discard(value);
        return Err(ToolError::failed(format!(
            "the result of `{tool}` is {deep}"
        )));
    }
    if secret::has_secret(&value) {
        let why = "holds a secret, which no model may see: a parameter \
            `#[key] KEY: Out<Secret<T>>` gives it to a key";
        return Err(ToolError::failed(format!("the result of `{tool}` {why}")));
    }
    Ok(value)
}
