//! The format of Ollama's own chat: one JSON object per line.

use super::Recorded;
use super::http::{Body, Rendered, json_body};
use super::reply::{Reply, Said};
use serde_json::{Value, json};

pub(super) fn render(request: &Recorded, reply: &Reply) -> Rendered {
    if reply.status >= 400 {
        return json_body(json!({"error": reply.message}));
    }
    let model = reply.model(&request.body["model"]);
    let line = |message: Value| {
        json!({
            "model": model,
            "created_at": "2026-01-01T00:00:00Z",
            "message": message,
            "done": false,
        })
    };
    let call = |name: &str, arguments: &str| {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        json!({"function": {"name": name, "arguments": arguments}})
    };
    let mut last = line(json!({"role": "assistant", "content": ""}));
    last["done"] = json!(true);
    last["done_reason"] = json!(reply.finish.as_deref().unwrap_or("stop"));
    last["prompt_eval_count"] = json!(reply.input);
    last["eval_count"] = json!(reply.output);
    if request.body["stream"] == json!(false) {
        for part in &reply.parts {
            match part {
                Said::Text(text) => last["message"]["content"] = json!(text),
                Said::Thought { text, .. } => last["message"]["thinking"] = json!(text),
                Said::Call {
                    name, arguments, ..
                } => {
                    if last["message"]["tool_calls"].is_null() {
                        last["message"]["tool_calls"] = json!([]);
                    }
                    if let Some(calls) = last["message"]["tool_calls"].as_array_mut() {
                        calls.push(call(name, arguments));
                    }
                }
            }
        }
        return json_body(last);
    }
    let mut lines = Vec::new();
    for part in &reply.parts {
        match part {
            Said::Text(text) => {
                let pieces = reply.pieces(text);
                lines.extend(
                    pieces
                        .iter()
                        .map(|t| line(json!({"role": "assistant", "content": t}))),
                );
            }
            Said::Thought { text, .. } => {
                let pieces = reply.pieces(text);
                lines.extend(
                    pieces
                        .iter()
                        .map(|t| line(json!({"role": "assistant", "content": "", "thinking": t}))),
                );
            }
            Said::Call {
                name, arguments, ..
            } => {
                let calls = json!([call(name, arguments)]);
                lines.push(line(
                    json!({"role": "assistant", "content": "", "tool_calls": calls}),
                ));
            }
        }
    }
    lines.push(last);
    let body = Body::Events(lines.iter().map(|line| format!("{line}\n")).collect());
    Rendered {
        content_type: "application/x-ndjson",
        body,
    }
}
