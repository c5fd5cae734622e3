//! Marks for prompt caches. Most providers cache the longest beginning of a request that they have seen before, and what we send
//! is the same byte for byte from turn to turn. Anthropic caches up to a mark alone.

use crate::adapter::Family;
use crate::plan::Plan;
use adk_core::Part;
use adk_core::model::ModelRequest;
use genai::adapter::AdapterKind;
use genai::chat::{CacheControl, ChatMessage};

/// The shortest prompt that is cached, 1,024 tokens, in bytes. To write a shorter one would cost as much as the mark saves.
const SHORTEST: usize = 4_096;

/// Marks the end of the conversation, where it goes on, and gives the system instruction with a mark at the end of what never
/// changes; `None` where nothing there is marked.
pub(crate) fn marked(
    request: &ModelRequest,
    plan: &Plan,
    system: &str,
    messages: &mut [ChatMessage],
) -> Option<Vec<ChatMessage>> {
    if !matches!(plan.kind, AdapterKind::Anthropic | AdapterKind::Vertex) || plan.family != Family::Anthropic
    {
        return None;
    }
    let tool =
        |tool: &adk_core::model::ToolDeclaration| tool.description.len() + tool.parameters.to_string().len();
    let tools: usize = request.tools.iter().map(tool).sum();
    let said: usize = request.contents.iter().flat_map(|content| &content.parts).map(len).sum();
    // An agent that asks once writes a cache that nobody reads.
    let goes_on = request.contents.len() > 1 || !request.tools.is_empty();
    if goes_on
        && tools + system.len() + said >= SHORTEST
        && let Some(last) = messages.last_mut()
    {
        *last = last.clone().with_options(CacheControl::Ephemeral);
    }
    let fixed = system.floor_char_boundary(request.fixed_len);
    if fixed == 0 || tools + fixed < SHORTEST {
        return None;
    }
    let (fixed, rest) = system.split_at(fixed);
    let mut parts = vec![ChatMessage::system(fixed).with_options(CacheControl::Ephemeral)];
    if !rest.is_empty() {
        parts.push(ChatMessage::system(rest));
    }
    Some(parts)
}

fn len(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::InlineData(blob) => blob.data.len(),
        Part::FunctionResponse(result) => {
            serde_json::to_string(&result.response).map_or(0, |text| text.len())
        }
        _ => 0,
    }
}
