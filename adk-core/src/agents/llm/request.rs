//! [`build`]: the request of one model call.

mod contents;
mod summary;

pub(super) use contents::OWN_ID;
pub(super) use summary::SummaryRequest;

use self::contents::{contents, summarized_contents, turn_contents};
use super::agent::{IncludeContents, LlmAgent};
use super::toolbox::{Toolbox, respond, transfer};
use crate::Result;
use crate::model::{CallInfo, ModelRequest};
use crate::runtime::run::{Context, PromptSource as _};
use std::sync::Arc;

/// The version of the text that this crate adds to requests around the text of the user: the
/// sentences on the agent's name, on handovers, on typed answers and on messages of other agents.
/// A change of that text makes the digests of recorded requests incomparable.
pub const FRAME: u32 = 1;

/// Separates the paragraphs of a system instruction.
const GAP: &str = "\n\n";

/// Builds the request of a call. The prompt is rendered for each call, so it contains the writes of
/// tools.
///
/// # Errors
/// Fails if the prompt reads a missing value.
pub(super) async fn build(
    agent: &LlmAgent,
    tools: &Toolbox<'_>,
    cx: &mut Context,
    turn: u32,
) -> Result<Arc<ModelRequest>> {
    let above = cx.around.inherited.clone();
    let above = above.as_deref();
    let is_settled = above.is_some_and(|above| above.is_settled);
    let own = agent.global.as_ref().filter(|_| !is_settled);
    let global = above.and_then(|above| above.global.as_ref());
    let (global, global_fixed) = match (global, own) {
        (Some(global), _) => (global.text(cx).await?, global.prompt.fixed_len()),
        (None, Some(own)) => (own.text(cx).await?, own.fixed_len()),
        (None, None) => (String::new(), None),
    };
    let instruction = agent.instruction.render(cx).await?;
    let before = if global.is_empty() {
        0
    } else {
        global.len() + GAP.len()
    };
    let fixed = global_fixed.or_else(|| agent.instruction.fixed_len().map(|fixed| before + fixed));
    let info = info(turn, cx);
    let paragraphs = [
        Some(global),
        Some(instruction),
        transfer::live_instruction(cx).map(str::to_owned),
        Some(identity(&info.agent, agent.description.meta().description)),
        tools
            .has_answer_tool()
            .then(|| respond::INSTRUCTION.to_owned()),
        transfer::instruction(cx.frame.handovers.as_deref()),
    ];
    let paragraphs: Vec<_> = paragraphs
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    let history = cx.log();
    let rules = cx.run.guard_rules();
    // Boxed, because the log is read only for a moment, and the agent's future lives for the
    // duration of the call.
    let contents = match agent.compact {
        Some(_) => Box::pin(summarized_contents(&history, &info.agent, rules)).await?,
        None if agent.include_contents == IncludeContents::Prompt
            && cx.run.kind.live().is_none() =>
        {
            Box::pin(turn_contents(&history, &info, rules)).await?
        }
        None => {
            Box::pin(contents(
                &history,
                &info.agent,
                agent.include_contents,
                rules,
            ))
            .await?
        }
    };
    let system_instruction = paragraphs.join(GAP);
    let (contents, shown) = contents;
    if let Some(cell) = cx.cell() {
        cell.join(shown);
    }
    // Built where it stays, because each future that passes a request on would copy it.
    let mut shared = Arc::<ModelRequest>::default();
    let request = Arc::make_mut(&mut shared);
    request.fixed_len = fixed.unwrap_or(system_instruction.len());
    request.system_instruction = system_instruction;
    request.contents = contents;
    request.tools = tools.declarations();
    request.provider_tools = tools.provider_tools(cx);
    request.response_schema = tools.response_schema();
    request.config = agent.settings.generation.clone();
    request.stream = cx.config().streaming;
    request.info = info;
    Ok(shared)
}

/// Returns the agent, path, run and turn of a model call.
pub(super) fn info(turn: u32, cx: &Context) -> CallInfo {
    let mut info = CallInfo::default();
    info.agent = cx.author().clone();
    info.path = cx.path().clone();
    info.run_id = cx.run_id();
    info.turn = turn;
    info.handed_over = cx
        .frame
        .handovers
        .as_deref()
        .is_some_and(|handovers| handovers.handed_over);
    info
}

/// Returns ADK's paragraph on the name and the description of an agent.
fn identity(name: &str, description: &str) -> String {
    if description.is_empty() {
        format!("You are an agent. Your internal name is \"{name}\".")
    } else {
        format!(
            "You are an agent. Your internal name is \"{name}\". The description about you is \
             \"{description}\"."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::Digest;

    #[test]
    fn a_change_of_the_frame_raises_its_version() {
        let frame = [
            &identity("a", ""),
            &identity("a", "d"),
            respond::INSTRUCTION,
            contents::CONTEXT,
            contents::BEGIN,
            contents::END,
            contents::SUMMARY,
        ];
        let known = (1, "c9a247a24fc184348fad018507a33eb0".to_owned());
        assert_eq!(
            (FRAME, Digest::new(&frame).to_string()),
            known,
            "raise `FRAME`"
        );
    }
}
