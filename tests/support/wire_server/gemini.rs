//! The formats of Gemini's `generateContent` and `streamGenerateContent?alt=sse`.

use super::Recorded;
use super::http::{Rendered, data, json_body, sse};
use super::reply::{Reply, Said};
use serde_json::{Value, json};

pub(super) fn render(request: &Recorded, reply: &Reply) -> Rendered {
    if reply.status >= 400 {
        let status = match reply.status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        return json_body(
            json!({"error": {"code": reply.status, "message": reply.message, "status": status}}),
        );
    }
    let name = request
        .path
        .split("/models/")
        .nth(1)
        .and_then(|rest| rest.split(':').next())
        .unwrap_or_default();
    let version = reply.model(&json!(name));
    let parts: Vec<Value> = reply.parts.iter().map(part).collect();
    if !request.path.contains(":stream") {
        return json_body(whole(reply, &version, parts, true));
    }
    // Texts are streamed in pieces, calls are sent complete.
    let mut events = Vec::new();
    for (said, part) in reply.parts.iter().zip(parts) {
        match said {
            Said::Text(text) | Said::Thought { text, .. } => {
                for piece in reply.pieces(text) {
                    let mut part = part.clone();
                    part["text"] = json!(piece);
                    events.push(vec![part]);
                }
            }
            Said::Call { .. } => events.push(vec![part]),
        }
    }
    if events.is_empty() {
        events.push(Vec::new());
    }
    let last = events.len() - 1;
    let chunks = events
        .into_iter()
        .enumerate()
        .map(|(at, parts)| data(&whole(reply, &version, parts, at == last)));
    sse(chunks.collect())
}

fn part(said: &Said) -> Value {
    let (mut part, signature) = match said {
        Said::Text(text) => (json!({"text": text}), &None),
        Said::Thought { text, signature } => (json!({"text": text, "thought": true}), signature),
        Said::Call {
            name,
            arguments,
            signature,
            ..
        } => {
            let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            (
                json!({"functionCall": {"name": name, "args": args}}),
                signature,
            )
        }
    };
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

fn whole(reply: &Reply, version: &Value, parts: Vec<Value>, last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model"}, "index": 0});
    if !parts.is_empty() {
        candidate["content"]["parts"] = json!(parts);
    }
    let mut usage =
        json!({"promptTokenCount": reply.input, "totalTokenCount": reply.input + reply.output});
    if last {
        candidate["finishReason"] = json!(reply.finish.as_deref().unwrap_or("STOP"));
        // Gemini does not include thoughts in the tokens of the candidates.
        usage["candidatesTokenCount"] = json!(reply.output - reply.thought);
        if reply.thought > 0 {
            usage["thoughtsTokenCount"] = json!(reply.thought);
        }
        if reply.cached > 0 {
            usage["cachedContentTokenCount"] = json!(reply.cached);
        }
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": version,
        "responseId": "r1",
    })
}
