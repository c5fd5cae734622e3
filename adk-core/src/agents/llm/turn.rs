//! The turn of an LLM agent: it calls the model, executes tool calls and repeats, until a reply has
//! no tool calls.

use super::agent::LlmAgent;
use super::answer::reply::{FittingReply, Reply};
use super::answer::{self, ModelAnswer, Repair, call, no_answer};
use super::results::{self, CallResponses};
use super::toolbox::transfer::{self, TASK_COMPLETED};
use super::toolbox::{Toolbox, respond};
use super::{calls, compact, request};
use crate::Flow;
use crate::model::ModelResponse;
use crate::runtime::run::{Context, ModelChain, Shown};
use crate::runtime::tool::ToolActions;
use crate::store::engine::CallKind;
use crate::store::event::Event;
use crate::{Error, ErrorKind, FunctionCall, Part, Result};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// A running turn.
struct LlmTurn<'a> {
    agent: &'a LlmAgent,
    models: ModelChain,
    tools: Toolbox<'a>,
    /// Number of model calls so far.
    number: u32,
    repair: Repair,
    call_ids: HashSet<String>,
    was_cut_off: bool,
    /// Calls whose responses come from outside.
    open: Vec<Arc<FunctionCall>>,
    /// Actions that callbacks requested since the last reply.
    asked: ToolActions,
    flow: Flow,
}

/// Runs a turn.
///
/// # Errors
/// See the crate's `ErrorKind`: a call that failed permanently, a placeholder without a value, an
/// answer that does not fit its type, too many calls, or an output key that was not written.
pub(super) async fn run(agent: &LlmAgent, cx: &mut Context) -> Result<Flow> {
    // Rare work is boxed, because the allocator serves futures below 1 KB faster.
    let mut turn = Box::new(LlmTurn::new(agent, cx)?);
    loop {
        turn.tools.refresh(cx).await?;
        let answer = turn.fitting_reply(cx).await?;
        let Reply {
            event,
            calls,
            is_cut_off,
            ..
        } = turn.read_reply(answer, cx);
        if calls.is_empty() && cx.cell().is_some() && agent.answers_closed() {
            cx.show(Shown::Closed);
        }
        cx.emit(event).await?;
        if is_cut_off {
            Box::pin(turn.report_cut_off(&calls, cx)).await?;
            continue;
        }
        let is_last = calls.is_empty() || Box::pin(turn.run_calls(&calls, cx)).await?;
        if is_last && turn.open.is_empty() {
            return Ok(turn.flow);
        }
        if is_last {
            Box::pin(results::wait_for_responses(
                std::mem::take(&mut turn.open),
                cx,
            ))
            .await?;
        }
    }
}

impl<'a> LlmTurn<'a> {
    fn new(agent: &'a LlmAgent, cx: &Context) -> Result<Self> {
        let models = models(agent, cx)?;
        // If the agent receives handovers, its calls are counted over all its turns at this path.
        let counted = cx
            .frame
            .handovers
            .as_ref()
            .filter(|_| cx.config().limit_handovers);
        Ok(Self {
            agent,
            tools: Toolbox::new(agent, &models, cx),
            models,
            number: counted.map_or(0, |handovers| handovers.calls),
            repair: Repair::default(),
            call_ids: HashSet::new(),
            was_cut_off: false,
            open: Vec::new(),
            asked: ToolActions::default(),
            flow: Flow::Continue,
        })
    }

    /// Reads a reply, and adds the actions that callbacks requested to its event. Not inlined into
    /// [`run`], whose future would hold the reply twice.
    fn read_reply(&mut self, answer: FittingReply, cx: &mut Context) -> Reply {
        let number = self.number - 1;
        let mut reply = Reply::read(answer, number, &self.tools, &mut self.call_ids, cx);
        let asked = std::mem::take(&mut self.asked);
        let actions = &mut reply.event.actions;
        let written = std::mem::take(&mut actions.state_delta);
        *actions = results::actions_of(&asked);
        actions.state_delta = written;
        if let Some(name) = asked.exit_to {
            self.flow = Flow::ExitTo(name);
        }
        cx.frame.unwritten = Some(no_answer::reason(&reply.event));
        self.open.append(&mut reply.later);
        reply
    }

    /// Reports to the model that its calls were cut off. Cut-off arguments may still parse, with
    /// another meaning than intended.
    ///
    /// # Errors
    /// Fails on the second occurrence in a turn.
    async fn report_cut_off(
        &mut self,
        calls: &[Arc<FunctionCall>],
        cx: &mut Context,
    ) -> Result<()> {
        if std::mem::replace(&mut self.was_cut_off, true) {
            return Err(no_answer::calls_cut_off());
        }
        let content = results::error_responses(calls, no_answer::NOT_RUN);
        cx.emit(Event::new().with_content(content)).await.map(drop)
    }

    /// Executes the calls of a reply and performs the actions that they request. Returns whether
    /// the turn is complete, except for the calls in `open`.
    async fn run_calls(&mut self, calls: &[Arc<FunctionCall>], cx: &mut Context) -> Result<bool> {
        let made = calls::make(&self.tools, calls, cx).await?;
        let answer = self
            .tools
            .has_answer_tool()
            .then(|| respond::answer_argument(calls))
            .flatten();
        let CallResponses {
            content,
            mut actions,
            refused,
            skipping,
        } = results::collect(made, &self.tools, calls, &self.open, cx)?;
        // If a tool ends the turn without a reply, the agent cannot write its key, and the error
        // names the tool. `task_completed` ends a live turn after a reply, so the reason of this
        // reply stays.
        if let Some(call) = skipping.filter(|call| call.name != TASK_COMPLETED) {
            cx.frame.unwritten = Some(no_answer::summary_skipped(&call.name));
        }
        let spent = self
            .repair
            .note_tool_calls(self.agent, answer, &content, cx);
        // A refused call does not run, so its response never comes from outside.
        self.open.retain(|call| !refused.contains(&call.id));
        let is_silent =
            content.parts.is_empty() && !cx.has_pending() && actions == ToolActions::default();
        // Without a response there is nothing to report to the model yet.
        let mut is_last = is_silent;
        if !is_silent {
            let event = results::response_event(&actions).with_content(content);
            is_last = event.is_final_response();
            cx.emit(event).await?;
        }
        spent?;
        if let Some(answer) = actions.set_model_response.take() {
            let event = with_output(self.agent, respond::event(&answer), answer);
            if cx.cell().is_some() && self.agent.answers_closed() {
                cx.show(Shown::Closed);
            }
            cx.emit(event).await?;
            is_last = true;
        }
        if let Some(name) = &actions.transfer_to_agent {
            transfer::hand_over(name, cx)?;
            is_last = true;
        }
        match actions {
            ToolActions {
                exit_to: Some(name),
                ..
            } => self.flow = Flow::ExitTo(name),
            ToolActions { escalate: true, .. } if self.flow == Flow::Continue => {
                self.flow = Flow::Exit
            }
            _ => {}
        }
        Ok(is_last)
    }

    /// Calls the model until it calls tools or gives an answer that fits.
    async fn fitting_reply(&mut self, cx: &mut Context) -> Result<FittingReply> {
        let agent = self.agent;
        loop {
            let mut response = self.ask(cx).await?;
            self.number += 1;
            if let Some(handovers) = &mut cx.frame.handovers {
                handovers.calls = self.number;
            }
            let parts = &response.content.parts;
            if parts
                .iter()
                .any(|part| matches!(part, Part::FunctionCall(_)))
            {
                return Ok((response, None));
            }
            let is_answer = response.error_code.is_none();
            let value = match agent.output.as_ref().filter(|_| is_answer) {
                Some(output) => answer::value(output, &mut response.content),
                None => Ok(None),
            };
            match value {
                Ok(value) => {
                    if agent.answers_closed() {
                        answer::keep_only(value.as_ref(), &mut response.content, cx);
                    }
                    return Ok((response, value));
                }
                Err(misfit) => {
                    let is_last = limit(agent, cx).is_some_and(|max| self.number >= max);
                    // Boxed to keep the future small, because almost all answers fit.
                    Box::pin(self.repair.refuse(agent, response, misfit, is_last, cx)).await?;
                }
            }
        }
    }

    /// Calls the model once, if the limits permit a further call.
    async fn ask(&mut self, cx: &mut Context) -> Result<ModelResponse> {
        let (agent, models) = (self.agent, &self.models);
        if let Some(max) = limit(agent, cx).filter(|max| self.number >= *max)
            && !cx.is_recorded(CallKind::Model, &call::MODEL)
            && !(cx.run.kind.has_record() && compact::is_recorded(cx))
        {
            let message = format!(
                "it has made {max} model calls in one turn, its `max_turns`, and the model still \
                 calls tools"
            );
            return Err(Error::new(ErrorKind::TurnsExceeded, message).with_help(
                "raise `max_turns`, or say in the instruction when to stop calling tools",
            ));
        }
        if let Some(compaction) = &agent.compact {
            // Boxed to keep the future small, because few agents have a compaction.
            Box::pin(compact::run(agent, compaction, models, self.number, cx)).await?;
        }
        cx.pass_summaries().await?;
        let mut request = request::build(agent, &self.tools, cx, self.number).await?;
        self.tools.note_processors(cx);
        let changed = Arc::make_mut(&mut request);
        changed.contents.extend(self.repair.contents());
        if let Some(response) =
            answer::before_model(&self.tools, changed, &mut self.asked, cx).await?
        {
            return Ok(response);
        }
        let answer =
            answer::call_model(agent, CallKind::Model, models, request.clone(), cx).await?;
        self.tools.note_provider(cx);
        if !answer::is_watched(agent, cx) {
            return match answer {
                ModelAnswer::Reply(response) => Ok(no_answer::with_no_content_code(response)),
                ModelAnswer::Failed(error) => Err(error),
            };
        }
        Box::pin(answer::after_call(
            agent,
            &request,
            answer,
            &mut self.asked,
            cx,
        ))
        .await
    }
}

/// Returns the agent's models: its own model, the model of an agent above it, or the runner's
/// model.
fn models(agent: &LlmAgent, cx: &Context) -> Result<ModelChain> {
    let above = cx
        .around
        .inherited
        .as_ref()
        .and_then(|above| above.model.as_ref());
    let own = agent.settings.model.as_ref().or(above);
    cx.run
        .services
        .models
        .chain(own, &agent.settings.fallback)?
        .ok_or_else(|| {
            Error::new(ErrorKind::NoModel, "it has no model").with_help(
            "give one to the runner, `Runner::builder().model(...)`, or to the agent, `model: ...`",
        )
        })
}

/// Adds the output to the event of an answer that a tool received.
fn with_output(agent: &LlmAgent, event: Event, answer: Value) -> Event {
    match agent.output.as_ref().and_then(|output| output.key.clone()) {
        Some(key) => event.with_state(key, answer),
        None => event,
    }
}

/// Returns the maximum of model calls per turn. If the agent receives handovers, returns the
/// maximum over all its turns at this path.
fn limit(agent: &LlmAgent, cx: &Context) -> Option<u32> {
    let counted = cx.frame.handovers.is_some() && cx.config().limit_handovers;
    if counted {
        agent.max_calls()
    } else {
        agent.max_turns()
    }
}
