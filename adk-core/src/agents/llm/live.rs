//! LLM agents in a live run: an agent answers messages until the queue is closed, or until its task
//! is completed.

use super::agent::LlmAgent;
use super::toolbox::transfer::TASK_COMPLETED;
use super::turn;
use crate::Flow;
use crate::runtime::live::LiveInput;
use crate::runtime::run::{Context, NothingWritten};
use crate::store::engine::{CallInputs, CallKind};
use crate::store::event::Event;
use crate::{Content, ErrorKind, Name, Result};

/// Runs the agent in one turn per message. Messages of this run from before the agent started are
/// answered first.
///
/// # Errors
/// Returns the errors of its turns.
pub(super) async fn run(agent: &LlmAgent, input: LiveInput, cx: &mut Context) -> Result<Flow> {
    let mut is_addressed = has_message(cx);
    loop {
        if !is_addressed {
            let next = input.clone().next();
            let message: Option<Content> = cx
                .recorded_call(
                    CallKind::Live,
                    Name::literal("live"),
                    CallInputs::default(),
                    async move { Ok(next.await) },
                )
                .await?;
            let Some(message) = message else {
                cx.frame.unwritten.get_or_insert_with(|| NothingWritten {
                    kind: ErrorKind::KeyNotWritten,
                    why: "the queue of the live run was closed before the agent received a message"
                        .into(),
                    help: "send a message before you close the queue",
                });
                return Ok(Flow::Continue);
            };
            let author = Name::literal("user");
            cx.say_message();
            cx.emit(Event {
                author,
                ..Event::new().with_content(message)
            })
            .await?;
        }
        is_addressed = false;
        let flow = turn::run(agent, cx).await?;
        if flow != Flow::Continue || is_done(cx) {
            return Ok(flow);
        }
    }
}

/// Reports whether the run had a message before this agent started.
fn has_message(cx: &Context) -> bool {
    let history = cx.log();
    let mut of_run = history
        .iter()
        .rev()
        .take_while(|event| event.invocation_id == cx.run_id());
    of_run.any(|event| {
        event
            .content
            .as_ref()
            .is_some_and(|content| !content.parts.is_empty())
    })
}

/// Reports whether the last turn called `task_completed`.
fn is_done(cx: &Context) -> bool {
    let history = cx.log();
    let turn = history
        .iter()
        .rev()
        .take_while(|event| event.author != "user" && event.path == *cx.path());
    turn.flat_map(|event| event.function_responses())
        .any(|answer| answer.name == TASK_COMPLETED)
}
