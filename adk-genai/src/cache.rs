//! [`mark_cache`]: marks for prompt caches. Most providers cache the longest prefix of a request
//! that they have seen before, and the requests of an agent have identical prefixes from turn to
//! turn. Anthropic caches only the text up to a mark in the request.

use crate::adapter::Family;
use crate::plan::Plan;
use adk_model::Part;
use adk_model::model::ModelRequest;
use genai::adapter::AdapterKind;
use genai::chat::{CacheControl, ChatMessage};

/// Minimum size of a cached prompt in bytes, about 1,024 tokens. To cache a shorter prompt costs as
/// much as the cache saves.
const SHORTEST: usize = 4_096;

/// Marks the end of a conversation that will continue. Returns the system instruction with a mark
/// after its constant part, or `None` if the instruction gets no mark.
pub(crate) fn mark_cache(
    request: &ModelRequest,
    plan: &Plan,
    system: &str,
    messages: &mut [ChatMessage],
) -> Option<Vec<ChatMessage>> {
    if !matches!(plan.kind, AdapterKind::Anthropic | AdapterKind::Vertex)
        || plan.family != Family::Anthropic
    {
        return None;
    }
    let tool = |tool: &adk_model::model::ToolDeclaration| {
        tool.description.len() + tool.parameters.to_string().len()
    };
    let tools: usize = request.tools.iter().map(tool).sum();
    let said: usize = request
        .contents
        .iter()
        .flat_map(|content| &content.parts)
        .map(len)
        .sum();
    // An agent that makes one request would write a cache that is never read.
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
