//! The tools [`load_memory`] and [`preload_memory`].

use crate::encode::to_json;
use crate::memory::MemoryEntry;
use crate::model::{ModelRequest, ToolDeclaration};
use crate::runtime::callback::CallbackContext;
use crate::runtime::tool::{
    ProcessRequest, Tool, ToolArgs, ToolContext, ToolError, append_instruction, without_arguments,
};
use crate::spec::ToolMeta;
use crate::{BoxFuture, Result};
use adk_spec::__private::SHOWS_MEMORY;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Loads the memory for the current user. The model searches messages of earlier sessions.
///
/// The tool needs a [`MemoryService`](crate::memory::MemoryService). The result is
/// `{"memories": [...]}` with at most [`MAX_MEMORIES`](crate::memory::MAX_MEMORIES) entries, each
/// with `content`, `author` and `timestamp`.
#[allow(non_camel_case_types, reason = "the name that it has in `tools`")]
#[derive(Clone, Copy, Debug, Default)]
pub struct load_memory {}

/// ADK's instruction, like the other texts for models in this file.
const LOAD_INSTRUCTION: &str = "You have memory. You can use it to answer questions. If any \
    questions need\nyou to look up the memory, you should call load_memory function with a query.";

impl Tool for load_memory {
    const META: ToolMeta<'static> =
        ToolMeta::new("load_memory", "Loads the memory for the current user.").labels(SHOWS_MEMORY);

    fn declaration(&self) -> &ToolDeclaration {
        static DECLARATION: LazyLock<ToolDeclaration> = LazyLock::new(|| {
            let query = json!({
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            });
            ToolDeclaration::new(load_memory::META.name, load_memory::META.description, query)
        });
        &DECLARATION
    }

    async fn call(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        let Some(Value::String(query)) = args.get("query") else {
            return Err(ToolError::argument(
                "argument `query` is missing: expected a text",
            ));
        };
        let memories = cx.search_memory(query).await?;
        Ok(json!({"memories": to_json(&memories).unwrap_or_default()}))
    }

    fn processor(&self) -> Option<&dyn ProcessRequest> {
        Some(self)
    }
}

impl ProcessRequest for load_memory {
    fn process_request<'a>(
        &'a self,
        request: &'a mut ModelRequest,
        cx: &'a mut CallbackContext,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            cx.services().memory()?;
            append_instruction(request, LOAD_INSTRUCTION);
            Ok(())
        })
    }
}

/// Searches the memory of the user for the last message of the user in the run. Adds the result to
/// the system instruction of each model call of the agent. The model does not see a tool.
///
/// The tool needs a [`MemoryService`](crate::memory::MemoryService). The search is recorded: a
/// resumed run has the same result.
#[allow(non_camel_case_types, reason = "the name that it has in `tools`")]
#[derive(Clone, Copy, Debug, Default)]
pub struct preload_memory {}

impl Tool for preload_memory {
    const META: ToolMeta<'static> =
        ToolMeta::new("preload_memory", "preload_memory").labels(SHOWS_MEMORY);

    fn declaration(&self) -> &ToolDeclaration {
        static DECLARATION: LazyLock<ToolDeclaration> =
            LazyLock::new(|| without_arguments(&preload_memory::META));
        &DECLARATION
    }

    async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<Value, ToolError> {
        Err(ToolError::failed(
            "`preload_memory` cannot be called: what it finds is in the instruction",
        ))
    }

    fn processor(&self) -> Option<&dyn ProcessRequest> {
        Some(self)
    }
}

impl ProcessRequest for preload_memory {
    fn is_declared(&self) -> bool {
        false
    }

    fn process_request<'a>(
        &'a self,
        request: &'a mut ModelRequest,
        cx: &'a mut CallbackContext,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            cx.services().memory()?;
            let Some(message) = cx.user_content() else {
                return Ok(());
            };
            let found = cx.search_memory(&message.text()).await?;
            if !found.is_empty() {
                append_instruction(request, &past_conversations(&found));
            }
            Ok(())
        })
    }
}

fn past_conversations(memories: &[MemoryEntry]) -> String {
    let mut text = "The following content is from your previous conversations with the user.\n\
        They may be useful for answering the user's current query.\n<PAST_CONVERSATIONS>\n"
        .to_owned();
    for MemoryEntry {
        content,
        author,
        timestamp,
        ..
    } in memories
    {
        // Writes to a string cannot fail. A message cannot end the block, because the end tag is
        // replaced.
        let message = content.text().replace(END, "</past_conversations>");
        let _ = if timestamp.is_empty() {
            Ok(())
        } else {
            writeln!(text, "Time: {timestamp}")
        };
        let _ = if author.is_empty() {
            writeln!(text, "{message}")
        } else {
            writeln!(text, "{author}: {message}")
        };
    }
    text + END
}

const END: &str = "</PAST_CONVERSATIONS>";
