//! LLM agents in a live run: an agent answers messages until the queue is closed, or until its task
//! is completed.

use super::{LlmAgent, turn};
use crate::Flow;
use crate::model::ToolDeclaration;
use crate::runtime::live::LiveInput;
use crate::runtime::run::{Context, NothingWritten};
use crate::runtime::tool::{DynTool, Tool, ToolArgs, ToolContext, ToolError, without_arguments};
use crate::spec::ToolMeta;
use crate::store::engine::{CallInputs, CallKind};
use crate::store::event::Event;
use crate::{Content, ErrorKind, Name, Result};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The tool through which an agent hands over to the next agent; the name is ADK's.
pub(super) const TASK_COMPLETED: &str = "task_completed";

/// An additional instruction for agents that have the tool `task_completed`.
const HAND_OVER: &str = "Once you have done what your instruction and your description ask for, \
    call the tool `task_completed` and write nothing with that call: the next agent then takes \
    over the conversation.";

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
    let history = cx.history();
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
    let history = cx.history();
    let turn = history
        .iter()
        .rev()
        .take_while(|event| event.author != "user" && event.path == *cx.path());
    turn.flat_map(|event| event.function_responses())
        .any(|answer| answer.name == TASK_COMPLETED)
}

/// Returns the instruction for an agent in a live run, unless the agent is the whole workflow.
pub(super) fn instruction(cx: &Context) -> Option<&'static str> {
    (cx.run.kind.live().is_some() && cx.path().parent().is_some()).then_some(HAND_OVER)
}

/// Returns the tool for an agent in a live run. The tool is valid for this run only, because all
/// runs share the agent.
pub(super) fn tool(agent: &LlmAgent, cx: &Context) -> Option<Arc<dyn DynTool>> {
    let own = agent
        .tools()
        .any(|tool| *tool.declaration_dyn().name == *TASK_COMPLETED);
    instruction(cx)
        .filter(|_| !own)
        .map(|_| Arc::new(TaskCompleted) as Arc<dyn DynTool>)
}

/// Ends the turn of an agent in a live run.
struct TaskCompleted;

impl Tool for TaskCompleted {
    const META: ToolMeta<'static> = ToolMeta::new(
        TASK_COMPLETED,
        "Says that your task is done, and hands the conversation over to the next agent.",
    );

    fn declaration(&self) -> &ToolDeclaration {
        static DECLARATION: LazyLock<ToolDeclaration> =
            LazyLock::new(|| without_arguments(&TaskCompleted::META));
        &DECLARATION
    }

    async fn call(&self, _: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        cx.actions.skip_summarization = true;
        Ok(Value::from("The task is completed."))
    }
}
