//! `#[tool(confirm)]`: the confirmation of a tool call by a person.
//!
//! The arguments and the decision to ask are recorded before the question, so the person confirms
//! exactly the call that will run. Changes of callbacks or of the predicate in a resumed run cannot
//! apply the answer to another call.

use super::hooks::ToolHooks;
use super::outcome::CallOutcome;
use super::record::{PreparedCall, arguments, finish_call};
use crate::FunctionCall;
use crate::agents::llm::agent::LlmAgent;
use crate::agents::llm::toolbox::{Sink, Toolbox};
use crate::panic::catch_panic;
use crate::runtime::run::{
    CallStep, Context, Marks, OpenWait, WaitAnswer, WaitQuestion, allows, wait_name,
};
use crate::runtime::tool::{DynTool, ToolContext, ToolError};
use crate::spec::AnsweredBy;
use crate::store::engine::CallKind;
use crate::store::event::StateDelta;
use crate::{BoxFuture, Name, Result};
use serde_json::{Value, json};
use std::sync::Arc;

/// ADK's message to the model for a call that a person has refused.
const REJECTED: &str = "This tool call is rejected.";

/// A tool that may ask, with the sink that its call is.
type AskedTool = (Arc<dyn DynTool>, Option<Box<Sink>>);

/// The outcome of a confirmation.
pub(super) enum ConfirmationOutcome {
    /// No confirmation is necessary.
    NotNeeded,
    /// The person has agreed, or a result exists without a call of the tool.
    Ready(Box<PreparedCall>),
    /// The person has refused.
    Refused(Box<PreparedCall>),
    /// The question is open.
    Open(Box<OpenWait>),
}

/// Asks for a confirmation if the tool requires one. Callbacks run first: they may change the
/// arguments, and the person sees the changed arguments. They may also return a result in place of
/// the tool.
///
/// A call that was recorded before its tool required confirmations is not asked about. A recorded
/// question keeps its answer, even if the tool does not ask any more.
pub(super) async fn ask(
    tools: &Toolbox<'_>,
    call: &Arc<FunctionCall>,
    seen: Option<&StateDelta>,
    cx: &mut Context,
) -> Result<ConfirmationOutcome> {
    let tool = tools.get(&call.name).filter(|_| call.malformed.is_none());
    let sink = tool.and_then(|tool| tools.sink(tool, cx)).map(Box::new);
    let begins = tool.is_some_and(|tool| {
        tool.meta().confirm
            || is_guarded(sink.as_deref(), tools, cx)
            || is_split(tool, tools.agent(), cx)
    });
    if !begins && !cx.run.kind.has_record() {
        return Ok(ConfirmationOutcome::NotNeeded);
    }
    let name = Name::shared(&call.name);
    let question = Name::from(format!("confirm {name}"));
    // The confirmation and its wait get the number of the tool call. A call that an earlier program
    // recorded without a confirmation is therefore found under this number.
    cx.frame
        .calls
        .align((CallKind::Confirmation, &name), (CallKind::Tool, &name));
    cx.frame
        .calls
        .align((CallKind::Wait, &question), (CallKind::Tool, &name));
    if cx.cell().is_some() {
        let guard = wait_name(&name);
        cx.frame
            .calls
            .align((CallKind::Wait, &guard), (CallKind::Tool, &name));
    }
    let has_begun = cx.is_recorded(CallKind::Confirmation, &name);
    if has_begun || begins && !cx.is_recorded(CallKind::Tool, &name) {
        let tool = tool.map(|tool| (tool.clone(), sink));
        // Boxed to keep the future small, because few tools ask.
        return Box::pin(ask_about(tool, (name, question), tools, (call, seen), cx)).await;
    }
    Ok(ConfirmationOutcome::NotNeeded)
}

/// Reports whether the call may be one that does not run without the consent of a person. This is
/// known only after the callbacks before the call.
fn is_guarded(sink: Option<&Sink>, tools: &Toolbox<'_>, cx: &Context) -> bool {
    sink.is_some_and(|sink| {
        sink.blocked(Marks::NONE).is_some() || ToolHooks::new(tools.agent(), cx).is_watched()
    })
}

/// Reports whether the effects of the callbacks before a call are recorded separately from the
/// call. This is necessary if the tool is an agent: its calls are recorded one by one, and depend
/// on the arguments that the callbacks changed.
fn is_split(tool: &Arc<dyn DynTool>, agent: &LlmAgent, cx: &Context) -> bool {
    tool.agent_dyn().is_some() && cx.run.engine.records() && ToolHooks::new(agent, cx).is_watched()
}

async fn ask_about(
    tool: Option<AskedTool>,
    (name, wait): (Name, Name),
    tools: &Toolbox<'_>,
    (call, seen): (&Arc<FunctionCall>, Option<&StateDelta>),
    cx: &mut Context,
) -> Result<ConfirmationOutcome> {
    let hooks = ToolHooks::new(tools.agent(), cx);
    let before = Box::new(record_preparation(tool, name, (call, seen), hooks, cx).await?);
    cx.mark_updated(&before.left.updated);
    let question = || {
        let (name, args) = (&call.name, json!(before.args));
        format!("May the tool `{name}` be called with {args}?")
    };
    if let Some(blocked) = &before.blocked {
        let question = WaitQuestion {
            by: before.by.clone(),
            ..blocked.question(&call.name, &question())
        };
        return ask_guard(question, before, cx).await;
    }
    if !before.asks {
        return Ok(ConfirmationOutcome::Ready(before));
    }
    let question = question();
    let schema = json!({"type": "boolean"});
    // The name of the tool is part of the slot, so that an answer never applies to another tool.
    let asked = WaitQuestion {
        question,
        schema,
        by: before.by.clone(),
        ..WaitQuestion::new(wait)
    };
    Ok(match cx.ask(asked).await? {
        WaitAnswer::Open(waiting) => ConfirmationOutcome::Open(waiting),
        WaitAnswer::There(Value::Bool(true)) => ConfirmationOutcome::Ready(before),
        WaitAnswer::There(_) => ConfirmationOutcome::Refused(before.refuse(REJECTED.to_owned())),
    })
}

/// Asks whether a call may run that strangers may have steered. Without an engine that keeps runs,
/// the model reads why the call did not run.
async fn ask_guard(
    question: WaitQuestion,
    before: Box<PreparedCall>,
    cx: &mut Context,
) -> Result<ConfirmationOutcome> {
    let Some(blocked) = before.blocked.clone() else {
        return Ok(ConfirmationOutcome::Ready(before));
    };
    let refuse = |before: Box<PreparedCall>, why: String| {
        ConfirmationOutcome::Refused(before.refuse(format!("The call did not run: {why}.")))
    };
    if !cx.may_ask() {
        return Ok(refuse(before, blocked.without_person()));
    }
    Ok(match cx.ask(question).await? {
        WaitAnswer::Open(waiting) => ConfirmationOutcome::Open(waiting),
        WaitAnswer::There(answer) if allows(&answer) => ConfirmationOutcome::Ready(before),
        WaitAnswer::There(_) => refuse(before, blocked.refused()),
    })
}

/// Returns the recorded part of a call before its question: callbacks and the decision to ask.
/// Boxed to keep the future small, because few calls have this part.
fn record_preparation(
    tool: Option<AskedTool>,
    name: Name,
    (call, seen): (&Arc<FunctionCall>, Option<&StateDelta>),
    hooks: ToolHooks,
    cx: &mut Context,
) -> BoxFuture<'static, Result<PreparedCall>> {
    let kind = CallKind::Confirmation;
    let (step, run, path) = (
        CallStep::next(cx, kind, &name, seen),
        cx.run.clone(),
        cx.path().clone(),
    );
    let own = ToolContext::new(cx, call.clone(), step.clone(), None);
    let inputs = cx.inputs(|keeps| arguments(call, keeps));
    let work = step
        .clone()
        .execute(Box::pin(prepare_call(tool, call.clone(), own, hooks)));
    let work = cx.recorded_call(kind, name, inputs, work);
    Box::pin(finish_call(
        step,
        run,
        path,
        work,
        |before: &PreparedCall| &before.left,
    ))
}

async fn prepare_call(
    tool: Option<AskedTool>,
    mut call: Arc<FunctionCall>,
    mut own: ToolContext,
    hooks: ToolHooks,
) -> Result<PreparedCall> {
    let mut before = PreparedCall {
        given: hooks
            .before(&mut call, &mut own)
            .await?
            .map(CallOutcome::Value),
        ..PreparedCall::default()
    };
    if before.given.is_none()
        && let Some((tool, _)) = tool.as_ref().filter(|(tool, _)| tool.meta().confirm)
    {
        let asks =
            catch_panic(async { tool.needs_confirmation_dyn(call.args.clone(), &mut own) }).await;
        let asks = asks.unwrap_or_else(|panic| {
            let what = format!("the confirmation predicate of tool `{}`", call.name);
            Err(ToolError::from_panic(panic).with_reference(&what, &own))
        });
        match asks {
            Ok(asks) => {
                (before.asks, before.by) =
                    (asks, tool.meta().by.filter(|_| asks).map(AnsweredBy::from));
            }
            Err(error) => before.given = Some(hooks.handle_error(&call, error, &mut own).await?),
        }
    }
    // A person who confirms the call has seen it.
    if before.given.is_none()
        && !before.asks
        && let Some((tool, Some(sink))) = &tool
    {
        before.blocked = sink.blocked(own.marks()).map(Box::new);
        before.by = tool.meta().by.map(AnsweredBy::from);
    }
    Ok(PreparedCall {
        args: Arc::unwrap_or_clone(call).args,
        left: own.into_record(),
        ..before
    })
}
