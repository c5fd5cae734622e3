//! Events in ADK's format, and waits as ADK's function calls.

use adk_core::engine::Waiting;
use adk_core::{Content, Event, EventId, FunctionCall, FunctionResponse, Name, Part, Role};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The call that asks for the confirmation of a tool call.
const CONFIRMATION: &str = "adk_request_confirmation";
/// The call that asks a person for a value.
const INPUT: &str = "adk_request_input";

pub(crate) fn event_json(event: &Event) -> Value {
    let mut json = serde_json::to_value(event).unwrap_or_default();
    let Value::Object(fields) = &mut json else {
        return json;
    };
    // ADK always writes these fields.
    if let Some(Value::Object(actions)) = fields.get_mut("actions") {
        for field in ["requestedAuthConfigs", "requestedToolConfirmations"] {
            actions.insert(field.to_owned(), json!({}));
        }
    }
    // A node in an ADK path has only one number.
    let path = event
        .path
        .to_string()
        .replace(['#', '['], "@")
        .replace(']', "");
    fields.insert("nodeInfo".to_owned(), json!({"path": path}));
    if event.partial {
        // A partial event has no id yet. The page treats events with the same id as one event.
        fields.shift_remove("id");
    }
    json
}

/// Returns an event for the client, or `None` for the user's own message and for lifecycle events.
pub(crate) fn visible_event(event: &Event) -> Option<Value> {
    (*event.author != *"user" && event.lifecycle().is_none()).then(|| event_json(event))
}

/// Returns whether an event contains a question that only a run may ask.
pub(crate) fn has_question(event: &Event) -> bool {
    let calls = event.function_calls().map(|call| &call.name);
    let names = calls.chain(event.function_responses().map(|answer| &answer.name));
    !event.long_running_tool_ids().is_empty()
        || names
            .into_iter()
            .any(|name| name.starts_with("adk_request_"))
}

/// Returns waits as events after the events of the session. The session already has the calls of
/// long-running tools.
pub(crate) fn questions(
    waits: &[Waiting],
    is_wanted: impl Fn(&Waiting) -> bool,
    events: &[Arc<Event>],
) -> Vec<Value> {
    let new = waits
        .iter()
        .enumerate()
        .filter(|(_, wait)| wait.call_id.is_none() && is_wanted(wait));
    new.map(|(nth, wait)| event_json(&question(wait, &waits[..nth], events)))
        .collect()
}

fn question(wait: &Waiting, before: &[Waiting], events: &[Arc<Event>]) -> Event {
    let (name, args) = match to_confirm(wait) {
        Some(tool) => {
            let hint = json!({"hint": wait.question, "confirmed": false});
            let call = json!(confirmed_call(wait, tool, before, events));
            (
                CONFIRMATION,
                [("originalFunctionCall", call), ("toolConfirmation", hint)],
            )
        }
        None => (
            INPUT,
            [
                ("message", wait.question.clone().into()),
                ("response_schema", wait.schema.clone()),
            ],
        ),
    };
    let args = args.into_iter().filter(|(_, value)| !value.is_null());
    let call = FunctionCall {
        id: wait.id.clone(),
        name: name.to_owned(),
        args: args.map(|(name, value)| (name.to_owned(), value)).collect(),
        ..FunctionCall::default()
    };
    let last = events
        .iter()
        .rev()
        .find(|event| event.invocation_id == wait.run_id);
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

/// Returns the tool of a confirmation. The id of such a wait ends with the name of the tool and a
/// number.
fn to_confirm(wait: &Waiting) -> Option<&str> {
    let name = wait
        .id
        .strip_prefix(&format!("{}/{}:confirm ", wait.run_id, wait.path))?;
    Some(name.rsplit_once('@').map_or(name, |(name, _)| name))
}

/// Returns the call that a wait asks to confirm. The waits of one event are in the order of its
/// calls.
fn confirmed_call(
    wait: &Waiting,
    tool: &str,
    before: &[Waiting],
    events: &[Arc<Event>],
) -> FunctionCall {
    let nth = before
        .iter()
        .filter(|other| other.path == wait.path && to_confirm(other) == Some(tool))
        .count();
    let of_agent =
        |event: &&Arc<Event>| event.invocation_id == wait.run_id && event.path == wait.path;
    let calls = |event: &Arc<Event>| -> Vec<FunctionCall> {
        event
            .function_calls()
            .filter(|call| call.name == tool)
            .cloned()
            .collect()
    };
    let last = events
        .iter()
        .rev()
        .filter(of_agent)
        .map(calls)
        .find(|calls| !calls.is_empty());
    let call = last.and_then(|calls| calls.into_iter().nth(nth));
    call.unwrap_or_else(|| FunctionCall {
        name: tool.to_owned(),
        ..FunctionCall::default()
    })
}

pub(crate) fn find_wait<'a>(
    waits: &'a [Waiting],
    answer: &FunctionResponse,
) -> Option<&'a Waiting> {
    waits
        .iter()
        .find(|wait| wait.id == answer.id || wait.call_id.as_ref() == Some(&answer.id))
}

/// Returns the possible values of an answer, the likeliest first. A page sends a text under
/// `result` for all types.
pub(crate) fn answer_candidates(wait: &Waiting, answer: &FunctionResponse) -> Vec<Value> {
    let whole = Value::Object(answer.response.clone());
    if wait.call_id.is_some() {
        return vec![whole];
    }
    let only = (answer.response.len() == 1)
        .then(|| answer.response.values().next())
        .flatten();
    let parsed = only
        .and_then(Value::as_str)
        .and_then(|text| serde_json::from_str(text).ok());
    let all = parsed.into_iter().chain(only.cloned()).chain([whole]);
    match to_confirm(wait) {
        Some(_) => all
            .map(|value| value.get("confirmed").cloned().unwrap_or(value))
            .collect(),
        None => all.collect(),
    }
}

/// Returns the inputs from the state of the session, for a run that starts with a function
/// response.
pub(crate) fn inputs_from_state<'a>(
    inputs: impl Iterator<Item = &'a Name>,
    state: &adk_core::session::StateMap,
) -> Value {
    let values = inputs.filter_map(|key| Some((key.to_string(), Value::clone(state.get(key)?))));
    Value::Object(values.collect::<Map<_, _>>())
}
