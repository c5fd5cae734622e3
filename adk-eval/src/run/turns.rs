//! [`invocation`]: the events of a run as a turn of google-adk.

use crate::files::{IntermediateData, Invocation, InvocationEvent, RawContent};
use crate::schema::{USAGE_METADATA, canonical};
use adk_core::{Event, RunId};
use serde_json::{Value, json};
use std::sync::Arc;

/// The author of the events of the user.
const USER: &str = "user";

/// Makes a turn of the events of a run. A run without a final text of an agent answers with its
/// output.
pub(super) fn invocation(
    user: &RawContent,
    run: RunId,
    events: &[Arc<Event>],
    output: &Value,
    seconds: f64,
) -> Invocation {
    let is_own = |event: &&Arc<Event>| event.author != USER && !event.partial;
    let events: Vec<_> = events.iter().filter(is_own).collect();
    let is_answer = |event: &&&Arc<Event>| event.is_final_response() && !event.text().is_empty();
    let answer = events.iter().rfind(is_answer).copied();
    let response = match (answer, output) {
        (Some(event), _) => event.content.as_ref().map(RawContent::from),
        (None, Value::Null) => None,
        (None, Value::String(text)) => Some(RawContent::new("model", text)),
        (None, output) => Some(RawContent::new("model", &output.to_string())),
    };
    let has_content = |event: &&&Arc<Event>| {
        let content = event.content.as_ref();
        content.is_some_and(|content| !content.parts.is_empty())
    };
    let event = |event: &&Arc<Event>| {
        let is_answer = answer.is_some_and(|answer| Arc::ptr_eq(answer, event));
        invocation_event(event, is_answer && event.function_calls().next().is_none())
    };
    let invocation_events = events.iter().filter(has_content).map(event).collect();
    Invocation {
        invocation_id: run.to_string(),
        intermediate_data: Some(IntermediateData::Events { invocation_events }),
        creation_timestamp: events
            .first()
            .map_or(0.0, |event| event.timestamp as f64 / 1e6),
        duration: Some(seconds),
        ..Invocation::new(user.clone(), response)
    }
}

/// Makes an event. The content of the answer is in the turn, and not here again.
fn invocation_event(event: &Event, is_answer: bool) -> InvocationEvent {
    let content = event.content.as_ref().filter(|_| !is_answer);
    let details = event.details.as_deref();
    InvocationEvent {
        author: event.author.to_string(),
        content: content.map(RawContent::from),
        grounding_metadata: details
            .and_then(|details| details.grounding_metadata.as_deref().cloned()),
        usage_metadata: event.usage().map(|usage| {
            let counts = json!({
                "prompt_token_count": usage.input_tokens,
                // Thoughts are a part of the output here, and beside it in google-genai.
                "candidates_token_count": usage.output_tokens.saturating_sub(usage.thought_tokens),
                "thoughts_token_count": usage.thought_tokens,
                "cached_content_token_count": usage.cached_tokens,
                "total_token_count": usage.input_tokens + usage.output_tokens,
            });
            canonical(&USAGE_METADATA, counts)
                .map(Value::Object)
                .unwrap_or_default()
        }),
        model_version: details.and_then(|details| details.model_version.clone()),
    }
}
