//! `#[tool(confirm)]`: a person has to agree to a call before the tool runs.

use super::calls::ended;
use super::hooks::ToolHooks;
use super::toolbox::Toolbox;
use crate::content::FunctionCall;
use crate::runtime::run::{Answer, Asked, CallStep, Context};
use crate::runtime::tool::{ToolArgs, ToolContext, ToolRecord};
use crate::store::engine::Waiting;
use crate::{BoxFuture, Name, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the model reads of a call that a person has refused, in ADK's words.
const REJECTED: &str = "This tool call is rejected.";

/// A call before its tool runs: what callbacks have made of it. A record.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) args: ToolArgs,
    /// The result without the tool: that of a callback, or of a person who has refused.
    pub(super) given: Option<Result<Value, String>>,
    pub(super) left: ToolRecord,
}

/// What came of asking.
pub(super) enum Confirmed {
    /// Nobody had to be asked.
    Unasked,
    /// Somebody has agreed, or the result is there without the tool.
    Begun(Before),
    /// Somebody has refused.
    Refused(Before),
    /// Nobody has answered yet.
    Open(Waiting),
}

/// Asks a person, where the tool wants it. Callbacks come first: they may change the arguments, which the person sees as
/// they will be used, or answer in place of the tool.
pub(super) async fn ask(tools: &Toolbox<'_>, call: &FunctionCall, cx: &mut Context) -> Result<Confirmed> {
    let asks = tools.get(&call.name).is_some_and(|tool| tool.meta().confirm);
    if !asks || call.malformed.is_some() {
        return Ok(Confirmed::Unasked);
    }
    let mut before = Before { args: call.args.clone(), ..Before::default() };
    let hooks = ToolHooks::new(tools.agent(), cx);
    if hooks.is_watched() {
        before = first_part(call, hooks, cx).await?;
        cx.updated_in_call(&before.left.updated);
    }
    if before.given.is_some() {
        return Ok(Confirmed::Begun(before));
    }
    let question = format!("May the tool `{}` be called with {}?", call.name, json!(before.args));
    let schema = json!({"type": "boolean"});
    let asked = Asked { question, schema, ..Asked::new(Name::literal("confirm")) };
    Ok(match cx.ask(asked).await? {
        Answer::Open(waiting) => Confirmed::Open(*waiting),
        Answer::There(Value::Bool(true)) => Confirmed::Begun(before),
        Answer::There(_) => Confirmed::Refused(Before { given: Some(Err(REJECTED.to_owned())), ..before }),
    })
}

/// The recorded part of a call that comes before the question. In a box: few calls have one, and all would hold it.
fn first_part(call: &FunctionCall, hooks: ToolHooks, cx: &mut Context) -> BoxFuture<'static, Result<Before>> {
    let name = Name::literal("before_tool");
    let (of, run, path) = (CallStep::next(cx, &name), cx.run.clone(), cx.path().clone());
    let own = ToolContext::new(cx, call.id.clone(), of.clone(), None);
    let work = of.clone().by(begin(call.clone(), own, hooks));
    Box::pin(ended(of, run, path, cx.recorded_call(name, work), |before: &Before| &before.left))
}

async fn begin(mut call: FunctionCall, mut own: ToolContext, hooks: ToolHooks) -> Result<Before> {
    let given = hooks.before(&mut call, &mut own).await?;
    Ok(Before { args: call.args, given: given.map(Ok), left: own.into_record() })
}
