//! Long-running tools: calls whose answer comes from outside, after the tool has returned.

use super::calls::responded;
use crate::content::{Content, FunctionCall, Role};
use crate::runtime::run::{Asked, Context};
use crate::store::event::Event;
use crate::{Name, Result};
use serde_json::Value;
use std::sync::Arc;

/// Says in the event of an answer which of its calls run on; gives them.
pub(super) fn mark(
    event: &mut Event,
    calls: &[Arc<FunctionCall>],
    is_long_running: impl Fn(&str) -> bool,
) -> Vec<Arc<FunctionCall>> {
    let later: Vec<_> = calls.iter().filter(|call| is_long_running(&call.name)).cloned().collect();
    if !later.is_empty() {
        event.details_mut().long_running_tool_ids = later.iter().map(|call| call.id.clone()).collect();
    }
    later
}

/// Waits for the answers to calls, and tells the conversation of them in the name of the user. Until all are there, the
/// agent waits, and the run pauses when nothing else of it can go on. Gives the answers, in the order of the calls.
pub(super) async fn answers(calls: Vec<Arc<FunctionCall>>, cx: &mut Context) -> Result<Vec<Value>> {
    let asked = calls
        .iter()
        .map(|call| Asked { call_id: Some(call.id.clone()), ..Asked::new(Name::shared(&call.name)) });
    let values = cx.wait_for_all(asked.collect()).await?;
    let parts = calls.iter().zip(&values).map(|(call, value)| responded(call, Ok(value.clone())));
    let mut event = Event::new().with_content(Content::new(Role::User, parts.collect()));
    event.author = Name::literal("user");
    cx.emit(event).await?;
    Ok(values)
}
