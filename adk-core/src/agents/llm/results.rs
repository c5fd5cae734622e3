//! The results of the tool calls of one reply: one event has all responses and effects.

mod merge;

use self::merge::add;
use super::calls::{CallOutcome, CallRecord, CallResults, count_call};
use super::toolbox::Toolbox;
use crate::runtime::run::{Context, Marks, WaitQuestion, stored_key};
use crate::runtime::tool::{DynTool, ToolActions, ToolRecord};
use crate::store::event::{Actions, Event, RareActions};
use crate::store::session::marked_key;
use crate::{Content, FunctionCall, FunctionResponse, Name, Part, Result, Role};
use serde_json::Value;
use std::sync::Arc;

/// The responses to the calls of a reply.
pub(super) struct CallResponses {
    /// The responses in the order of the calls.
    pub(super) content: Content,
    /// Actions that the calls request.
    pub(super) actions: ToolActions,
    /// Ids of calls that a person has refused.
    pub(super) refused: Vec<String>,
    /// The first call that sets `skip_summarization`.
    pub(super) skipping: Option<Arc<FunctionCall>>,
}

/// Creates the responses of calls. Calls in `later` get a further response from outside. The
/// context keeps the writes of the calls for the next event.
pub(super) fn collect(
    results: CallResults,
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    later: &[Arc<FunctionCall>],
    cx: &mut Context,
) -> Result<CallResponses> {
    let CallResults {
        all,
        refused,
        mut saw,
    } = results;
    saw.resize(all.len(), Vec::new());
    let mut content = Content::new(Role::User, Vec::with_capacity(calls.len()));
    let (mut actions, mut skipping) = (ToolActions::default(), None);
    for ((call, called), saw) in calls.iter().zip(all).zip(saw) {
        let CallRecord { result, left, .. } = called?;
        if left.actions.skip_summarization {
            skipping.get_or_insert_with(|| call.clone());
        }
        take_record(left, tools.get(&call.name), &saw, &mut actions, cx);
        // A call that is still running and returned no value gets no response yet.
        if result == CallOutcome::Value(Value::Null)
            && later.iter().any(|later| later.id == call.id)
        {
            continue;
        }
        content.parts.push(response_part(call, result));
    }
    // A tool that is an agent may have exceeded a limit of `#[bounds(...)]`.
    cx.check_limits()?;
    Ok(CallResponses {
        content,
        actions,
        refused,
        skipping,
    })
}

/// Moves the writes of a call to the context, for the next event. `saw` contains the keys that
/// earlier calls had set when this call read them.
pub(super) fn take_record(
    left: ToolRecord,
    tool: Option<&Arc<dyn DynTool>>,
    saw: &[Name],
    actions: &mut ToolActions,
    cx: &mut Context,
) {
    count_call(&left, cx);
    let left = mark_writes(left, tool, cx);
    let (run, scope) = (cx.run.clone(), cx.around.scope.clone());
    let before = |key: &str| {
        let Some(scope) = &scope else {
            return run.get(key);
        };
        // An instance may map two names to one stored key. The name that the tool declares decides.
        let mut names = tool
            .into_iter()
            .flat_map(|tool| tool.meta().writes)
            .map(|write| write.name);
        let read = match names.find(|name| *scope.written_key(name) == *key) {
            Some(name) => scope.read_key(name),
            None => scope.read_key_of(key),
        };
        run.get(&read?)
    };
    add(left, saw, cx.state().overlay, actions, before);
}

/// Gives each key that a call has written the marks of the call, unless an agent in the call has
/// given it marks. `None` for a tool whose keys have no known types.
fn mark_writes(
    mut left: ToolRecord,
    tool: Option<&Arc<dyn DynTool>>,
    cx: &mut Context,
) -> ToolRecord {
    if cx.cell().is_none() {
        return left;
    }
    let (run, scope) = (cx.run.clone(), cx.around.scope.clone());
    let scope = scope.as_deref();
    let closed: Vec<_> = tool
        .into_iter()
        .flat_map(|tool| tool.meta().writes)
        .filter(|key| key.is_closed())
        .map(|key| stored_key(scope, key.name))
        .collect();
    let read = left.marks();
    let delta = &mut left.state_delta;
    let keys: Vec<_> = delta.iter().map(|(key, _)| key.clone()).collect();
    for key in keys.iter().filter(|key| marked_key(key).is_none()) {
        let marks = if closed.iter().any(|closed| **closed == **key) {
            read.clone().without_text()
        } else {
            read.clone()
        };
        marks.write(key, delta, &run, true);
        // Calls of one reply may merge their values.
        let mut both = Marks::of_writes_in(key, delta);
        both.join(Marks::of_writes_in(key, &cx.pending().state_delta));
        delta.extend(both.of_writes(key).collect());
    }
    left
}

/// Returns the response part for a call.
pub(super) fn response_part(call: &FunctionCall, outcome: CallOutcome) -> Part {
    let (id, name) = (call.id.clone(), call.name.clone());
    Part::from(FunctionResponse {
        id,
        name,
        response: outcome.into_object(),
    })
}

/// Returns the same error response for each of the calls.
pub(super) fn error_responses(calls: &[Arc<FunctionCall>], why: &str) -> Content {
    let parts = calls
        .iter()
        .map(|call| response_part(call, CallOutcome::Error(why.to_owned())));
    Content::new(Role::User, parts.collect())
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
        .map(|(call, value)| response_part(call, CallOutcome::Value(value.clone())));
    let mut event = Event::new().with_content(Content::new(Role::User, parts.collect()));
    event.author = Name::literal("user");
    cx.emit(event).await?;
    Ok(values)
}

/// Returns the event for responses, without its content.
pub(super) fn response_event(actions: &ToolActions) -> Event {
    let mut event = Event::new();
    event.actions = actions_of(actions);
    event
}

/// Returns the actions of an event that requests these actions.
pub(super) fn actions_of(asked: &ToolActions) -> Actions {
    let mut actions = RareActions::default();
    actions.escalate = asked.escalate.then_some(true);
    actions.skip_summarization = asked.skip_summarization.then_some(true);
    actions.transfer_to_agent = asked.transfer_to_agent.clone();
    Actions::from(actions)
}
