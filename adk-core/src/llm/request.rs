//! What a model is asked: the request of one call.

use super::{IncludeContents, LlmAgent, contents::contents, live, template};
use crate::Result;
use crate::model::{CallInfo, ModelRequest};
use crate::run::Context;

/// Builds the request of a call. The prompt is filled for each call, so it sees what the tools have written.
///
/// # Errors
/// When the prompt reads what is not there.
pub(super) async fn build(agent: &LlmAgent, cx: &mut Context, turn: u32) -> Result<ModelRequest> {
    let mut instruction = template::render(&agent.instruction, cx).await?;
    if let Some(text) = live::instruction(cx) {
        instruction.push_str(if instruction.is_empty() { "" } else { "\n\n" });
        instruction.push_str(text);
    }
    let info = CallInfo { agent: cx.author().clone(), path: cx.path().clone(), run_id: cx.run_id(), turn };
    let history = cx.history();
    if agent.include_contents == IncludeContents::Default {
        history.load().await?;
    }
    Ok(ModelRequest {
        system_instruction: system(&instruction, &info.agent, agent.about.meta().description),
        contents: contents(&history, &info.agent, agent.include_contents),
        tools: agent
            .tools()
            .chain(&live::tool(agent, cx))
            .map(|tool| tool.declaration_dyn().clone())
            .collect(),
        response_schema: agent.schema(),
        config: agent.settings.generation.clone(),
        stream: cx.config().streaming,
        info,
    })
}

/// The agent's own instruction, a blank line, and who it is.
fn system(instruction: &str, name: &str, description: &str) -> String {
    let mut text = String::with_capacity(instruction.len() + description.len() + 96);
    if !instruction.is_empty() {
        text.push_str(instruction);
        text.push_str("\n\n");
    }
    text.push_str(&format!("You are an agent. Your internal name is \"{name}\"."));
    if !description.is_empty() {
        text.push_str(&format!(" The description about you is \"{description}\"."));
    }
    text
}
