//! The format of Anthropic's messages.

use super::Recorded;
use super::http::{Rendered, event, json_body, sse};
use super::reply::{Reply, Said};
use serde_json::{Value, json};

pub(super) fn render(request: &Recorded, reply: &Reply) -> Rendered {
    if reply.status >= 400 {
        let kind = match reply.status {
            401 => "authentication_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        return json_body(
            json!({"type": "error", "error": {"type": kind, "message": reply.message}}),
        );
    }
    let model = reply.model(&request.body["model"]);
    if request.body["stream"] == json!(true) {
        return sse(stream(&model, reply));
    }
    let content: Vec<Value> = reply
        .parts
        .iter()
        .map(|part| match part {
            Said::Text(text) => json!({"type": "text", "text": text}),
            Said::Thought { text, signature } => {
                json!({
                    "type": "thinking",
                    "thinking": text,
                    "signature": signature.clone().unwrap_or_default(),
                })
            }
            Said::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let input: Value =
                    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    json_body(json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": finish(reply), "stop_sequence": null, "usage": usage(reply),
    }))
}

fn finish(reply: &Reply) -> String {
    let usual = if reply.calls() {
        "tool_use"
    } else {
        "end_turn"
    };
    reply.finish.clone().unwrap_or_else(|| usual.to_owned())
}

fn usage(reply: &Reply) -> Value {
    // Anthropic does not include cached tokens in the input tokens.
    json!({
        "input_tokens": reply.input - reply.cached, "output_tokens": reply.output,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": reply.cached,
    })
}

fn stream(model: &Value, reply: &Reply) -> Vec<String> {
    let mut start = usage(reply);
    start["output_tokens"] = json!(1);
    let mut events = vec![
        event(&json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": start,
        }})),
        event(&json!({"type": "ping"})),
    ];
    for (index, part) in reply.parts.iter().enumerate() {
        let (block, mut deltas): (Value, Vec<Value>) = match part {
            Said::Text(text) => {
                let deltas = reply
                    .pieces(text)
                    .iter()
                    .map(|t| json!({"type": "text_delta", "text": t}))
                    .collect();
                (json!({"type": "text", "text": ""}), deltas)
            }
            Said::Thought { text, .. } => {
                let pieces = reply.pieces(text);
                let deltas = pieces
                    .iter()
                    .map(|t| json!({"type": "thinking_delta", "thinking": t}))
                    .collect();
                (
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    deltas,
                )
            }
            Said::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let pieces = reply.pieces(arguments);
                let deltas = pieces
                    .iter()
                    .map(|t| json!({"type": "input_json_delta", "partial_json": t}))
                    .collect();
                (
                    json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                    deltas,
                )
            }
        };
        if let Said::Thought {
            signature: Some(signature),
            ..
        } = part
        {
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
        }
        events.push(event(
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        ));
        events.extend(deltas.iter().map(|delta| {
            event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        }));
        events.push(event(
            &json!({"type": "content_block_stop", "index": index}),
        ));
    }
    events.push(event(&json!({
        "type": "message_delta", "delta": {"stop_reason": finish(reply), "stop_sequence": null},
        "usage": {"output_tokens": reply.output},
    })));
    events.push(event(&json!({"type": "message_stop"})));
    events
}
