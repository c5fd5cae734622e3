//! An LLM agent in a live run: it answers messages until nobody says anything more, or until it says that it is done.

use super::{LlmAgent, turn};
use crate::event::Event;
use crate::flow::Flow;
use crate::live::LiveInput;
use crate::run::Context;
use crate::{Content, Name, Result};

/// Runs the agent: turn after turn, one for each message. What was said before it in this run it answers first.
///
/// # Errors
/// Those of its turns.
pub(super) async fn run(agent: &LlmAgent, input: LiveInput, cx: &mut Context) -> Result<Flow> {
    let mut spoken_to = spoken_to(cx);
    loop {
        if !spoken_to {
            let next = input.clone().next();
            let message: Option<Content> = cx.step("live", async move { Ok(next.await) }).await?;
            let Some(message) = message else {
                let why = "the queue of the live run was closed before anything was said to it";
                cx.frame.silent.get_or_insert_with(|| why.to_owned());
                return Ok(Flow::Continue);
            };
            let author = Name::literal("user");
            cx.emit(Event { author, ..Event::new().with_content(message) }).await?;
        }
        spoken_to = false;
        let flow = turn::run(agent, cx).await?;
        if flow != Flow::Continue {
            return Ok(flow);
        }
    }
}

/// Whether something was said in this run before this agent began.
fn spoken_to(cx: &Context) -> bool {
    let history = cx.history();
    let mut of_run = history.iter().rev().take_while(|event| event.invocation_id == cx.run_id());
    of_run.any(|event| event.content.as_ref().is_some_and(|content| !content.parts.is_empty()))
}
