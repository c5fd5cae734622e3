//! The turn of an agent: ask the model, run the tools that it calls, ask again, until it answers without a call.

use super::call::{self, Call};
use super::calls::Answers;
use super::repair::Repair;
use super::toolbox::Toolbox;
use super::tools::RESERVED;
use super::{LlmAgent, calls, compact, hooks, later, no_answer, output, request, respond, transfer};
use crate::flow::Flow;
use crate::models::model::{FinishReason, ModelRequest, ModelResponse, Usage};
use crate::runtime::run::{Chain, Context};
use crate::runtime::tool::{ToolActions, text};
use crate::spec::Money;
use crate::store::event::{Actions, COST_KEY, Event, RareActions};
use crate::{Error, ErrorKind, FunctionCall, Name, Part, Result, depth};
use adk_spec::__private::Cost;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// How ids of calls begin that the model gave none. They are removed before it is asked again.
pub(super) const OWN_ID: &str = "adk-";

/// Runs a turn.
///
/// # Errors
/// See the crate's `ErrorKind`: a call that failed for good, a placeholder without a value, an answer of another type,
/// too many calls, or an agent that did not write its key.
pub(super) async fn run(agent: &LlmAgent, cx: &mut Context) -> Result<Flow> {
    let models = models(agent, cx)?;
    let mut tools = Toolbox::new(agent, &models, cx);
    let mut flow = Flow::Continue;
    // Calls whose answer comes from outside.
    let mut open = Vec::new();
    // Where agents hand over to each other, the calls of an agent are counted over all its turns at this place.
    let counted = cx.frame.seat.as_ref().filter(|_| cx.config().limit_handovers);
    let mut turn = counted.map_or(0, |seat| seat.calls);
    let mut call_ids = HashSet::new();
    let mut was_cut_off = false;
    let mut repair = Repair::default();
    loop {
        tools.refresh(cx).await?;
        let mut asked = ToolActions::default();
        let (response, value) = fitting(&tools, &models, &mut turn, &mut repair, &mut asked, cx).await?;
        let is_cut_off = response.finish_reason == Some(FinishReason::MaxTokens);
        let (mut event, calls) = answer_event(response, value, turn - 1, &mut call_ids, cx);
        let written = std::mem::take(&mut event.actions.state_delta);
        event.actions = actions_of(&asked);
        event.actions.state_delta = written;
        if let Some(name) = asked.exit_to {
            flow = Flow::ExitTo(name);
        }
        cx.frame.unwritten = Some(no_answer::reason(&event));
        if is_cut_off && !calls.is_empty() {
            // In a box, as all that most turns do without: each run that waits for a model holds this future.
            Box::pin(cut_off(event, &calls, &mut was_cut_off, cx)).await?;
            continue;
        }
        open.extend(later::mark(&mut event, &calls, |name| tools.runs_on(name)));
        cx.emit(event).await?;
        let is_last = calls.is_empty()
            || Box::pin(run_calls(&tools, &calls, &mut repair, &mut open, &mut flow, cx)).await?;
        if is_last && open.is_empty() {
            break;
        }
        if is_last {
            Box::pin(later::answers(std::mem::take(&mut open), cx)).await?;
        }
    }
    Ok(flow)
}

/// Tells the model that its calls were cut off.
///
/// # Errors
/// The second time.
async fn cut_off(
    event: Event,
    calls: &[Arc<FunctionCall>],
    was_cut_off: &mut bool,
    cx: &mut Context,
) -> Result<()> {
    // Arguments that were cut off may parse all the same, and say something else than was meant.
    cx.emit(event).await?;
    if std::mem::replace(was_cut_off, true) {
        return Err(no_answer::calls_cut_off());
    }
    let content = calls::not_run(calls, no_answer::NOT_RUN);
    cx.emit(Event::new().with_content(content)).await.map(drop)
}

/// Runs the calls of an answer, and does what they ask for. Says whether the turn is over, but for calls in `open`, whose
/// answers come from outside.
async fn run_calls(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    repair: &mut Repair,
    open: &mut Vec<Arc<FunctionCall>>,
    flow: &mut Flow,
    cx: &mut Context,
) -> Result<bool> {
    let agent = tools.agent();
    count_tools(calls, cx)?;
    let given = tools.responds().then(|| respond::given(calls)).flatten();
    let Answers { content, mut actions, refused } = calls::answer(tools, calls, cx).await?;
    let spent = repair.called(agent, given, &content, cx);
    // What was refused does not run, so nothing more comes of it.
    open.retain(|call| !refused.contains(&call.id));
    let is_silent = content.parts.is_empty() && !cx.has_pending() && actions == ToolActions::default();
    // Nothing is to be said before the answers come.
    let mut is_last = is_silent;
    if !is_silent {
        let event = response_event(&actions).with_content(content);
        is_last = event.is_final_response();
        cx.emit(event).await?;
    }
    spent?;
    if let Some(answer) = actions.set_model_response.take() {
        let event = answered(agent, respond::event(&answer), answer);
        cx.emit(event).await?;
        is_last = true;
    }
    if let Some(name) = &actions.transfer_to_agent {
        transfer::hand_over(name, cx)?;
        is_last = true;
    }
    match actions {
        ToolActions { exit_to: Some(name), .. } => *flow = Flow::ExitTo(name),
        ToolActions { escalate: true, .. } if *flow == Flow::Continue => *flow = Flow::Exit,
        _ => {}
    }
    Ok(is_last)
}

/// The agent's models: its own, those of an agent above it, or the runner's.
fn models(agent: &LlmAgent, cx: &Context) -> Result<Chain> {
    let above = cx.above.as_ref().and_then(|above| above.model.as_ref());
    let own = agent.settings.model.as_ref().or(above);
    cx.run.services.models.chain(own, &agent.settings.fallback)?.ok_or_else(|| {
        Error::new(ErrorKind::NoModel, "it has no model").with_help(
            "give one to the runner, `Runner::builder().model(...)`, or to the agent, `model: ...`",
        )
    })
}

/// An answer that came by a tool, with the output in it.
fn answered(agent: &LlmAgent, event: Event, answer: Value) -> Event {
    match agent.output.as_ref().and_then(|output| output.key.clone()) {
        Some(key) => event.with_state(key, answer),
        None => event,
    }
}

/// Asks until the model calls tools, or gives an answer that fits: with the key of the agent, and its value.
async fn fitting(
    tools: &Toolbox<'_>,
    models: &Chain,
    turn: &mut u32,
    repair: &mut Repair,
    asked: &mut ToolActions,
    cx: &mut Context,
) -> Result<(ModelResponse, Option<(Name, Value)>)> {
    let agent = tools.agent();
    loop {
        let response = ask(tools, models, *turn, repair, asked, cx).await?;
        *turn += 1;
        if let Some(seat) = &mut cx.frame.seat {
            seat.calls = *turn;
        }
        let is_answer = response.error_code.is_none()
            && !response.content.parts.iter().any(|part| matches!(part, Part::FunctionCall(_)));
        let Some(output) = agent.output.as_ref().filter(|_| is_answer) else { return Ok((response, None)) };
        match output::value(output, &response.content) {
            Ok(value) => return Ok((response, value)),
            Err(misfit) => {
                let is_last = limit(agent, cx).is_some_and(|max| *turn >= max);
                // In a box: nearly all answers fit.
                Box::pin(repair.refuse(agent, response, misfit, is_last, cx)).await?;
            }
        }
    }
}

/// The most model calls of a turn; where agents hand over to each other, of all turns at this place.
fn limit(agent: &LlmAgent, cx: &Context) -> Option<u32> {
    let counted = cx.frame.seat.is_some() && cx.config().limit_handovers;
    if counted { agent.max_calls() } else { agent.max_turns() }
}

/// One model call, if there may be one more.
async fn ask(
    tools: &Toolbox<'_>,
    models: &Chain,
    turn: u32,
    repair: &Repair,
    asked: &mut ToolActions,
    cx: &mut Context,
) -> Result<ModelResponse> {
    let agent = tools.agent();
    if let Some(max) = limit(agent, cx).filter(|max| turn >= *max) {
        let message = format!(
            "it has made {max} model calls in one turn, its `max_turns`, and the model still calls tools"
        );
        return Err(Error::new(ErrorKind::TurnsExceeded, message)
            .with_help("raise `max_turns`, or say in the instruction when to stop calling tools"));
    }
    if let Some(compaction) = &agent.compact {
        // In a box: few agents have one.
        Box::pin(compact::run(agent, compaction, models, turn, cx)).await?;
    }
    let mut request = request::build(agent, tools, cx, turn).await?;
    request.contents.extend(repair.contents());
    if let Some(response) = hooks::before_model(tools, &mut request, asked, cx).await? {
        return Ok(response);
    }
    let request = Arc::new(request);
    let mut response = match counted(agent, "model", models, request.clone(), cx).await? {
        Ok(response) => response,
        Err(error) => hooks::on_model_error(agent, &request, error, asked, cx).await?,
    };
    let empty = response.content.parts.is_empty() && response.finish_reason == Some(FinishReason::Stop);
    if empty && response.error_code.is_none() {
        response.error_code = Some(no_answer::NO_CONTENT.into());
        response.error_message =
            Some("The model returned no content (finish_reason=STOP with empty parts).".into());
    }
    hooks::after_model(agent, &mut response, asked, cx).await?;
    Ok(response)
}

/// Makes a call, which counts in all limits and budgets.
///
/// # Errors
/// When there may be no more calls; inside, that of the call.
pub(super) async fn counted(
    agent: &LlmAgent,
    step: &'static str,
    models: &Chain,
    request: Arc<ModelRequest>,
    cx: &mut Context,
) -> Result<Result<ModelResponse>> {
    cx.run.count_llm_call()?;
    cx.count_call()?;
    // Given back when the answer is counted. In a box: few runs have a budget.
    let mut _held = None;
    if cx.has_budget() {
        _held = Some(Box::pin(cx.reserve(models, &request)).await?);
    }
    let (timeout, retry) = (agent.settings.timeout, agent.settings.retry);
    let (run, trace) = (cx.run.clone(), cx.trace.clone());
    let call = Call { step, models: models.clone(), request, timeout, retry, run, trace };
    let response = call::make(call, cx).await;
    if let Ok(response) = &response {
        let usage = Usage { calls: 1, ..response.usage };
        *cx.frame.usage.get_or_insert_default() += usage;
        cx.run.add_usage(usage);
        cx.count_usage(&usage)?;
    }
    Ok(response)
}

/// Counts calls of tools before they are made; those of the runtime's own are none.
pub(super) fn count_tools(calls: &[Arc<FunctionCall>], cx: &mut Context) -> Result<()> {
    let own = calls.iter().filter(|call| !RESERVED.contains(&&*call.name));
    let usage = Usage { tool_calls: own.count() as u64, ..Usage::default() };
    cx.count(Cost::ToolCalls, usage.tool_calls)?;
    *cx.frame.usage.get_or_insert_default() += usage;
    cx.run.add_usage(usage);
    Ok(())
}

/// The event of an answer, with the output in it when it is the last word, and the calls in it.
fn answer_event(
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
            // Some providers give all calls of a reply one id, or those of all replies.
            if call.id.is_empty() || !call_ids.insert(call.id.clone()) {
                // Made of the place, so that a run that is taken up again makes the same.
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
    // As in ADK: what the provider withheld has no content at all, and an empty answer has one without parts.
    let is_withheld = response.error_code.as_deref().is_some_and(|code| code != no_answer::NO_CONTENT);
    if !is_withheld || !content.parts.is_empty() {
        event = event.with_content(content);
    }
    if let Some((key, value)) = value {
        event = event.with_state(key, value);
    }
    tell(&mut event, response, cx);
    (event, calls)
}

/// Tells in an event what its model call used, and how it ended.
pub(super) fn tell(event: &mut Event, response: ModelResponse, cx: &Context) {
    let ModelResponse { content: _, finish_reason, usage, model_version, error_code, error_message } =
        response;
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
            details.custom_metadata.insert(COST_KEY.to_owned(), cost.into());
        }
        // ADK knows no such count.
        let usage = Usage { cost: Money::ZERO, ..usage };
        details.usage = (usage != Usage::default()).then_some(usage);
        details.finish_reason = finish_reason;
        details.model_version = model_version;
        details.error_code = error_code;
        details.error_message = error_message;
    }
}

/// Reads arguments that came as another text than JSON alone.
fn read_arguments(call: &mut FunctionCall) {
    let is_object = |args: &mut Value| {
        if args.is_object() && depth::check(args).is_ok() {
            return Ok(());
        }
        Err("it is no object".to_owned())
    };
    let read = call.malformed.as_deref().map(|text| text::read(text, is_object));
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
    Actions::from(RareActions {
        escalate: asked.escalate.then_some(true),
        skip_summarization: asked.skip_summarization.then_some(true),
        transfer_to_agent: asked.transfer_to_agent.clone(),
        ..RareActions::default()
    })
}
