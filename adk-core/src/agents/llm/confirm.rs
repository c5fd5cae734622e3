//! `#[tool(confirm)]`: a person has to agree to a call before the tool runs.
//!
//! The arguments, and whether the tool asks, are recorded before the question. So the person agrees to what will run, and
//! no change of callbacks or of the predicate in a resumed run makes the answer one to another call.

use super::LlmAgent;
use super::calls::{arguments, ended};
use super::hooks::ToolHooks;
use super::toolbox::Toolbox;
use crate::content::FunctionCall;
use crate::panic::caught;
use crate::runtime::run::{CallStep, Context, OpenWait, WaitAnswer, WaitQuestion};
use crate::runtime::tool::{DynTool, ToolArgs, ToolContext, ToolError, ToolRecord};
use crate::spec::AnsweredBy;
use crate::store::engine::CallKind;
use crate::store::event::StateDelta;
use crate::{BoxFuture, Name, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// What the model reads of a call that a person has refused, in ADK's words.
const REJECTED: &str = "This tool call is rejected.";

/// A call before its tool runs: what callbacks have made of it, and whether the tool asks. A record.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) args: ToolArgs,
    /// The result without the tool: that of a callback, an error of the arguments, or that of a person who has refused.
    pub(super) given: Option<Result<Value, String>>,
    asks: bool,
    /// Who may agree; `None` for the user who began the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<AnsweredBy>,
    pub(super) left: ToolRecord,
    /// What was answered to the questions of the call itself: no part of the record.
    #[serde(skip)]
    pub(super) answers: Vec<Value>,
}

impl Before {
    /// A call that goes on with the answers to its own questions.
    pub(super) fn going_on(args: ToolArgs, left: ToolRecord, answers: Vec<Value>) -> Self {
        Self { args, left, answers, ..Self::default() }
    }
}

/// What came of asking.
pub(super) enum Confirmed {
    /// Nobody had to be asked.
    Unasked,
    /// Somebody has agreed, or the result is there without the tool.
    Begun(Box<Before>),
    /// Somebody has refused.
    Refused(Box<Before>),
    /// Nobody has answered yet.
    Open(Box<OpenWait>),
}

/// Asks a person, where the tool wants it. Callbacks come first: they may change the arguments, which the person sees as
/// they will be used, or answer in place of the tool.
///
/// A call that was made before its tool wanted an agreement is not asked about. One that a person was asked about is answered
/// by that person, also when its tool does not ask any more.
pub(super) async fn ask(
    tools: &Toolbox<'_>,
    call: &Arc<FunctionCall>,
    seen: Option<&StateDelta>,
    cx: &mut Context,
) -> Result<Confirmed> {
    let tool = tools.get(&call.name).filter(|_| call.malformed.is_none());
    let begins = tool.is_some_and(|tool| tool.meta().confirm || is_split(tool, tools.agent(), cx));
    if !begins && !cx.run.has_record() {
        return Ok(Confirmed::Unasked);
    }
    let name = Name::shared(&call.name);
    let question = Name::from(format!("confirm {name}"));
    // Both have the number of the call, so that a call that was made before its tool wanted an agreement counts.
    cx.frame.calls.align((CallKind::Confirmation, &name), (CallKind::Tool, &name));
    cx.frame.calls.align((CallKind::Wait, &question), (CallKind::Tool, &name));
    let has_begun = cx.is_recorded(CallKind::Confirmation, &name);
    if has_begun || begins && !cx.is_recorded(CallKind::Tool, &name) {
        // In a box: few tools ask.
        return Box::pin(ask_about(tool, (name, question), tools, (call, seen), cx)).await;
    }
    Ok(Confirmed::Unasked)
}

/// Whether the callbacks before a call are recorded by themselves: the calls of an agent that is a tool are recorded one by
/// one, and depend on what the callbacks have made of the arguments.
fn is_split(tool: &Arc<dyn DynTool>, agent: &LlmAgent, cx: &Context) -> bool {
    tool.agent_dyn().is_some() && cx.run.engine.records() && ToolHooks::new(agent, cx).is_watched()
}

async fn ask_about(
    tool: Option<&Arc<dyn DynTool>>,
    (name, wait): (Name, Name),
    tools: &Toolbox<'_>,
    (call, seen): (&Arc<FunctionCall>, Option<&StateDelta>),
    cx: &mut Context,
) -> Result<Confirmed> {
    let hooks = ToolHooks::new(tools.agent(), cx);
    let before = Box::new(first_part(tool.cloned(), name, (call, seen), hooks, cx).await?);
    cx.mark_updated(&before.left.updated);
    if !before.asks {
        return Ok(Confirmed::Begun(before));
    }
    let question = format!("May the tool `{}` be called with {}?", call.name, json!(before.args));
    let schema = json!({"type": "boolean"});
    // The name of the tool is part of the place, so that an answer is never one to another tool.
    let asked = WaitQuestion { question, schema, by: before.by.clone(), ..WaitQuestion::new(wait) };
    Ok(match cx.ask(asked).await? {
        WaitAnswer::Open(waiting) => Confirmed::Open(waiting),
        WaitAnswer::There(Value::Bool(true)) => Confirmed::Begun(before),
        WaitAnswer::There(_) => {
            Confirmed::Refused(Box::new(Before { given: Some(Err(REJECTED.to_owned())), ..*before }))
        }
    })
}

/// The recorded part of a call that comes before the question. In a box: few calls have one, and all would hold it.
fn first_part(
    tool: Option<Arc<dyn DynTool>>,
    name: Name,
    (call, seen): (&Arc<FunctionCall>, Option<&StateDelta>),
    hooks: ToolHooks,
    cx: &mut Context,
) -> BoxFuture<'static, Result<Before>> {
    let kind = CallKind::Confirmation;
    let (of, run, path) = (CallStep::next(cx, kind, &name, seen), cx.run.clone(), cx.path().clone());
    let own = ToolContext::new(cx, call.clone(), of.clone(), None);
    let inputs = cx.inputs(|| arguments(call));
    let work = of.clone().execute(Box::pin(begin(tool, call.clone(), own, hooks)));
    let step = cx.recorded_call(kind, name, inputs, work);
    Box::pin(ended(of, run, path, step, |before: &Before| &before.left))
}

async fn begin(
    tool: Option<Arc<dyn DynTool>>,
    mut call: Arc<FunctionCall>,
    mut own: ToolContext,
    hooks: ToolHooks,
) -> Result<Before> {
    let mut before = Before { given: hooks.before(&mut call, &mut own).await?.map(Ok), ..Before::default() };
    if before.given.is_none()
        && let Some(tool) = tool.filter(|tool| tool.meta().confirm)
    {
        let asks = caught(async { tool.needs_confirmation_dyn(call.args.clone(), &mut own) }).await;
        let asks = asks.unwrap_or_else(|panic| {
            Err(ToolError::panicked(format!(
                "what decides whether `{}` needs an agreement panicked: {panic}",
                call.name
            )))
        });
        match asks {
            Ok(asks) => {
                (before.asks, before.by) = (asks, tool.meta().by.filter(|_| asks).map(AnsweredBy::from));
            }
            Err(error) => before.given = Some(hooks.failed(&call, error, &mut own).await?),
        }
    }
    Ok(Before { args: Arc::unwrap_or_clone(call).args, left: own.into_record(), ..before })
}
