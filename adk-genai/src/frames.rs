//! [`Frames`]: data of a stream that genai drops, read from its raw frames.

use crate::deltas::CallDeltas;
use genai::chat::{Binary, ChatFrameSink, ContentPart, FrameCtx, RawFrameRef, StopReason};
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Frames {
    seen: Mutex<Seen>,
    /// Whether the provider runs tools, and any frame may contain their results.
    at_provider: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) version: Option<String>,
    pub(crate) refusal: Option<Refusal>,
    /// An error in the stream. genai reports such an error as unreadable, or does not report it.
    pub(crate) error: Option<Value>,
    /// Tool calls of a streamed chat completion, because genai assembles them incorrectly.
    pub(crate) calls: CallDeltas,
    /// Whether the provider reported the end of the answer. If a stream just stops, genai invents
    /// an end.
    pub(crate) finished: bool,
    /// Stop reason, if it differs from the reason that genai reports.
    pub(crate) stop: Option<StopReason>,
    /// Images and files of Gemini, which genai drops in a stream.
    pub(crate) images: Vec<ContentPart>,
    /// Thoughts of Gemini's last frame, without the last thought. genai delivers only the last part
    /// of each frame.
    earlier_thoughts: String,
    /// What the tools of Gemini did, which genai drops.
    pub(crate) found: Found,
}

/// The reason why a provider withheld an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// ADK's `error_code`.
    pub(crate) code: String,
    /// Text of the provider.
    pub(crate) message: String,
}

impl Frames {
    pub(crate) fn new(at_provider: bool) -> Self {
        Self {
            at_provider,
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the thoughts that come before the last thought of a frame, which genai delivers.
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
        // This is the last line of Ollama's format. The ends of other formats, such as `[DONE]`,
        // are events of genai.
        seen.finished |= data.contains("\"done\":true") || data.contains("\"done\": true");
        // All frames of all streams are read here, so only frames that may contain relevant data
        // are parsed.
        let telling = [
            "blockReason",
            "finishMessage",
            "\"refusal\":\"",
            "\"refusal\": \"",
            "response.refusal.delta",
            "response.failed",
            "response.incomplete",
            "\"error\":{",
            "\"error\": {",
            "\"tool_calls\"",
            "\"inlineData\"",
        ];
        // Ollama reports an error as a line that ends the stream.
        let is_error = data.starts_with("{\"error\"");
        let has_thoughts = data.matches("\"thought\"").nth(1).is_some();
        let tells = self.at_provider
            || is_error
            || has_thoughts
            || telling.iter().any(|word| data.contains(word));
        if seen.version.is_some() && !tells {
            return;
        }
        let Some(json) = frame.json() else { return };
        if seen.version.is_none() {
            seen.version = version(&json);
        }
        seen.calls.add(&json);
        seen.images.extend(gemini_parts(&json).filter_map(image));
        if self.at_provider {
            seen.found.add(&json);
        }
        if has_thoughts {
            seen.earlier_thoughts.push_str(&earlier_thoughts(&json));
        }
        if let Some(stop) = json.get("response").and_then(stop) {
            seen.stop = Some(stop);
        }
        let of_responses = json
            .get("delta")
            .filter(|_| json["type"] == "response.refusal.delta");
        let delta = json.pointer("/choices/0/delta/refusal").or(of_responses);
        if let Some(more) = delta
            .and_then(Value::as_str)
            .filter(|more| !more.is_empty())
        {
            let refusal = seen
                .refusal
                .get_or_insert_with(|| Refusal::new(String::new()));
            refusal.message.push_str(more);
        } else if let Some(refusal) = refusal(&json) {
            seen.refusal = Some(refusal);
        }
        let error = json.get("error").filter(|_| is_error).cloned();
        let error = error.filter(|error| !error.is_null()).or_else(|| {
            let body = json.get("response").unwrap_or(&json);
            error_in(body).map(|mut body| body["error"].take())
        });
        if error.is_some() {
            seen.error = error;
        }
    }
}

/// Returns the error in the body of an answer that began successfully, in an object with the field
/// `error`: of a failed response of OpenAI, or of a choice of a chat completion.
pub(crate) fn error_in(body: &Value) -> Option<Value> {
    let choice = body.pointer("/choices/0/error");
    let own = body
        .get("error")
        .or(choice)
        .filter(|error| !error.is_null());
    let failed = body.get("status").is_some_and(|status| status == "failed");
    match own {
        Some(error) => Some(json!({"error": error})),
        None if failed => Some(json!({"error": {"message": "the response failed"}})),
        None => None,
    }
}

impl Refusal {
    fn new(message: String) -> Self {
        Self {
            code: "REFUSAL".to_owned(),
            message,
        }
    }
}

/// Returns the version of the model that answered, from any format.
pub(crate) fn version(body: &Value) -> Option<String> {
    [
        "/modelVersion",
        "/model",
        "/message/model",
        "/response/model",
    ]
    .iter()
    .find_map(|path| body.pointer(path)?.as_str())
    .filter(|version| !version.is_empty())
    .map(str::to_owned)
}

/// Returns the reason of a withheld answer: Gemini's blocked prompt or finish message, or OpenAI's
/// refusal.
pub(crate) fn refusal(body: &Value) -> Option<Refusal> {
    let text = |path: &str| {
        body.pointer(path)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    if let Some(code) = text("/promptFeedback/blockReason") {
        let message = text("/promptFeedback/blockReasonMessage")
            .unwrap_or_else(|| "the prompt was blocked".into());
        return Some(Refusal { code, message });
    }
    if let (Some(code), Some(message)) = (
        text("/candidates/0/finishReason"),
        text("/candidates/0/finishMessage"),
    ) {
        return Some(Refusal { code, message });
    }
    if let Some(message) = text("/choices/0/message/refusal") {
        return Some(Refusal::new(message));
    }
    // A whole answer of OpenAI's responses API.
    let items = body
        .get("output")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut parts = items
        .filter_map(|item| item.get("content")?.as_array())
        .flatten();
    let refused = parts.find(|part| part["type"] == "refusal")?;
    Some(Refusal::new(refused["refusal"].as_str()?.to_owned()))
}

/// Returns the reason of an incomplete response of OpenAI, unless it is the token limit.
pub(crate) fn stop(response: &Value) -> Option<StopReason> {
    let reason = response.pointer("/incomplete_details/reason")?.as_str()?;
    (reason == "content_filter").then(|| StopReason::ContentFilter(reason.to_owned()))
}

/// What the tools of Gemini did in an answer.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The code that the provider has run, and its output.
    pub(crate) parts: Vec<ContentPart>,
    /// The sources.
    pub(crate) grounding: Option<Value>,
}

impl Found {
    /// Adds the results in a whole answer, or in a frame of a stream.
    pub(crate) fn add(&mut self, body: &Value) {
        let codes = gemini_parts(body).filter_map(|part| {
            let mut names = ["executableCode", "codeExecutionResult"].into_iter();
            names.find_map(|name| Some(json!({name: part.get(name)?})))
        });
        self.parts
            .extend(codes.map(|part| ContentPart::from_custom(part, None)));
        // The last frame has all sources.
        if let Some(grounding) = body.pointer("/candidates/0/groundingMetadata") {
            self.grounding = Some(grounding.clone());
        }
    }
}

fn gemini_parts(frame: &Value) -> impl Iterator<Item = &Value> {
    frame
        .pointer("/candidates/0/content/parts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn image(part: &Value) -> Option<ContentPart> {
    let text = |key: &str| part["inlineData"][key].as_str();
    Some(ContentPart::Binary(Binary::from_base64(
        text("mimeType")?,
        text("data")?,
        None,
    )))
}

/// Returns the thoughts of a frame except the last one.
fn earlier_thoughts(frame: &Value) -> String {
    let thoughts = gemini_parts(frame).filter(|part| part["thought"] == true);
    let texts: Vec<_> = thoughts.filter_map(|part| part["text"].as_str()).collect();
    texts
        .split_last()
        .map(|(_, earlier)| earlier.concat())
        .unwrap_or_default()
}
