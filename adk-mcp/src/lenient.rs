//! Lists, results and prompts with parts that the protocol does not have, or that miss a field. The
//! rest is kept, and the part is named.

use rmcp::model::{CallToolResult, ContentBlock, ListToolsResult, PromptMessage, Role, Tool};
use serde_json::{Value, json};

/// Reads a page of tools without the tools that cannot be read. The log names those tools.
pub(crate) fn page(mut page: Value) -> Option<ListToolsResult> {
    page.get_mut("tools")?.as_array_mut()?.retain(|tool| {
        let read = serde_json::from_value::<Tool>(tool.clone());
        if let Err(error) = &read {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            tracing::warn!("the tool `{name:.100}` of an MCP server is left out: {error}");
        }
        read.is_ok()
    });
    serde_json::from_value(page).ok()
}

/// Reads a result with a text in place of each part that cannot be read.
pub(crate) fn result(mut result: Value) -> Option<CallToolResult> {
    for part in result.get_mut("content")?.as_array_mut()? {
        if let Err(text) = part_or_note(part) {
            *part = json!({"type": "text", "text": text});
        }
    }
    serde_json::from_value(result).ok()
}

/// Reads the messages of a prompt, with a text in place of each part that cannot be read. A message
/// with an unknown role counts as one of the user.
pub(crate) fn messages(prompt: &Value) -> Option<Vec<PromptMessage>> {
    let read = |message: &Value| {
        serde_json::from_value(message.clone()).unwrap_or_else(|_| {
            let part = part_or_note(message.get("content").unwrap_or(&Value::Null));
            PromptMessage::new(Role::User, part.unwrap_or_else(ContentBlock::text))
        })
    };
    let messages = prompt.get("messages")?.as_array()?;
    Some(messages.iter().map(read).collect())
}

/// Reads a part. The error is the text that stands in place of a part that cannot be read.
fn part_or_note(part: &Value) -> Result<ContentBlock, String> {
    serde_json::from_value(part.clone()).map_err(|_| {
        let kind = part
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("unknown");
        format!("[a part of type `{kind:.100}` is left out: it cannot be read]")
    })
}
