//! What a model is asked: the request of one call.

use super::toolbox::Toolbox;
use super::{IncludeContents, LlmAgent, contents::contents, live, respond, transfer};
use crate::Result;
use crate::models::model::{CallInfo, ModelRequest};
use crate::runtime::run::Context;

/// Builds the request of a call. The prompt is filled for each call, so it sees what the tools have written.
///
/// # Errors
/// When the prompt reads what is not there.
pub(super) async fn build(
    agent: &LlmAgent,
    tools: &Toolbox<'_>,
    cx: &mut Context,
    turn: u32,
) -> Result<ModelRequest> {
    let above = cx.above.clone().unwrap_or_default();
    let global = match (&above.global, &agent.global) {
        (Some(global), _) => global.text(cx).await?,
        (None, Some(own)) if !above.is_settled => own.text(cx).await?,
        (None, _) => String::new(),
    };
    let instruction = agent.instruction.render(cx).await?;
    let seat = cx.frame.seat.as_deref();
    let info = CallInfo {
        agent: cx.author().clone(),
        path: cx.path().clone(),
        run_id: cx.run_id(),
        turn,
        handed_over: seat.is_some_and(|seat| seat.handed_over),
    };
    let paragraphs = [
        Some(global),
        Some(instruction),
        live::instruction(cx).map(str::to_owned),
        Some(identity(&info.agent, agent.about.meta().description)),
        tools.responds().then(|| respond::INSTRUCTION.to_owned()),
        transfer::instruction(seat),
    ];
    let paragraphs: Vec<_> = paragraphs.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    let history = cx.history();
    if agent.include_contents == IncludeContents::Default {
        history.load().await?;
    }
    Ok(ModelRequest {
        system_instruction: paragraphs.join("\n\n"),
        contents: contents(&history, &info.agent, agent.include_contents),
        tools: tools.declarations(),
        response_schema: tools.response_schema(),
        config: agent.settings.generation.clone(),
        stream: cx.config().streaming,
        info,
    })
}

/// Who the agent is, in ADK's words.
fn identity(name: &str, description: &str) -> String {
    if description.is_empty() {
        format!("You are an agent. Your internal name is \"{name}\".")
    } else {
        format!(
            "You are an agent. Your internal name is \"{name}\". The description about you is \"{description}\"."
        )
    }
}
