//! Conversion of a call's result for the model. Binary content is saved as artifacts.

use crate::limits::Limits;
use adk_core::{ErrorKind, Part, ToolContext};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

/// Converts a result.
///
/// # Errors
/// Fails if the server reports a failed call, or if the result is too large.
pub(crate) async fn value(
    tool: &str,
    result: CallToolResult,
    limits: &Limits,
    cx: &mut ToolContext,
) -> Result<Value, String> {
    let CallToolResult {
        content,
        structured_content,
        is_error,
        ..
    } = result;
    let bytes = structured_content
        .as_ref()
        .map_or(0, |value| value.to_string().len())
        + content.iter().map(size).sum::<usize>();
    if bytes > limits.result_bytes {
        let most = limits.result_bytes;
        return Err(format!(
            "the result has {bytes} bytes, the limit is {most}; help: request a smaller result"
        ));
    }
    let mut texts = Vec::new();
    let mut files = Vec::new();
    for block in content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) => files.push((image.mime_type, image.data)),
            ContentBlock::Audio(audio) => files.push((audio.mime_type, audio.data)),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    texts.push(format!("{uri}:\n{text}"));
                }
                ResourceContents::BlobResourceContents {
                    mime_type, blob, ..
                } => {
                    files.push((mime_type.unwrap_or_default(), blob));
                }
                _ => {}
            },
            ContentBlock::ResourceLink(link) => texts.push(format!("{} ({})", link.uri, link.name)),
            _ => {}
        }
    }
    let text = texts.join("\n");
    if is_error == Some(true) {
        let silent = "the call failed, and the server gave no reason";
        return Err(if text.is_empty() {
            silent.to_owned()
        } else {
            text
        });
    }
    let said = structured_content.unwrap_or(Value::String(text));
    if files.is_empty() {
        return Ok(said);
    }
    let mut saved = Vec::with_capacity(files.len());
    for (number, (kind, data)) in files.into_iter().enumerate() {
        saved.push(save(tool, number, kind, &data, cx).await?);
    }
    Ok(json!({"result": said, "artifacts": saved}))
}

fn size(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        ContentBlock::Resource(embedded) => resource_size(&embedded.resource),
        ContentBlock::ResourceLink(link) => link.uri.len() + link.name.len(),
        _ => 0,
    }
}

pub(crate) fn resource_size(resource: &ResourceContents) -> usize {
    match resource {
        ResourceContents::TextResourceContents { uri, text, .. } => uri.len() + text.len(),
        ResourceContents::BlobResourceContents { uri, blob, .. } => uri.len() + blob.len(),
        _ => 0,
    }
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Saves a file, and returns the description that the model reads.
async fn save(
    tool: &str,
    number: usize,
    kind: String,
    data: &str,
    cx: &mut ToolContext,
) -> Result<Value, String> {
    let Some(data) = decode(data) else {
        return Err("the server sent a file that is not valid base64".to_owned());
    };
    let kind = if kind.is_empty() {
        "application/octet-stream".to_owned()
    } else {
        kind
    };
    let name = format!("{tool}-{}-{number}", cx.call_id());
    let (size, part) = (data.len(), Part::inline_data(&*kind, data));
    match cx.artifacts().save(name.clone(), part).await {
        Ok(_) => Ok(json!({"name": name, "mimeType": kind, "bytes": size})),
        // The text of the result is useful without the file.
        Err(error) if error.kind() == ErrorKind::NoArtifactStore => {
            let why = "this runner has no artifact store";
            Ok(json!({"mimeType": kind, "bytes": size, "omitted": why}))
        }
        Err(error) => Err(error.to_string()),
    }
}
