//! Lists and results with parts that the protocol does not have, or that miss a field. The rest is
//! kept, and the part is named.

use rmcp::model::{CallToolResult, ContentBlock, ListToolsResult, Tool};
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
        if serde_json::from_value::<ContentBlock>(part.clone()).is_err() {
            let kind = part
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("unknown");
            let text = format!("[a part of type `{kind:.100}` is left out: it cannot be read]");
            *part = json!({"type": "text", "text": text});
        }
    }
    serde_json::from_value(result).ok()
}
