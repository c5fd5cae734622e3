//! Converts measured values to the form of the expected values.

use super::views::{ActionsView, CallView, ContentView, EventView, PartView, ResponseView};
use adk::session::StateMap;
use adk::{Content, Event, LOOP_ITERATION_KEY, Part, Role, StateDelta};
use serde_json::{Map, Value};

/// The ids of calls, numbered by first appearance: `fc-1`, `fc-2`.
#[derive(Debug, Default)]
pub struct Ids(Vec<String>);

impl Ids {
    fn normal_id(&mut self, id: &str) -> Option<String> {
        if id.is_empty() {
            return None;
        }
        let known = self.0.iter().position(|known| known == id);
        let place = known.unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        });
        Some(format!("fc-{}", place + 1))
    }

    /// Returns the real id of `fc-1`. An id that has not appeared is returned unchanged.
    pub fn real(&self, normal: &str) -> String {
        let place = normal
            .strip_prefix("fc-")
            .and_then(|place| place.parse::<usize>().ok());
        let known = place.and_then(|place| self.0.get(place.checked_sub(1)?));
        known.map_or_else(|| normal.to_owned(), Clone::clone)
    }

    /// Returns an event without the values that vary.
    pub fn event(&mut self, event: &Event) -> EventView {
        let content = event.content.as_ref().map(|content| self.content(content));
        let mut view = EventView {
            author: event.author.to_string(),
            branch: event.branch.as_deref().map(str::to_owned),
            partial: event.partial,
            content,
            actions: actions(event),
            is_final: event.is_final_response(),
            ..EventView::default()
        };
        view.long_running_tool_ids = event
            .long_running_tool_ids()
            .iter()
            .filter_map(|id| self.normal_id(id))
            .collect();
        if let Some(details) = event.details.as_deref() {
            view.error_code.clone_from(&details.error_code);
            view.error_message.clone_from(&details.error_message);
            view.custom_metadata.clone_from(&details.custom_metadata);
        }
        view.custom_metadata.shift_remove(LOOP_ITERATION_KEY);
        view
    }

    fn content(&mut self, content: &Content) -> ContentView {
        let role = match content.role {
            Role::User => "user",
            Role::Model => "model",
        };
        ContentView {
            role: Some(role.to_owned()),
            parts: content.parts.iter().map(|part| self.part(part)).collect(),
        }
    }

    fn part(&mut self, part: &Part) -> PartView {
        let mut view = PartView {
            text: None,
            thought: false,
            function_call: None,
            function_response: None,
        };
        match part {
            Part::Text(text) => view.text = Some(text.clone()),
            Part::Thought(thought) => {
                view.text = Some(thought.text.clone());
                view.thought = true;
            }
            Part::FunctionCall(call) => {
                let (id, name, args) = (
                    self.normal_id(&call.id),
                    call.name.clone(),
                    call.args.clone(),
                );
                view.function_call = Some(CallView { id, name, args });
            }
            Part::FunctionResponse(answer) => {
                let (id, name, response) = (
                    self.normal_id(&answer.id),
                    answer.name.clone(),
                    answer.response.clone(),
                );
                view.function_response = Some(ResponseView { id, name, response });
            }
            // No case has such a part, so it differs from all expected parts.
            other => view.text = Some(format!("(a part that no case has: {other:?})")),
        }
        view
    }
}

fn actions(event: &Event) -> ActionsView {
    let actions = &event.actions;
    ActionsView {
        state_delta: delta(&actions.state_delta),
        artifact_delta: actions
            .artifact_delta
            .iter()
            .map(|(name, n)| (name.to_string(), *n))
            .collect(),
        escalate: actions.escalate,
        skip_summarization: actions.skip_summarization,
        transfer_to_agent: actions.transfer_to_agent.as_ref().map(ToString::to_string),
        end_of_agent: actions.end_of_agent,
        agent_state: actions
            .agent_state
            .as_deref()
            .and_then(Value::as_object)
            .cloned(),
    }
}

fn delta(delta: &StateDelta) -> Map<String, Value> {
    visible(delta.iter().map(|(key, value)| (&**key, &**value)))
}

/// Returns the state of a session.
pub fn state(state: &StateMap) -> Map<String, Value> {
    visible(state.iter().map(|(key, value)| (&**key, &**value)))
}

/// Skips keys that begin with `_adk`, which belong to the framework.
fn visible<'a>(pairs: impl Iterator<Item = (&'a str, &'a Value)>) -> Map<String, Value> {
    let pairs = pairs.filter(|(key, _)| !key.starts_with("_adk"));
    pairs
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect()
}
