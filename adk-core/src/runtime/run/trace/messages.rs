//! [`messages`]: messages in the JSON of OpenTelemetry's conventions.

use crate::model::FinishReason;
use crate::{Content, Part, Role};
use serde_json::{Value, json};

/// Formats a list of messages as JSON text. `finish` is the end of an answer.
pub(crate) fn messages<'a>(
    contents: impl IntoIterator<Item = &'a Content>,
    finish: Option<&str>,
) -> String {
    let messages = contents.into_iter().map(|content| {
        let parts: Vec<_> = content.parts.iter().map(part).collect();
        let mut message = json!({"role": role(content), "parts": parts});
        if let Some(finish) = finish {
            message["finish_reason"] = finish.into();
        }
        message
    });
    Value::Array(messages.collect()).to_string()
}

/// Formats a system instruction as JSON text.
pub(crate) fn instructions(text: &str) -> String {
    json!([{"type": "text", "content": text}]).to_string()
}

fn role(content: &Content) -> &'static str {
    match content.role {
        Role::Model => "assistant",
        Role::User
            if content
                .parts
                .iter()
                .any(|part| matches!(part, Part::FunctionResponse(_))) =>
        {
            "tool"
        }
        Role::User => "user",
    }
}

/// Formats a part without its bytes, which do not belong in a span.
fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "content": text}),
        Part::Thought(thought) => json!({"type": "reasoning", "content": thought.text}),
        Part::FunctionCall(call) => {
            let arguments = call
                .malformed
                .clone()
                .map_or_else(|| Value::Object(call.args.clone()), Value::from);
            json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments})
        }
        Part::FunctionResponse(answer) => {
            json!({"type": "tool_call_response", "id": answer.id, "response": answer.response})
        }
        Part::InlineData(blob) => {
            json!({"type": "blob", "mime_type": blob.mime_type, "size": blob.data.len()})
        }
        Part::FileData(file) => {
            json!({"type": "uri", "mime_type": file.mime_type, "uri": file.file_uri})
        }
        _ => json!({"type": "other"}),
    }
}

/// Returns the finish reason of a model by its name in the conventions.
pub(crate) fn finish_reason(reason: &FinishReason) -> String {
    match reason {
        FinishReason::Stop => "stop".to_owned(),
        FinishReason::MaxTokens => "length".to_owned(),
        FinishReason::Safety => "content_filter".to_owned(),
        FinishReason::Other(reason) => reason.to_lowercase(),
        _ => "other".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FunctionCall, FunctionResponse};

    #[test]
    fn messages_have_the_form_of_the_conventions() {
        let args = json!({"city": "Bern"}).as_object().cloned().unwrap();
        let call = FunctionCall {
            id: "1".into(),
            name: "weather".into(),
            args: args.clone(),
            ..Default::default()
        };
        let answer = FunctionResponse {
            id: "1".into(),
            name: "weather".into(),
            response: args,
        };
        let contents = [
            Content::user("Hi").with(Part::inline_data("image/png", vec![1, 2, 3])),
            Content::new(Role::Model, vec![Part::from(call)]),
            Content::new(Role::User, vec![Part::from(answer)]),
        ];
        let actual: Value = serde_json::from_str(&messages(&contents, None)).unwrap();
        let expected = json!([
            {"role": "user", "parts": [
                {"type": "text", "content": "Hi"},
                {"type": "blob", "mime_type": "image/png", "size": 3},
            ]},
            {"role": "assistant", "parts": [
                {"type": "tool_call", "id": "1", "name": "weather", "arguments": {"city": "Bern"}},
            ]},
            {"role": "tool", "parts": [
                {"type": "tool_call_response", "id": "1", "response": {"city": "Bern"}},
            ]},
        ]);
        assert_eq!(actual, expected);
        let answer: Value =
            serde_json::from_str(&messages(&[Content::model("Yes")], Some("stop"))).unwrap();
        assert_eq!(answer[0]["finish_reason"], "stop");
    }
}
