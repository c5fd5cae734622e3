//! From our request to genai's.

use crate::adapter::Family;
use crate::cache;
use crate::error::Asked;
use crate::plan::Plan;
use adk_core::model::{ModelError, ModelErrorKind, ModelRequest};
use adk_core::{Content, FunctionCall, FunctionResponse, Part, Role, Thought};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genai::adapter::AdapterKind;
use genai::chat::{
    Binary, ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What ADK asks when a model is called with nothing to answer. Providers refuse a conversation that is empty, or that begins with
/// what the model said: an agent may be shown its own calls alone.
const NOTHING_SAID: &str = "Handle the requests as specified in the System Instruction.";
/// What ADK adds when the model spoke last.
const GO_ON: &str = "Continue processing previous requests as instructed. Exit or provide a summary if no more outputs are needed.";

/// Translates the conversation and the tools.
///
/// # Errors
/// When the provider cannot be given one of the parts.
pub(crate) fn translate(
    request: &ModelRequest,
    plan: &Plan,
    asked: &Asked<'_>,
) -> Result<ChatRequest, ModelError> {
    if plan.kind == AdapterKind::Cohere && !request.tools.is_empty() {
        // genai would leave them out.
        return Err(asked.error(ModelErrorKind::InvalidRequest, "tools cannot be sent in this format", ""));
    }
    let mut messages = Messages { plan, asked, ids: Ids::default(), out: Vec::new() };
    if request.contents.first().is_some_and(|content| content.role == Role::Model) {
        messages.out.push(ChatMessage::user(NOTHING_SAID));
    }
    for content in request.contents.iter() {
        match content.role {
            Role::User => messages.user(content)?,
            Role::Model => messages.model(content),
        }
    }
    match request.contents.last().map(|content| content.role) {
        None => messages.out.push(ChatMessage::user(NOTHING_SAID)),
        Some(Role::Model) => messages.out.push(ChatMessage::user(GO_ON)),
        Some(Role::User) => {}
    }
    let mut out = messages.out;
    let system = plan.system(&request.system_instruction);
    let mut chat = match cache::marked(request, plan, &system, &mut out) {
        Some(system) => ChatRequest::new(system.into_iter().chain(out).collect()),
        None if system.is_empty() => ChatRequest::new(out),
        None => ChatRequest::new(out).with_system(system),
    };
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.iter().map(|tool| {
            let (schema, strict) = plan.tool_schema(&tool.parameters);
            let mut out = Tool::new(tool.name.to_string()).with_schema(schema);
            if !tool.description.is_empty() {
                out = out.with_description(tool.description.to_string());
            }
            out.strict = strict;
            out
        }));
    }
    Ok(chat)
}

struct Messages<'a> {
    plan: &'a Plan,
    asked: &'a Asked<'a>,
    ids: Ids,
    out: Vec<ChatMessage>,
}

impl Messages<'_> {
    fn user(&mut self, content: &Content) -> Result<(), ModelError> {
        let mut said = Vec::new();
        let mut results = Vec::new();
        for part in &content.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => said.push(ContentPart::from_text(text)),
                Part::InlineData(blob) => {
                    let data = STANDARD.encode(&blob.data);
                    said.push(self.file(Binary::from_base64(
                        &blob.mime_type,
                        data,
                        blob.display_name.clone(),
                    ))?);
                }
                Part::FileData(file) => {
                    let mime =
                        if file.mime_type.is_empty() { guess(&file.file_uri) } else { &file.mime_type };
                    said.push(self.file(Binary::from_url(mime, &file.file_uri, None))?);
                }
                Part::FunctionResponse(response) => results.push(self.result(response)),
                // A user neither thinks nor calls.
                _ => {}
            }
        }
        if !results.is_empty() {
            self.results(results);
        }
        if !said.is_empty() || content.parts.is_empty() {
            self.out.push(ChatMessage::user(MessageContent::from_parts(said)));
        }
        Ok(())
    }

    /// All results of one turn go into one message, as Anthropic and Bedrock demand, also when they come as
    /// several contents in a row. In Ollama's format genai would keep the last one alone.
    fn results(&mut self, results: Vec<ToolResponse>) {
        if self.plan.family == Family::Ollama {
            self.out.extend(results.into_iter().map(ChatMessage::from));
            return;
        }
        if let Some(last) = self.out.last_mut()
            && matches!(last.role, genai::chat::ChatRole::Tool)
        {
            last.content =
                std::mem::take(&mut last.content).extended(results.into_iter().map(ContentPart::from));
            return;
        }
        self.out.push(ChatMessage::from(results));
    }

    fn result(&mut self, response: &FunctionResponse) -> ToolResponse {
        let id = self.ids.of_response(response, self.plan.family);
        let text = Value::Object(response.response.clone()).to_string();
        ToolResponse::new(id, text).with_fn_name(&response.name)
    }

    fn model(&mut self, content: &Content) {
        let calls = content.function_calls().next().is_some();
        let mut parts = Vec::new();
        for part in &content.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => parts.push(ContentPart::from_text(text)),
                Part::Thought(thought) => parts.extend(self.thought(thought, calls)),
                Part::FunctionCall(call) => parts.push(ContentPart::ToolCall(self.call(call))),
                // No provider takes back the images that it made, in these formats.
                _ => {}
            }
        }
        if !parts.is_empty() {
            self.out.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
        }
    }

    fn call(&mut self, call: &FunctionCall) -> ToolCall {
        ToolCall {
            call_id: self.ids.of_call(call, self.plan.family),
            fn_name: call.name.clone(),
            // Malformed arguments are not repeated to the model: most providers refuse them. The result says it.
            fn_arguments: Value::Object(call.args.clone()),
            thought_signatures: call.signature.clone().map(|signature| vec![signature]),
        }
    }

    /// Thinking goes back only in the form in which this provider wants it; a part that no family takes is
    /// left out, since the provider that made it may be another one.
    fn thought(&self, thought: &Thought, calls: bool) -> Vec<ContentPart> {
        let family = self.plan.family;
        match &thought.signature {
            // A block of the provider that has no form of ours; see `response.rs`.
            Some(block) if block.starts_with("{\"type\":") => {
                let Ok(data) = serde_json::from_str::<Value>(block) else { return Vec::new() };
                let reasoning = data["type"].as_str().is_some_and(|kind| kind.starts_with("reasoning."));
                let ours = match family {
                    Family::Anthropic => !reasoning,
                    Family::OpenAiChat => reasoning,
                    _ => false,
                };
                if ours { vec![ContentPart::from_custom(data, None)] } else { Vec::new() }
            }
            Some(signature) => {
                let signature = ContentPart::ThoughtSignature(signature.clone());
                match family {
                    // Text and signature are one block there, also when the text is empty.
                    Family::Anthropic => vec![signature, ContentPart::ReasoningContent(thought.text.clone())],
                    Family::Gemini | Family::OpenAiResponses => vec![signature],
                    _ => Vec::new(),
                }
            }
            None if calls && !thought.text.is_empty() && family.wants_thoughts_back(self.plan.kind) => {
                vec![ContentPart::ReasoningContent(thought.text.clone())]
            }
            None => Vec::new(),
        }
    }

    /// genai drops what a format cannot carry, with a warning in the log. A model that answers about an image
    /// it was never shown is worse than an error.
    fn file(&self, binary: Binary) -> Result<ContentPart, ModelError> {
        let by_address = matches!(binary.source, genai::chat::BinarySource::Url(_));
        let image = binary.is_image();
        let taken = match self.plan.family {
            Family::Gemini | Family::OpenAiResponses => true,
            Family::OpenAiChat => !by_address || image || binary.is_video(),
            Family::Anthropic if by_address && image => {
                let genai::chat::BinarySource::Url(url) = &binary.source else {
                    return Ok(ContentPart::Binary(binary));
                };
                // genai does not know this block; Anthropic does.
                let block = json!({"type": "image", "source": {"type": "url", "url": url}});
                return Ok(ContentPart::from_custom(block, None));
            }
            Family::Anthropic => !binary.is_audio() && !binary.is_video(),
            Family::Ollama => image && !by_address,
            Family::Other => self.plan.kind != AdapterKind::Cohere && !by_address,
        };
        if taken {
            return Ok(ContentPart::Binary(binary));
        }
        let how = if by_address { "by its address" } else { "as data" };
        let what = format!("it takes no `{}` {how}", binary.content_type);
        Err(self.asked.error(ModelErrorKind::InvalidRequest, &what, ""))
    }
}

/// Ids of calls. Those that the framework made (`adk-...`) mean nothing to a provider.
#[derive(Default)]
struct Ids {
    sent: HashMap<String, String>,
    calls: HashMap<String, usize>,
    responses: HashMap<String, usize>,
}

impl Ids {
    fn of_call(&mut self, call: &FunctionCall, family: Family) -> String {
        if keeps(&call.id, family) {
            return call.id.clone();
        }
        let id = made(&call.name, next(&mut self.calls, &call.name), family);
        self.sent.insert(call.id.clone(), id.clone());
        id
    }

    fn of_response(&mut self, response: &FunctionResponse, family: Family) -> String {
        if keeps(&response.id, family) {
            return response.id.clone();
        }
        let at = next(&mut self.responses, &response.name);
        match self.sent.get(&response.id) {
            Some(id) if !response.id.is_empty() => id.clone(),
            _ => made(&response.name, at, family),
        }
    }
}

/// Gemini gives no ids and matches by order; there the framework's are taken away. The others demand one, and
/// take any.
fn keeps(id: &str, family: Family) -> bool {
    !id.is_empty() && (family != Family::Gemini || !id.starts_with("adk-"))
}

/// This form is what genai itself makes for Gemini, and leaves out of what it sends.
fn made(name: &str, at: usize, family: Family) -> String {
    if family == Family::Gemini { format!("call#{name}#{at}") } else { format!("call_{name}_{at}") }
}

fn next(counts: &mut HashMap<String, usize>, name: &str) -> usize {
    let count = counts.entry(name.to_owned()).or_default();
    *count += 1;
    *count - 1
}

/// The type of a file by the end of its address.
fn guess(uri: &str) -> &'static str {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let end = path.rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default();
    match end.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        _ => "application/octet-stream",
    }
}
