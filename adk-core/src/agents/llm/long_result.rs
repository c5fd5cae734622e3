//! [`ResultLimit`]: truncation of long tool results. The model reads the beginning of a long
//! result; an artifact contains the whole result.

use super::toolbox::Toolbox;
use crate::Result;
use crate::runtime::run::{CallStep, Context};
use crate::runtime::tool::ToolContext;
use crate::{FunctionCall, Part};
use adk_spec::hash::hash;
use serde_json::{Value, json};

/// The limit for the result of one call.
pub(super) struct ResultLimit {
    /// Maximum length in bytes.
    most: usize,
    /// The beginning of the artifact's name. A repeated call saves under the same name.
    name: String,
    /// Whether the agent has the tool `load_artifacts`.
    loads: bool,
}

impl ResultLimit {
    /// Creates the limit for the result of `call`; `None` if the run has no limit.
    pub(super) fn new(
        tools: &Toolbox<'_>,
        call: &FunctionCall,
        step: &CallStep,
        cx: &Context,
    ) -> Option<Self> {
        let most = cx.config().max_tool_result?;
        let number = hash(&format!("{}/{}:{step}", cx.run_id(), cx.path()));
        let loads = tools.get("load_artifacts").is_some();
        Some(Self {
            most: most as usize,
            name: format!("{}_{number:016x}", call.name),
            loads,
        })
    }

    /// Returns the result that the model reads.
    ///
    /// # Errors
    /// Fails if the artifact cannot be saved.
    pub(super) async fn apply(
        self,
        result: Result<Value, String>,
        own: &mut ToolContext,
    ) -> Result<Result<Value, String>> {
        let Self { most, name, loads } = self;
        let (text, end) = match &result {
            Ok(Value::String(text)) | Err(text) => (text.clone(), "txt"),
            Ok(value) => (value.to_string(), "json"),
        };
        if text.len() <= most {
            return Ok(result);
        }
        let name = format!("{name}.{end}");
        let head = &text[..text.floor_char_boundary(most)];
        let (shown, len) = (head.len(), text.len());
        let how = if loads {
            ": call `load_artifacts` with that name to read it"
        } else {
            ""
        };
        let note = format!(
            "These are the first {shown} of {len} bytes. All of the result is in the artifact \
             `{name}`{how}."
        );
        let cut = match result {
            Ok(_) => Ok(json!({"result": head, "truncated": note})),
            Err(_) => Err(format!("{head} ... ({note})")),
        };
        own.artifacts().save(name, Part::Text(text)).await?;
        Ok(cut)
    }
}
