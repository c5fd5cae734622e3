//! [`Reply`]: a reply of a model that the agent accepts, as an event with its tool calls.

use super::no_answer;
use crate::agents::llm::request::OWN_ID;
use crate::agents::llm::toolbox::{Toolbox, respond};
use crate::model::{FinishReason, ModelResponse, Usage};
use crate::runtime::run::Context;
use crate::runtime::tool::text;
use crate::store::event::{COST_KEY, Event};
use crate::{Content, FunctionCall, Name, Part, depth};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// A reply that fits the output type, with the output key and its value.
pub(in crate::agents::llm) type FittingReply = (ModelResponse, Option<(Name, Value)>);

/// A reply as an event, and the tool calls in it.
pub(in crate::agents::llm) struct Reply {
    pub(in crate::agents::llm) event: Event,
    pub(in crate::agents::llm) calls: Vec<Arc<FunctionCall>>,
    /// The calls whose responses come from outside.
    pub(in crate::agents::llm) later: Vec<Arc<FunctionCall>>,
    /// Whether the calls were cut off.
    pub(in crate::agents::llm) is_cut_off: bool,
}

impl Reply {
    /// Reads a reply. `turn` is the number of the model call, and `call_ids` contains the ids of
    /// earlier calls of the turn.
    pub(in crate::agents::llm) fn read(
        answer: FittingReply,
        turn: u32,
        tools: &Toolbox<'_>,
        call_ids: &mut HashSet<String>,
        cx: &Context,
    ) -> Self {
        let recorded = cx.run.recorded_event(cx.path());
        let Some(recorded) = recorded.filter(|_| tools.has_answer_tool()) else {
            return Self::read_form(answer, false, turn, tools, call_ids, cx);
        };
        let (again, mut ids) = (answer.clone(), call_ids.clone());
        let reply = Self::read_form(answer, false, turn, tools, call_ids, cx);
        if reply.event.content == recorded.content {
            return reply;
        }
        let earlier = Self::read_form(again, true, turn, tools, &mut ids, cx);
        if earlier.event.content == recorded.content {
            *call_ids = ids;
            return earlier;
        }
        reply
    }

    /// Reads a reply. `is_earlier` selects the form in which earlier versions recorded it.
    fn read_form(
        (mut response, value): FittingReply,
        is_earlier: bool,
        turn: u32,
        tools: &Toolbox<'_>,
        call_ids: &mut HashSet<String>,
        cx: &Context,
    ) -> Self {
        if tools.has_answer_tool()
            && let Some(output) = &tools.agent().output
        {
            let is_closed = !is_earlier && tools.agent().answers_closed();
            if !is_earlier {
                read_all_arguments(&mut response.content);
            }
            respond::settle(output, is_closed, &mut response.content);
        }
        let is_cut_off = response.finish_reason == Some(FinishReason::MaxTokens);
        let (mut event, calls) = event_with_calls(response, value, turn, call_ids, cx);
        let is_cut_off = is_cut_off && !calls.is_empty();
        let later = if is_cut_off {
            Vec::new()
        } else {
            mark_long_running(&mut event, &calls, tools, cx)
        };
        Self {
            event,
            calls,
            later,
            is_cut_off,
        }
    }
}

/// Returns the event of a reply with the tool calls in it. The last reply of a turn contains the
/// output.
fn event_with_calls(
    mut response: ModelResponse,
    value: Option<(Name, Value)>,
    turn: u32,
    call_ids: &mut HashSet<String>,
    cx: &Context,
) -> (Event, Vec<Arc<FunctionCall>>) {
    let mut content = std::mem::take(&mut response.content);
    read_all_arguments(&mut content);
    let mut calls = Vec::new();
    let mut place = None;
    for part in &mut content.parts {
        if let Part::FunctionCall(call) = part {
            // Some providers give the same id to all calls of a reply, or reuse ids in later
            // replies.
            if call.id.is_empty() || !call_ids.insert(call.id.clone()) {
                // Derived from the position in the run, so that a resumed run generates the same
                // id.
                let place = place.get_or_insert_with(|| {
                    format!("{OWN_ID}{:x}-{}-{turn}.", cx.run_id().as_u128(), cx.path())
                });
                Arc::make_mut(call).id = [place, &*calls.len().to_string()].concat();
            }
            calls.push(call.clone());
        }
    }
    let mut event = Event::new();
    // As in ADK, a withheld reply has no content, and an empty reply has content without parts.
    let is_withheld = response
        .error_code
        .as_deref()
        .is_some_and(|code| code != no_answer::NO_CONTENT);
    if !is_withheld || !content.parts.is_empty() {
        event = event.with_content(content);
    }
    if let Some((key, value)) = value {
        event = event.with_state(key, value);
    }
    add_call_details(&mut event, response);
    (event, calls)
}

/// Adds the usage, the finish reason and the error of a model call to an event.
pub(in crate::agents::llm) fn add_call_details(event: &mut Event, response: ModelResponse) {
    let ModelResponse {
        finish_reason,
        mut usage,
        model_version,
        error_code,
        error_message,
        ..
    } = response;
    if usage != Usage::default()
        || finish_reason.is_some()
        || model_version.is_some()
        || error_code.is_some()
        || error_message.is_some()
    {
        let details = event.details_mut();
        // ADK's usage has no fields for the cost and for cache writes.
        let cost = std::mem::take(&mut usage.cost);
        if !cost.is_zero() {
            details
                .custom_metadata
                .insert(COST_KEY.to_owned(), cost.to_string().into());
        }
        usage.cache_write_tokens = 0;
        details.usage = (usage != Usage::default()).then_some(usage);
        details.finish_reason = finish_reason;
        details.model_version = model_version;
        details.error_code = error_code;
        details.error_message = error_message;
    }
}

/// Parses the arguments of all calls that are JSON inside another text.
fn read_all_arguments(content: &mut Content) {
    for part in &mut content.parts {
        if let Part::FunctionCall(call) = part
            && call.malformed.is_some()
        {
            read_arguments(Arc::make_mut(call));
        }
    }
}

/// Parses arguments that are JSON inside another text.
fn read_arguments(call: &mut FunctionCall) {
    let mut is_object = |args: &mut Value| {
        if args.is_object() && depth::check(args).is_ok() {
            return Ok(());
        }
        Err("it is no object".to_owned())
    };
    let read = call
        .malformed
        .as_deref()
        .map(|text| text::read(text, &mut is_object));
    if let Some(Ok(Value::Object(args))) = read {
        call.args = args;
        call.malformed = None;
    }
}

/// Marks the calls of long-running tools in the event of a reply, and returns them. If the journal
/// contains the event, its marks are used, because the tool may have become long-running since
/// then.
pub(in crate::agents::llm) fn mark_long_running(
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
