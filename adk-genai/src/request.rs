//! [`translate`]: converts a request to the types of genai.

use crate::adapter::Family;
use crate::cache;
use crate::error::ErrorContext;
use crate::plan::Plan;
use crate::provider_tool::{function_tool, provider_tool};
use adk_model::model::{ModelError, ModelErrorKind, ModelRequest};
use adk_model::{Content, FunctionCall, FunctionResponse, Part, Role, Thought};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genai::adapter::AdapterKind;
use genai::chat::{
    Binary, ChatMessage, ChatRequest, ContentPart, MessageContent, ToolCall, ToolResponse,
};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Message for a conversation that is empty or begins with the model, as in ADK. Providers reject
/// such a conversation, which occurs if an agent sees only its own calls.
const NOTHING_SAID: &str = "Handle the requests as specified in the System Instruction.";
/// Message after a conversation that ends with the model, as in ADK.
const GO_ON: &str = "Continue processing previous requests as instructed. Exit or provide a \
    summary if no more outputs are needed.";

/// Translates the conversation and the tools.
///
/// # Errors
/// Fails if the provider does not accept one of the parts.
pub(crate) fn translate(
    request: &ModelRequest,
    plan: &Plan,
    context: &ErrorContext<'_>,
) -> Result<ChatRequest, ModelError> {
    if plan.kind == AdapterKind::Cohere && !request.tools.is_empty() {
        // genai would drop the tools.
        return Err(context.error(
            ModelErrorKind::InvalidRequest,
            "this format does not support tools",
            "",
        ));
    }
    let mut messages = Messages {
        plan,
        context,
        ids: Ids::default(),
        out: Vec::new(),
    };
    if request
        .contents
        .first()
        .is_some_and(|content| content.role == Role::Model)
    {
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
    let mut chat = match cache::mark_cache(request, plan, &system, &mut out) {
        Some(system) => ChatRequest::new(system.into_iter().chain(out).collect()),
        None if system.is_empty() => ChatRequest::new(out),
        None => ChatRequest::new(out).with_system(system),
    };
    let functions = request.tools.iter();
    let functions = functions.map(|tool| function_tool(tool, plan, context));
    let beside_functions = !request.tools.is_empty();
    let at_provider = request.provider_tools.iter();
    let at_provider =
        at_provider.map(|name| provider_tool(name, plan.kind, beside_functions, context));
    let tools = at_provider
        .chain(functions)
        .collect::<Result<Vec<_>, _>>()?;
    if !tools.is_empty() {
        chat = chat.with_tools(tools);
    }
    Ok(chat)
}

struct Messages<'a> {
    plan: &'a Plan,
    context: &'a ErrorContext<'a>,
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
                    let mime = if file.mime_type.is_empty() {
                        guess(&file.file_uri)
                    } else {
                        &file.mime_type
                    };
                    said.push(self.file(Binary::from_url(mime, &file.file_uri, None))?);
                }
                Part::FunctionResponse(response) => results.push(self.result(response)),
                // Contents of the user contain neither thoughts nor calls, so nothing is left out.
                _ => {}
            }
        }
        if !results.is_empty() {
            self.results(results);
        }
        if !said.is_empty() || content.parts.is_empty() {
            self.out
                .push(ChatMessage::user(MessageContent::from_parts(said)));
        }
        Ok(())
    }

    /// Adds all tool results of one turn to one message, as Anthropic and Bedrock require, even if
    /// they are in several contents. In Ollama's format, genai would keep only the last result of a
    /// message, so each result gets its own message.
    fn results(&mut self, results: Vec<ToolResponse>) {
        if self.plan.family == Family::Ollama {
            self.out.extend(results.into_iter().map(ChatMessage::from));
            return;
        }
        if let Some(last) = self.out.last_mut()
            && matches!(last.role, genai::chat::ChatRole::Tool)
        {
            last.content = std::mem::take(&mut last.content)
                .extended(results.into_iter().map(ContentPart::from));
            return;
        }
        self.out.push(ChatMessage::from(results));
    }

    fn result(&mut self, response: &FunctionResponse) -> ToolResponse {
        let id = self.ids.of_response(response, self.plan);
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
                // No provider accepts images of its own model in these formats, so they are left
                // out.
                _ => {}
            }
        }
        if !parts.is_empty() {
            self.out
                .push(ChatMessage::assistant(MessageContent::from_parts(parts)));
        }
    }

    fn call(&mut self, call: &FunctionCall) -> ToolCall {
        // Only Gemini signs calls.
        let signature = call
            .signature
            .as_deref()
            .filter(|_| self.plan.family == Family::Gemini)
            .and_then(|signature| self.plan.unmark(signature));
        ToolCall {
            call_id: self.ids.of_call(call, self.plan),
            fn_name: call.name.clone(),
            // Most providers reject malformed arguments, so they are not repeated; the result
            // reports the error.
            fn_arguments: Value::Object(call.args.clone()),
            thought_signatures: signature.map(|signature| vec![signature.to_owned()]),
        }
    }

    /// Converts a thought to the form that this provider requires. Drops a thought that another
    /// provider signed.
    fn thought(&self, thought: &Thought, calls: bool) -> Vec<ContentPart> {
        let family = self.plan.family;
        let Some(signature) = &thought.signature else {
            let wanted =
                calls && !thought.text.is_empty() && family.wants_thoughts_back(self.plan.kind);
            let reasoning = wanted.then(|| ContentPart::ReasoningContent(thought.text.clone()));
            return reasoning.into_iter().collect();
        };
        let Some(signature) = self.plan.unmark(signature) else {
            return Vec::new();
        };
        // A provider's block that has no form in ADK; see `response.rs`.
        if signature.starts_with('{') {
            let block = serde_json::from_str::<Value>(signature).ok();
            return block
                .map(|block| ContentPart::from_custom(block, None))
                .into_iter()
                .collect();
        }
        let signature = ContentPart::ThoughtSignature(signature.to_owned());
        match family {
            // Text and signature form one block in this format, even if the text is empty.
            Family::Anthropic => vec![
                signature,
                ContentPart::ReasoningContent(thought.text.clone()),
            ],
            Family::Gemini | Family::OpenAiResponses => vec![signature],
            _ => Vec::new(),
        }
    }

    /// Converts a file. Fails for files that the format does not support, because genai would drop
    /// them with only a warning in the log, and the model would answer about an image that it has
    /// not seen.
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
                // genai does not support this block, but Anthropic does.
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
        let how = if by_address {
            "by its address"
        } else {
            "as data"
        };
        let what = format!(
            "the provider does not accept `{}` {how}",
            binary.content_type
        );
        Err(self
            .context
            .error(ModelErrorKind::InvalidRequest, &what, ""))
    }
}

/// Ids of calls. A conversation may contain ids of other providers, and ids that the framework
/// created (`adk-...`).
#[derive(Default)]
struct Ids {
    /// Sent ids of calls whose ids are replaced.
    sent: HashMap<String, String>,
    used: HashSet<String>,
    /// Number of ids that are numbers.
    replaced: usize,
    calls: HashMap<String, usize>,
    responses: HashMap<String, usize>,
}

impl Ids {
    fn of_call(&mut self, call: &FunctionCall, plan: &Plan) -> String {
        if keeps_id(&call.id, plan) && self.used.insert(call.id.clone()) {
            self.sent.remove(&call.id);
            return call.id.clone();
        }
        let at = next(&mut self.calls, &call.name);
        let mut id = call_id(&call.name, at, plan.family);
        if !fits(&id, plan) {
            id = format!("call{:05}", self.replaced);
            self.replaced += 1;
        }
        self.sent
            .insert(sent_key(&call.id, &call.name, at), id.clone());
        id
    }

    fn of_response(&mut self, response: &FunctionResponse, plan: &Plan) -> String {
        let FunctionResponse { id, name, .. } = response;
        if !self.sent.contains_key(id) && keeps_id(id, plan) {
            return id.clone();
        }
        let at = next(&mut self.responses, name);
        let sent = self.sent.get(&sent_key(id, name, at)).cloned();
        sent.unwrap_or_else(|| call_id(name, at, plan.family))
    }
}

/// Returns the key of a replaced id. A call without an id is found by its name and number.
fn sent_key(id: &str, name: &str, at: usize) -> String {
    if id.is_empty() {
        format!("#{name}#{at}")
    } else {
        id.to_owned()
    }
}

/// Reports whether an id is sent. Gemini has no ids and matches by order, so ids of the framework
/// are removed there.
fn keeps_id(id: &str, plan: &Plan) -> bool {
    match plan.family {
        Family::Gemini => !id.is_empty() && !id.starts_with("adk-"),
        _ => fits(id, plan),
    }
}

/// Reports whether a provider accepts an id.
fn fits(id: &str, plan: &Plan) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let longest = match (plan.family, plan.kind) {
        (_, AdapterKind::Mistral) => {
            return id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        }
        (Family::Gemini | Family::Ollama, _) => return true,
        // OpenAI limits only the length. Other servers with this format expect their own ids,
        // such as `functions.NAME:0`.
        (Family::OpenAiChat, _) => return (1..=40).contains(&id.len()),
        (Family::OpenAiResponses | Family::Anthropic | Family::Other, _) => 64,
    };
    (1..=longest).contains(&id.len()) && id.bytes().all(is_word)
}

/// Returns an id for a provider. For Gemini it has genai's own form, which genai removes from the
/// request.
fn call_id(name: &str, at: usize, family: Family) -> String {
    if family == Family::Gemini {
        format!("call#{name}#{at}")
    } else {
        format!("call_{name}_{at}")
    }
}

fn next(counts: &mut HashMap<String, usize>, name: &str) -> usize {
    let count = counts.entry(name.to_owned()).or_default();
    *count += 1;
    *count - 1
}

/// Guesses the media type of a file by the extension of its URL.
fn guess(uri: &str) -> &'static str {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let end = path
        .rsplit_once('.')
        .map(|(_, end)| end.to_lowercase())
        .unwrap_or_default();
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
