//! Tools that every agent can use.

mod artifacts;
mod memory;

pub use artifacts::load_artifacts;
pub use memory::{load_memory, preload_memory};

use crate::model::ToolDeclaration;
use crate::runtime::tool::{Tool, ToolArgs, ToolContext, ToolError, without_arguments};
use crate::spec::{Labels, ToolMeta};
use serde_json::Value;
use std::sync::LazyLock;

/// Ends the loop. The model calls it only if its instruction requests so, and when the work is
/// done.
///
/// The function is declared as `#[tool] fn exit_loop(cx: &mut ToolContext)`, so
/// `tools: [adk::tools::exit_loop]` lists the tool. Builders take the value `exit_loop::default()`.
/// A call by a model ends the innermost loop that contains its agent. The model does not summarize
/// the result.
///
/// ```
/// # use adk_core as adk;
/// use adk::{DynTool, ToolContext, tools};
/// let tool = tools::exit_loop::default();
/// assert!(tool.meta().may_exit);
/// let mut cx = ToolContext::for_tests();
/// tools::exit_loop(&mut cx);
/// assert!(cx.actions.escalate);
/// ```
pub fn exit_loop(cx: &mut ToolContext) {
    cx.actions.escalate = true;
    cx.actions.skip_summarization = true;
}

/// The function [`exit_loop()`] as a tool.
#[allow(non_camel_case_types, reason = "a tool and its function share a name")]
#[derive(Clone, Copy, Debug, Default)]
pub struct exit_loop {}

impl Tool for exit_loop {
    const META: ToolMeta<'static> = ToolMeta::new(
        "exit_loop",
        "Ends the loop. Call it only when you have been told to, and the work is done.",
    )
    .may_exit(true)
    .labels(Labels::LOCAL);

    fn declaration(&self) -> &ToolDeclaration {
        static DECLARATION: LazyLock<ToolDeclaration> =
            LazyLock::new(|| without_arguments(&exit_loop::META));
        &DECLARATION
    }

    async fn call(&self, _: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        exit_loop(cx);
        Ok(Value::Null)
    }
}
