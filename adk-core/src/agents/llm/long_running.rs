//! Calls of long-running tools, whose responses come from outside after the tool has returned.

use super::calls::response_part;
use super::toolbox::Toolbox;
use crate::runtime::run::{Context, WaitQuestion};
use crate::store::event::Event;
use crate::{Content, FunctionCall, Role};
use crate::{Name, Result};
use serde_json::Value;
use std::sync::Arc;

/// Marks the calls of long-running tools in the event of a reply, and returns them. If the journal
/// contains the event, its marks are used, because the tool may have become long-running since
/// then.
pub(super) fn mark(
    event: &mut Event,
    calls: &[Arc<FunctionCall>],
    tools: &Toolbox<'_>,
    cx: &Context,
) -> Vec<Arc<FunctionCall>> {
    let recorded = cx
        .run
        .kind
        .replay()
        .and_then(|replay| replay.next_event(cx.path()));
    let is_later = |call: &&Arc<FunctionCall>| match recorded {
        Some(event) => event.long_running_tool_ids().contains(&call.id),
        None => tools.is_long_running(&call.name),
    };
    let later: Vec<_> = calls.iter().filter(is_later).cloned().collect();
    if !later.is_empty() {
        event.details_mut().long_running_tool_ids =
            later.iter().map(|call| call.id.clone()).collect();
    }
    later
}

/// Waits for the responses to calls and emits them in one event of the user. The run pauses if the
/// rest of it cannot continue either. Returns the responses in the order of the calls.
pub(super) async fn wait_for_responses(
    calls: Vec<Arc<FunctionCall>>,
    cx: &mut Context,
) -> Result<Vec<Value>> {
    let asked = calls.iter().map(|call| WaitQuestion {
        call_id: Some(call.id.clone()),
        ..WaitQuestion::new(Name::shared(&call.name))
    });
    let values = cx.wait_for_all(asked.collect()).await?;
    let parts = calls
        .iter()
        .zip(&values)
        .map(|(call, value)| response_part(call, Ok(value.clone())));
    let mut event = Event::new().with_content(Content::new(Role::User, parts.collect()));
    event.author = Name::literal("user");
    cx.emit(event).await?;
    Ok(values)
}
