//! What genai leaves out of a stream's events, read from its frames as they pass.

use crate::deltas::CallDeltas;
use genai::chat::{Binary, ChatFrameSink, ContentPart, FrameCtx, RawFrameRef, StopReason};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Frames(Mutex<Seen>);

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) version: Option<String>,
    pub(crate) refusal: Option<Refusal>,
    /// An error that genai reports as unreadable, or not at all.
    pub(crate) error: Option<Value>,
    /// The calls of a chat completion, which genai puts together wrongly.
    pub(crate) calls: CallDeltas,
    /// Whether the provider said that it was done; genai makes an end of its own where a stream just stops.
    pub(crate) finished: bool,
    /// Why it stopped, where genai reports another reason.
    pub(crate) stop: Option<StopReason>,
    /// Images and files of Gemini, which genai leaves out of a stream.
    pub(crate) images: Vec<ContentPart>,
    /// Thoughts of Gemini's last frame. genai hands on the last part of each frame alone.
    earlier_thoughts: String,
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

    /// The thoughts in the last frame before the one that genai hands on.
    pub(crate) fn earlier_thoughts(&self) -> String {
        std::mem::take(&mut self.lock().earlier_thoughts)
    }

    pub(crate) fn take(&self) -> Seen {
        std::mem::take(&mut self.lock())
    }
}

impl ChatFrameSink for Frames {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let data = frame.data;
        let mut seen = self.lock();
        // Ollama's last line; `[DONE]` and the others have an event of genai.
        seen.finished |= data.contains("\"done\":true") || data.contains("\"done\": true");
        // Every frame passes here: only those that may say something are parsed.
        let telling = [
            "blockReason",
            "finishMessage",
            "\"refusal\":\"",
            "\"refusal\": \"",
            "response.refusal.delta",
            "response.failed",
            "response.incomplete",
            "\"tool_calls\"",
            "\"inlineData\"",
        ];
        // A line of Ollama in place of the rest.
        let is_error = data.starts_with("{\"error\"");
        let has_thoughts = data.matches("\"thought\"").nth(1).is_some();
        let tells = is_error || has_thoughts || telling.iter().any(|word| data.contains(word));
        if seen.version.is_some() && !tells {
            return;
        }
        let Some(json) = frame.json() else { return };
        if seen.version.is_none() {
            seen.version = version(&json);
        }
        seen.calls.add(&json);
        seen.images.extend(gemini_parts(&json).filter_map(image));
        if has_thoughts {
            seen.earlier_thoughts.push_str(&earlier_thoughts(&json));
        }
        if let Some(stop) = json.get("response").and_then(stop) {
            seen.stop = Some(stop);
        }
        let of_responses = json.get("delta").filter(|_| json["type"] == "response.refusal.delta");
        let delta = json.pointer("/choices/0/delta/refusal").or(of_responses);
        if let Some(more) = delta.and_then(Value::as_str).filter(|more| !more.is_empty()) {
            let refusal = seen.refusal.get_or_insert_with(|| Refusal::said(String::new()));
            refusal.message.push_str(more);
        } else if let Some(refusal) = refusal(&json) {
            seen.refusal = Some(refusal);
        }
        let error = json.pointer("/response/error").or(json.get("error").filter(|_| is_error));
        if let Some(error) = error.filter(|error| !error.is_null()) {
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

/// Why there is no answer: Gemini's blocked prompt or the message of its finish reason, or OpenAI's refusal.
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
    if let Some(message) = text("/choices/0/message/refusal") {
        return Some(Refusal::said(message));
    }
    // OpenAI's responses, whole.
    let items = body.get("output").and_then(Value::as_array).into_iter().flatten();
    let mut parts = items.filter_map(|item| item.get("content")?.as_array()).flatten();
    let refused = parts.find(|part| part["type"] == "refusal")?;
    Some(Refusal::said(refused["refusal"].as_str()?.to_owned()))
}

/// Why a response of OpenAI is incomplete, where that is not the limit of tokens.
pub(crate) fn stop(response: &Value) -> Option<StopReason> {
    let reason = response.pointer("/incomplete_details/reason")?.as_str()?;
    (reason == "content_filter").then(|| StopReason::ContentFilter(reason.to_owned()))
}

fn gemini_parts(frame: &Value) -> impl Iterator<Item = &Value> {
    frame.pointer("/candidates/0/content/parts").and_then(Value::as_array).into_iter().flatten()
}

fn image(part: &Value) -> Option<ContentPart> {
    let text = |key: &str| part["inlineData"][key].as_str();
    Some(ContentPart::Binary(Binary::from_base64(text("mimeType")?, text("data")?, None)))
}

/// The thoughts of a frame but for the last.
fn earlier_thoughts(frame: &Value) -> String {
    let thoughts = gemini_parts(frame).filter(|part| part["thought"] == true);
    let texts: Vec<_> = thoughts.filter_map(|part| part["text"].as_str()).collect();
    texts.split_last().map(|(_, earlier)| earlier.concat()).unwrap_or_default()
}
