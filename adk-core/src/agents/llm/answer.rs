//! The answer of a model to a request: the call, and the callbacks and plugins around it. Agents
//! without callbacks have no cost.

pub(super) mod call;
mod misfit;
pub(super) mod no_answer;
mod pieces;
mod repair;
pub(super) mod reply;

pub(super) use misfit::{keep_only, value};
pub(super) use repair::Repair;

use self::call::ModelCall;
use super::agent::LlmAgent;
use super::toolbox::Toolbox;
use crate::model::{ModelErrorKind, ModelRequest, ModelResponse};
use crate::runtime::run::{Context, ModelChain, ToolActions, hooks};
use crate::store::engine::CallKind;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The result of a model call that the limits and budgets permitted.
pub(super) enum ModelAnswer {
    Reply(ModelResponse),
    /// The call failed permanently.
    Failed(Error),
}

/// Makes a model call that counts in all limits and budgets.
///
/// # Errors
/// Fails if a limit or budget permits no further call.
pub(super) async fn call_model(
    agent: &LlmAgent,
    kind: CallKind,
    models: &ModelChain,
    request: Arc<ModelRequest>,
    cx: &mut Context,
) -> Result<ModelAnswer> {
    let is_recorded = cx.is_recorded(kind, &call::name(kind));
    cx.run.outermost().limits.count_llm_call(is_recorded)?;
    cx.count_call(is_recorded)?;
    // Boxed to keep the future small, because few runs have a budget.
    let mut held = None;
    if cx.has_budget() {
        held = Some(Box::pin(cx.reserve(models, &request, is_recorded)).await?);
    }
    let unknown = held.as_ref().map(|held| held.unknown.clone());
    let call = ModelCall::new(agent, kind, models.clone(), request, unknown, cx);
    let result = call::make(call, cx).await;
    let mut counted = Ok(());
    if let Ok(response) = &result {
        let mut usage = response.usage;
        usage.calls = 1;
        *cx.frame.usage.get_or_insert_default() += usage;
        cx.run.add_usage(cx.author(), usage);
        counted = cx.count_usage(&usage);
    }
    // The reservation ends after the usage is counted, so that no other call takes the amount.
    let settled = held.map_or(Ok(()), |held| {
        let is_unknown = match &result {
            Ok(response) => response.usage.total_tokens() == 0,
            Err(error) => is_broken_off(error),
        };
        held.settle(is_unknown, cx)
    });
    match result {
        Ok(response) => counted.and(settled).map(|()| ModelAnswer::Reply(response)),
        Err(error) => Ok(ModelAnswer::Failed(error)),
    }
}

/// Reports whether a recorded call ended before its usage was known.
fn is_broken_off(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Model(
            ModelErrorKind::BrokenStream
                | ModelErrorKind::Timeout
                | ModelErrorKind::InvalidResponse
        )
    )
}

/// Reports whether any callback or plugin observes model calls.
pub(super) fn is_watched(agent: &LlmAgent, cx: &Context) -> bool {
    !agent.settings.model_callbacks.is_empty() || !cx.run.services.plugins.is_empty()
}

/// Lets each tool that has a [`ProcessRequest`](crate::tool::ProcessRequest) hook change the
/// request. The hooks cannot request actions.
async fn process(tools: &Toolbox<'_>, request: &mut ModelRequest, cx: &mut Context) -> Result<()> {
    for processor in tools.processors() {
        let mut own = cx.callback_context();
        own.refuse_updates("by a tool that changes a model request");
        let processed = processor.process_request(request, &mut own).await;
        cx.end_callback(own);
        processed?;
    }
    Ok(())
}

/// Runs the callbacks before a model call. A returned reply replaces the call. The actions that
/// callbacks request are added to `actions`, as in [`after_call`].
///
/// The work after the checks is boxed, here and below, because few agents have callbacks and every
/// future would contain it.
pub(super) async fn before_model(
    tools: &Toolbox<'_>,
    request: &mut ModelRequest,
    actions: &mut ToolActions,
    cx: &mut Context,
) -> Result<Option<ModelResponse>> {
    let agent = tools.agent();
    if tools.processors().next().is_some() {
        Box::pin(process(tools, request, cx)).await?;
    }
    if !is_watched(agent, cx) {
        return Ok(None);
    }
    Box::pin(async move {
        let mut own = cx.callback_context();
        let callbacks = &agent.settings.model_callbacks.0;
        let before =
            is_strict(cx).then(|| (request.system_instruction.clone(), request.contents.clone()));
        let given = hooks::before_model(callbacks, &mut own, request).await;
        let is_other = |(instruction, contents)| {
            request.system_instruction != instruction || request.contents != contents
        };
        if before.is_some_and(is_other) || matches!(given, Ok(Some(_))) {
            cx.note_callback();
        }
        add(actions, cx.end_callback(own));
        given
    })
    .await
}

/// Runs the callbacks after a model call. A callback may replace an error by a reply, and a reply
/// by another reply.
pub(super) async fn after_call(
    agent: &LlmAgent,
    request: &ModelRequest,
    answer: ModelAnswer,
    actions: &mut ToolActions,
    cx: &mut Context,
) -> Result<ModelResponse> {
    let callbacks = &agent.settings.model_callbacks.0;
    let response = match answer {
        ModelAnswer::Reply(response) => response,
        ModelAnswer::Failed(error) => {
            let mut own = cx.callback_context();
            let given = hooks::on_model_error(callbacks, &mut own, request, &error).await;
            add(actions, cx.end_callback(own));
            cx.note_callback();
            given?.ok_or(error)?
        }
    };
    let mut response = no_answer::with_no_content_code(response);
    let mut own = cx.callback_context();
    let before = is_strict(cx).then(|| response.content.clone());
    let given = hooks::after_model(callbacks, &mut own, &mut response).await;
    add(actions, cx.end_callback(own));
    if before.is_some_and(|content| content != response.content) || matches!(given, Ok(Some(_))) {
        cx.note_callback();
    }
    Ok(given?.unwrap_or(response))
}

/// Reports whether what callbacks add counts as text of strangers.
fn is_strict(cx: &Context) -> bool {
    cx.run.guard_rules().is_some_and(|rules| rules.strict)
}

fn add(all: &mut ToolActions, asked: ToolActions) {
    all.escalate |= asked.escalate;
    all.skip_summarization |= asked.skip_summarization;
    all.transfer_to_agent = asked.transfer_to_agent.or(all.transfer_to_agent.take());
    all.exit_to = asked.exit_to.or(all.exit_to.take());
}
