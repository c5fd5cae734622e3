//! What genai leaves out of a stream's events, read from its frames as they pass.

use crate::deltas::CallDeltas;
use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Looks at the frames of one stream.
#[derive(Debug, Default)]
pub(crate) struct Frames(Mutex<Seen>);

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The version of the model, as the provider calls it.
    pub(crate) version: Option<String>,
    /// Why there is no answer.
    pub(crate) refusal: Option<Refusal>,
    /// An error that genai only reports as unreadable.
    pub(crate) error: Option<Value>,
    /// The calls of a chat completion, which genai puts together wrongly.
    pub(crate) calls: CallDeltas,
    /// Whether the provider said that it was done; genai makes an end of its own where a stream just stops.
    pub(crate) finished: bool,
}

/// An answer that was withheld.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// ADK's `error_code`.
    pub(crate) code: String,
    /// The provider's words.
    pub(crate) message: String,
}

impl Frames {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen.
    pub(crate) fn take(&self) -> Seen {
        std::mem::take(&mut self.lock())
    }
}

impl ChatFrameSink for Frames {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let data = frame.data;
        let mut seen = self.lock();
        // Ollama's last line; `[DONE]` and the others have an event of genai.
        seen.finished |= data.contains("\"done\":true");
        // Every frame passes here: only those that may say something are parsed.
        let telling = ["blockReason", "finishMessage", "\"refusal\":\"", "response.failed", "\"tool_calls\""];
        if seen.version.is_some() && !telling.iter().any(|word| data.contains(word)) {
            return;
        }
        let Some(json) = frame.json() else { return };
        if seen.version.is_none() {
            seen.version = version(&json);
        }
        seen.calls.add(&json);
        if let Some(more) = json.pointer("/choices/0/delta/refusal").and_then(Value::as_str) {
            let refusal = seen.refusal.get_or_insert_with(|| Refusal::said(String::new()));
            refusal.message.push_str(more);
        } else if let Some(refusal) = refusal(&json) {
            seen.refusal = Some(refusal);
        }
        if let Some(error) = json.pointer("/response/error").filter(|error| !error.is_null()) {
            seen.error = Some(error.clone());
        }
    }
}

impl Refusal {
    fn said(message: String) -> Self {
        Self { code: "REFUSAL".to_owned(), message }
    }
}

/// The version that answered, wherever the format has it.
pub(crate) fn version(body: &Value) -> Option<String> {
    ["/modelVersion", "/model", "/message/model", "/response/model"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str())
        .filter(|version| !version.is_empty())
        .map(str::to_owned)
}

/// Why there is no answer: Gemini's blocked prompt or the message of its finish reason, OpenAI's refusal.
pub(crate) fn refusal(body: &Value) -> Option<Refusal> {
    let text = |path: &str| body.pointer(path).and_then(Value::as_str).map(str::to_owned);
    if let Some(code) = text("/promptFeedback/blockReason") {
        let message =
            text("/promptFeedback/blockReasonMessage").unwrap_or_else(|| "the prompt was blocked".into());
        return Some(Refusal { code, message });
    }
    if let (Some(code), Some(message)) =
        (text("/candidates/0/finishReason"), text("/candidates/0/finishMessage"))
    {
        return Some(Refusal { code, message });
    }
    text("/choices/0/message/refusal").map(Refusal::said)
}
