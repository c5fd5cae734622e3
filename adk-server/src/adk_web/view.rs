//! Events as ADK writes them, and waits as the calls that they are in ADK.

use adk_core::engine::Waiting;
use adk_core::{Content, Event, EventId, FunctionCall, FunctionResponse, Name, Part, Role};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A tool that has to be confirmed.
const CONFIRMATION: &str = "adk_request_confirmation";
/// A question to a person.
const INPUT: &str = "adk_request_input";

pub(super) fn of_event(event: &Event) -> Value {
    let mut json = serde_json::to_value(event).unwrap_or_default();
    let Value::Object(fields) = &mut json else { return json };
    // What ADK always writes.
    if let Some(Value::Object(actions)) = fields.get_mut("actions") {
        for field in ["requestedAuthConfigs", "requestedToolConfirmations"] {
            actions.insert(field.to_owned(), json!({}));
        }
    }
    // In ADK a node has one number: that of its run.
    let path = event.path.to_string().replace(['#', '['], "@").replace(']', "");
    fields.insert("nodeInfo".to_owned(), json!({"path": path}));
    if event.partial {
        // It has none yet, and a page would take all of them for one event.
        fields.shift_remove("id");
    }
    json
}

/// What a client reads of an event of its run; nothing of what it has said itself.
pub(super) fn told(event: &Event) -> Option<Value> {
    (*event.author != *"user" && event.lifecycle().is_none()).then(|| of_event(event))
}

/// Whether an event holds what only a run asks.
pub(super) fn asks(event: &Event) -> bool {
    let calls = event.function_calls().map(|call| &call.name);
    let names = calls.chain(event.function_responses().map(|answer| &answer.name));
    !event.long_running_tool_ids().is_empty()
        || names.into_iter().any(|name| name.starts_with("adk_request_"))
}

/// What is asked of people, as events after those of the session. The waits for answers of long-running tools have theirs already.
pub(super) fn questions(
    waits: &[Waiting],
    wanted: impl Fn(&Waiting) -> bool,
    events: &[Arc<Event>],
) -> Vec<Value> {
    let asked = waits.iter().enumerate().filter(|(_, wait)| wait.call_id.is_none() && wanted(wait));
    asked.map(|(nth, wait)| of_event(&question(wait, &waits[..nth], events))).collect()
}

fn question(wait: &Waiting, before: &[Waiting], events: &[Arc<Event>]) -> Event {
    let (name, args) = match to_confirm(wait) {
        Some(tool) => {
            let hint = json!({"hint": wait.question, "confirmed": false});
            let call = json!(called(wait, tool, before, events));
            (CONFIRMATION, [("originalFunctionCall", call), ("toolConfirmation", hint)])
        }
        None => {
            (INPUT, [("message", wait.question.clone().into()), ("response_schema", wait.schema.clone())])
        }
    };
    let args = args.into_iter().filter(|(_, value)| !value.is_null());
    let call = FunctionCall {
        id: wait.id.clone(),
        name: name.to_owned(),
        args: args.map(|(name, value)| (name.to_owned(), value)).collect(),
        ..FunctionCall::default()
    };
    let last = events.iter().rev().find(|event| event.invocation_id == wait.run_id);
    let mut event = Event {
        id: EventId::of_text(&wait.id),
        timestamp: last.map_or(0, |event| event.timestamp),
        invocation_id: wait.run_id,
        author: wait.path.name().clone(),
        path: wait.path.clone(),
        ..Event::new().with_content(Content::new(Role::Model, vec![Part::from(call)]))
    };
    event.details_mut().long_running_tool_ids = vec![wait.id.clone()];
    event
}

/// The tool that is to be confirmed. The id of a wait ends with its name and number.
fn to_confirm(wait: &Waiting) -> Option<&str> {
    let name = wait.id.strip_prefix(&format!("{}/{}:confirm ", wait.run_id, wait.path))?;
    Some(name.rsplit_once('@').map_or(name, |(name, _)| name))
}

/// The call that is to be confirmed: of several in one event, waits are in their order.
fn called(wait: &Waiting, tool: &str, before: &[Waiting], events: &[Arc<Event>]) -> FunctionCall {
    let nth =
        before.iter().filter(|other| other.path == wait.path && to_confirm(other) == Some(tool)).count();
    let of_agent = |event: &&Arc<Event>| event.invocation_id == wait.run_id && event.path == wait.path;
    let calls = |event: &Arc<Event>| -> Vec<FunctionCall> {
        event.function_calls().filter(|call| call.name == tool).cloned().collect()
    };
    let last = events.iter().rev().filter(of_agent).map(calls).find(|calls| !calls.is_empty());
    let call = last.and_then(|calls| calls.into_iter().nth(nth));
    call.unwrap_or_else(|| FunctionCall { name: tool.to_owned(), ..FunctionCall::default() })
}

pub(super) fn answered<'a>(waits: &'a [Waiting], answer: &FunctionResponse) -> Option<&'a Waiting> {
    waits.iter().find(|wait| wait.id == answer.id || wait.call_id.as_ref() == Some(&answer.id))
}

/// What an answer may mean, the likeliest first: a page sends a text under `result`, also where another type is waited for.
pub(super) fn meanings(wait: &Waiting, answer: &FunctionResponse) -> Vec<Value> {
    let whole = Value::Object(answer.response.clone());
    if wait.call_id.is_some() {
        return vec![whole];
    }
    let only = (answer.response.len() == 1).then(|| answer.response.values().next()).flatten();
    let parsed = only.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
    let all = parsed.into_iter().chain(only.cloned()).chain([whole]);
    match to_confirm(wait) {
        Some(_) => all.map(|value| value.get("confirmed").cloned().unwrap_or(value)).collect(),
        None => all.collect(),
    }
}

/// The inputs of a run that begins with an answer to a call: those that the session holds.
pub(super) fn inputs_in<'a>(
    inputs: impl Iterator<Item = &'a Name>,
    state: &adk_core::session::StateMap,
) -> Value {
    let held = inputs.filter_map(|key| Some((key.to_string(), Value::clone(state.get(key)?))));
    Value::Object(held.collect::<Map<_, _>>())
}
