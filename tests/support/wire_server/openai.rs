//! The format of OpenAI's chat completions.

use super::Recorded;
use super::http::{Rendered, data, json_body, sse};
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
    if request.body["stream"] == json!(true) {
        let usage = request.body["stream_options"]["include_usage"] == json!(true);
        return sse(stream(&request.body["model"], reply, usage));
    }
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut calls = Vec::new();
    for part in &reply.parts {
        match part {
            Said::Text(text) => message["content"] = json!(text),
            Said::Thought { text, .. } => message["reasoning_content"] = json!(text),
            Said::Call {
                id,
                name,
                arguments,
                ..
            } => {
                calls.push(json!({
                    "id": id,
                    "type": "function",
                    "function": {"name": name, "arguments": arguments},
                }));
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json_body(json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000,
        "model": reply.model(&request.body["model"]),
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish(reply),
        }],
        "usage": usage(reply),
    }))
}

fn finish(reply: &Reply) -> String {
    let usual = if reply.calls() { "tool_calls" } else { "stop" };
    reply.finish.clone().unwrap_or_else(|| usual.to_owned())
}

fn usage(reply: &Reply) -> Value {
    json!({
        "prompt_tokens": reply.input, "completion_tokens": reply.output,
        "total_tokens": reply.input + reply.output,
        "prompt_tokens_details": {"cached_tokens": reply.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reply.thought, "audio_tokens": 0},
    })
}

fn stream(asked: &Value, reply: &Reply, with_usage: bool) -> Vec<String> {
    let model = reply.model(asked);
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": model,
            "choices": choices,
        });
        if with_usage {
            chunk["usage"] = usage;
        }
        data(&chunk)
    };
    let delta = |delta: Value, finish: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]),
            Value::Null,
        )
    };
    let mut events = vec![delta(
        json!({"role": "assistant", "content": "", "refusal": null}),
        Value::Null,
    )];
    let mut index = 0;
    for part in &reply.parts {
        match part {
            Said::Text(text) => {
                events.extend(
                    reply
                        .pieces(text)
                        .iter()
                        .map(|piece| delta(json!({"content": piece}), Value::Null)),
                );
            }
            Said::Thought { text, .. } => events.extend(
                reply
                    .pieces(text)
                    .iter()
                    .map(|piece| delta(json!({"reasoning_content": piece}), Value::Null)),
            ),
            Said::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let call = |call: Value| delta(json!({"tool_calls": [call]}), Value::Null);
                events.push(call(json!({
                    "index": index, "id": id, "type": "function", "function": {
                        "name": name,
                        "arguments": "",
                    },
                })));
                let pieces = reply.pieces(arguments);
                events.extend(
                    pieces.iter().map(|piece| {
                        call(json!({"index": index, "function": {"arguments": piece}}))
                    }),
                );
                index += 1;
            }
        }
    }
    events.push(delta(json!({}), json!(finish(reply))));
    if with_usage {
        events.push(chunk(json!([]), usage(reply)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}
