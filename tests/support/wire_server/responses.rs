//! The format of OpenAI's responses.

use super::Recorded;
use super::http::{Rendered, event, json_body, sse};
use super::reply::{Reply, Said};
use serde_json::{Value, json};

pub(super) fn render(request: &Recorded, reply: &Reply) -> Rendered {
    if reply.status >= 400 {
        return json_body(json!({
            "error": {
                "message": reply.message,
                "type": "scripted",
                "param": null,
                "code": null,
            },
        }));
    }
    let output: Vec<Value> = reply
        .parts
        .iter()
        .enumerate()
        .map(|(at, part)| item(at, part))
        .collect();
    // The status is `completed` also after calls of tools.
    let status = reply.finish.as_deref().unwrap_or("completed");
    let whole = json!({
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "error": null,
        "model": reply.model(&request.body["model"]),
        "output": output,
        "usage": {
            "input_tokens": reply.input, "input_tokens_details": {"cached_tokens": reply.cached},
            "output_tokens": reply.output, "output_tokens_details": {
                "reasoning_tokens": reply.thought,
            },
            "total_tokens": reply.input + reply.output,
        },
    });
    if request.body["stream"] != json!(true) {
        return json_body(whole);
    }
    let mut begun = whole.clone();
    (begun["status"], begun["output"], begun["usage"]) =
        (json!("in_progress"), json!([]), Value::Null);
    let mut events = vec![event(
        &json!({"type": "response.created", "response": begun}),
    )];
    for (at, part) in reply.parts.iter().enumerate() {
        let done = item(at, part);
        let (kind, added, pieces) = match part {
            Said::Text(text) => (
                "response.output_text.delta",
                json!({"type": "message", "content": []}),
                text,
            ),
            Said::Thought { text, .. } => (
                "response.reasoning_summary_text.delta",
                json!({"type": "reasoning", "summary": []}),
                text,
            ),
            Said::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let added =
                    json!({"type": "function_call", "call_id": id, "name": name, "arguments": ""});
                ("response.function_call_arguments.delta", added, arguments)
            }
        };
        events.push(event(
            &json!({"type": "response.output_item.added", "output_index": at, "item": added}),
        ));
        let pieces = reply.pieces(pieces);
        events.extend(
            pieces
                .iter()
                .map(|piece| event(&json!({"type": kind, "output_index": at, "delta": piece}))),
        );
        events.push(event(
            &json!({"type": "response.output_item.done", "output_index": at, "item": done}),
        ));
    }
    let kind = if status == "incomplete" {
        "response.incomplete"
    } else {
        "response.completed"
    };
    events.push(event(&json!({"type": kind, "response": whole})));
    sse(events)
}

fn item(at: usize, part: &Said) -> Value {
    match part {
        Said::Text(text) => json!({
            "id": format!("msg_{at}"),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Said::Thought { text, signature } => json!({
            "id": format!("rs_{at}"), "type": "reasoning", "encrypted_content": signature,
            "summary": [{"type": "summary_text", "text": text}],
        }),
        Said::Call {
            id,
            name,
            arguments,
            ..
        } => json!({
            "id": format!("fc_{at}"), "type": "function_call", "status": "completed",
            "call_id": id, "name": name, "arguments": arguments,
        }),
    }
}
