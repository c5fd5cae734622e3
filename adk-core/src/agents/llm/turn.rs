//! The turn of an LLM agent: it calls the model, executes tool calls and repeats, until a reply has
//! no tool calls.

use super::call::{self, ModelCall};
use super::calls::CallResponses;
use super::repair::Repair;
use super::toolbox::Toolbox;
use super::tools::RESERVED;
use super::{
    LlmAgent, calls, compact, hooks, live, long_running, no_answer, output, request, respond,
    transfer,
};
use crate::Flow;
use crate::model::{FinishReason, ModelRequest, ModelResponse, Usage};
use crate::runtime::run::{Context, ModelChain};
use crate::runtime::tool::{ToolActions, text};
use crate::spec::Money;
use crate::store::engine::CallKind;
use crate::store::event::{Actions, COST_KEY, Event, RareActions};
use crate::{Error, ErrorKind, FunctionCall, Name, Part, Result, depth};
use adk_spec::__private::Cost;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// Prefix of call ids that this crate generates for calls without an id. Requests to the model omit
/// these ids.
pub(super) const OWN_ID: &str = "adk-";

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
        let (event, calls, is_cut_off) = turn.reply_event(answer, cx);
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
            Box::pin(long_running::wait_for_responses(
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

    /// Returns the event of a reply, the tool calls in it, and whether the calls were cut off. Not
    /// inlined into [`run`], whose future would hold the reply and its event.
    fn reply_event(
        &mut self,
        answer: FittingReply,
        cx: &mut Context,
    ) -> (Event, Vec<Arc<FunctionCall>>, bool) {
        let (mut response, value) = answer;
        if let Some(output) = self
            .agent
            .output
            .as_ref()
            .filter(|_| self.tools.has_answer_tool())
        {
            respond::settle(output, &mut response.content);
        }
        let is_cut_off = response.finish_reason == Some(FinishReason::MaxTokens);
        let (mut event, calls) =
            read_reply(response, value, self.number - 1, &mut self.call_ids, cx);
        let asked = std::mem::take(&mut self.asked);
        let written = std::mem::take(&mut event.actions.state_delta);
        event.actions = actions_of(&asked);
        event.actions.state_delta = written;
        if let Some(name) = asked.exit_to {
            self.flow = Flow::ExitTo(name);
        }
        cx.frame.unwritten = Some(no_answer::reason(&event));
        let is_cut_off = is_cut_off && !calls.is_empty();
        if !is_cut_off {
            self.open
                .extend(long_running::mark(&mut event, &calls, &self.tools, cx));
        }
        (event, calls, is_cut_off)
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
        let content = calls::error_responses(calls, no_answer::NOT_RUN);
        cx.emit(Event::new().with_content(content)).await.map(drop)
    }

    /// Executes the calls of a reply and performs the actions that they request. Returns whether
    /// the turn is complete, except for the calls in `open`.
    async fn run_calls(&mut self, calls: &[Arc<FunctionCall>], cx: &mut Context) -> Result<bool> {
        count_tools(calls, cx)?;
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
        } = calls::answer(&self.tools, calls, &self.open, cx).await?;
        // If a tool ends the turn without a reply, the agent cannot write its key, and the error
        // names the tool. `task_completed` ends a live turn after a reply, so the reason of this
        // reply stays.
        if let Some(call) = skipping.filter(|call| call.name != live::TASK_COMPLETED) {
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
            let event = response_event(&actions).with_content(content);
            is_last = event.is_final_response();
            cx.emit(event).await?;
        }
        spent?;
        if let Some(answer) = actions.set_model_response.take() {
            let event = with_output(self.agent, respond::event(&answer), answer);
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
            let is_answer = response.error_code.is_none()
                && !response
                    .content
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::FunctionCall(_)));
            let Some(output) = agent.output.as_ref().filter(|_| is_answer) else {
                return Ok((response, None));
            };
            match output::value(output, &mut response.content) {
                Ok(value) => return Ok((response, value)),
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
        let mut request = Arc::new(self.request(cx).await?);
        let changed = Arc::make_mut(&mut request);
        if let Some(response) =
            hooks::before_model(&self.tools, changed, &mut self.asked, cx).await?
        {
            return Ok(response);
        }
        let answer = call_model(agent, CallKind::Model, models, request.clone(), cx).await?;
        if !hooks::is_watched(agent, cx) {
            return answer.map(no_answer::with_no_content_code);
        }
        Box::pin(hooks::after_call(
            agent,
            &request,
            answer,
            &mut self.asked,
            cx,
        ))
        .await
    }

    /// Returns the next request to the model.
    async fn request(&self, cx: &mut Context) -> Result<ModelRequest> {
        let mut request = request::build(self.agent, &self.tools, cx, self.number).await?;
        request.contents.extend(self.repair.contents());
        Ok(request)
    }
}

/// A reply that fits the output type, with the output key and its value.
type FittingReply = (ModelResponse, Option<(Name, Value)>);

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

/// Makes a model call that counts in all limits and budgets.
///
/// # Errors
/// Fails if a limit or budget permits no further call. The inner result is the result of the call.
pub(super) async fn call_model(
    agent: &LlmAgent,
    kind: CallKind,
    models: &ModelChain,
    request: Arc<ModelRequest>,
    cx: &mut Context,
) -> Result<Result<ModelResponse>> {
    let is_recorded = cx.is_recorded(kind, &call::name(kind));
    cx.run.outermost().limits.count_llm_call(is_recorded)?;
    cx.count_call(is_recorded)?;
    // Released when the usage of the reply is counted. Boxed to keep the future small, because few
    // runs have a budget.
    let mut _held = None;
    if cx.has_budget() && !is_recorded {
        _held = Some(Box::pin(cx.reserve(models, &request)).await?);
    }
    let (timeout, retry) = (agent.settings.timeout, agent.settings.retry);
    let (run, trace) = (cx.run.clone(), cx.trace.clone());
    let call = ModelCall {
        kind,
        models: models.clone(),
        request,
        timeout,
        retry,
        run,
        trace,
    };
    let response = call::make(call, cx).await;
    if let Ok(response) = &response {
        let mut usage = response.usage;
        usage.calls = 1;
        *cx.frame.usage.get_or_insert_default() += usage;
        cx.run.add_usage(usage);
        cx.count_usage(&usage)?;
    }
    Ok(response)
}

/// Counts tool calls before they start, except for calls of the runtime's own tools.
pub(super) fn count_tools(calls: &[Arc<FunctionCall>], cx: &mut Context) -> Result<()> {
    let own = calls.iter().filter(|call| !RESERVED.contains(&&*call.name));
    let mut usage = Usage::default();
    usage.tool_calls = own.count() as u64;
    cx.count(Cost::ToolCalls, usage.tool_calls, || {
        calls.iter().any(|call| calls::has_begun(call, cx))
    })?;
    *cx.frame.usage.get_or_insert_default() += usage;
    cx.run.add_usage(usage);
    Ok(())
}

/// Returns the event of a reply with the tool calls in it. The last reply of a turn contains the
/// output.
fn read_reply(
    mut response: ModelResponse,
    value: Option<(Name, Value)>,
    turn: u32,
    call_ids: &mut HashSet<String>,
    cx: &Context,
) -> (Event, Vec<Arc<FunctionCall>>) {
    let mut content = std::mem::take(&mut response.content);
    let mut calls = Vec::new();
    let mut place = None;
    for part in &mut content.parts {
        if let Part::FunctionCall(call) = part {
            // Some providers give the same id to all calls of a reply, or reuse ids in later
            // replies.
            if call.id.is_empty() || !call_ids.insert(call.id.clone()) {
                // Derived from the position in the run, so that a resumed run generates the same
                // id.
                let place = place.get_or_insert_with(|| {
                    format!("{OWN_ID}{:x}-{}-{turn}.", cx.run_id().as_u128(), cx.path())
                });
                Arc::make_mut(call).id = [place, &*calls.len().to_string()].concat();
            }
            if call.malformed.is_some() {
                read_arguments(Arc::make_mut(call));
            }
            calls.push(call.clone());
        }
    }
    let mut event = Event::new();
    // As in ADK, a withheld reply has no content, and an empty reply has content without parts.
    let is_withheld = response
        .error_code
        .as_deref()
        .is_some_and(|code| code != no_answer::NO_CONTENT);
    if !is_withheld || !content.parts.is_empty() {
        event = event.with_content(content);
    }
    if let Some((key, value)) = value {
        event = event.with_state(key, value);
    }
    add_call_details(&mut event, response, cx);
    (event, calls)
}

/// Adds the usage, the finish reason and the error of a model call to an event.
pub(super) fn add_call_details(event: &mut Event, response: ModelResponse, cx: &Context) {
    let ModelResponse {
        finish_reason,
        mut usage,
        model_version,
        error_code,
        error_message,
        ..
    } = response;
    if usage != Usage::default()
        || finish_reason.is_some()
        || model_version.is_some()
        || error_code.is_some()
        || error_message.is_some()
    {
        let details = event.details_mut();
        if !usage.cost.is_zero()
            && let Some(prices) = &cx.run.services.prices
        {
            let cost = format!("{} {}", usage.cost, prices.currency());
            details
                .custom_metadata
                .insert(COST_KEY.to_owned(), cost.into());
        }
        // ADK's usage has no field for the cost.
        usage.cost = Money::ZERO;
        details.usage = (usage != Usage::default()).then_some(usage);
        details.finish_reason = finish_reason;
        details.model_version = model_version;
        details.error_code = error_code;
        details.error_message = error_message;
    }
}

/// Parses arguments that are JSON inside another text.
fn read_arguments(call: &mut FunctionCall) {
    let mut is_object = |args: &mut Value| {
        if args.is_object() && depth::check(args).is_ok() {
            return Ok(());
        }
        Err("it is no object".to_owned())
    };
    let read = call
        .malformed
        .as_deref()
        .map(|text| text::read(text, &mut is_object));
    if let Some(Ok(Value::Object(args))) = read {
        call.args = args;
        call.malformed = None;
    }
}

pub(super) fn response_event(actions: &ToolActions) -> Event {
    let mut event = Event::new();
    event.actions = actions_of(actions);
    event
}

fn actions_of(asked: &ToolActions) -> Actions {
    let mut actions = RareActions::default();
    actions.escalate = asked.escalate.then_some(true);
    actions.skip_summarization = asked.skip_summarization.then_some(true);
    actions.transfer_to_agent = asked.transfer_to_agent.clone();
    Actions::from(actions)
}
