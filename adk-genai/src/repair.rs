//! [`read`]: reads a whole answer that genai rejects because the arguments of a call are not JSON.
//!
//! In a stream, genai delivers such arguments as text. In a whole answer of OpenAI's two formats it
//! fails instead, which would lose the rest of the answer.

use crate::frames::{refusal, stop, version};
use crate::response::Answer;
use genai::chat::{ContentPart, StopReason, ToolCall, Usage};
use serde_json::Value;

/// Reads the answer in a body, if it has one of OpenAI's formats.
pub(crate) fn read(body: &Value) -> Option<Answer> {
    let mut answer = chat(body).or_else(|| responses(body))?;
    answer.version = version(body);
    answer.refusal = refusal(body);
    Some(answer)
}

fn text(value: &Value, key: &str) -> Option<String> {
    value
        .get(key)?
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// Converts a call. The arguments stay text here; `response.rs` parses them.
fn call(id: Option<String>, function: &Value) -> Option<ContentPart> {
    Some(ContentPart::ToolCall(ToolCall {
        call_id: id.unwrap_or_default(),
        fn_name: text(function, "name")?,
        fn_arguments: function.get("arguments").cloned().unwrap_or_default(),
        thought_signatures: None,
    }))
}

fn chat(body: &Value) -> Option<Answer> {
    let choice = body.pointer("/choices/0")?;
    let message = choice.get("message")?;
    let mut parts: Vec<ContentPart> = text(message, "content")
        .map(ContentPart::from_text)
        .into_iter()
        .collect();
    let calls = message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    parts.extend(calls.filter_map(|item| call(text(item, "id"), item.get("function")?)));
    let usage = body
        .get("usage")
        .and_then(|usage| serde_json::from_value(usage.clone()).ok());
    Some(Answer {
        parts,
        reasoning: text(message, "reasoning_content").or_else(|| text(message, "reasoning")),
        stop: text(choice, "finish_reason").map(StopReason::from),
        usage: usage.unwrap_or_default(),
        ..Answer::default()
    })
}

fn responses(body: &Value) -> Option<Answer> {
    let mut parts = Vec::new();
    let mut reasoning = Vec::new();
    for item in body.get("output")?.as_array()? {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => {
                let content = item
                    .get("content")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                parts.extend(
                    content
                        .filter_map(|part| text(part, "text"))
                        .map(ContentPart::from_text),
                );
            }
            Some("function_call") => parts.extend(call(text(item, "call_id"), item)),
            Some("reasoning") => {
                parts.extend(text(item, "encrypted_content").map(ContentPart::ThoughtSignature));
                let summary = item
                    .get("summary")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                reasoning.extend(summary.filter_map(|part| text(part, "text")));
            }
            _ => {}
        }
    }
    let count = |path: &str| {
        body.pointer(path)
            .and_then(Value::as_i64)
            .and_then(|n| i32::try_from(n).ok())
    };
    Some(Answer {
        parts,
        reasoning: (!reasoning.is_empty()).then(|| reasoning.join("\n")),
        stop: stop(body).or_else(|| text(body, "status").map(StopReason::from)),
        usage: Usage {
            prompt_tokens: count("/usage/input_tokens"),
            completion_tokens: count("/usage/output_tokens"),
            ..Usage::default()
        },
        ..Answer::default()
    })
}
