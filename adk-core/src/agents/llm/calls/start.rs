//! [`start`]: one tool call, as a recorded step.

use super::attempts::{attempts, check_result};
use super::hooks::ToolHooks;
use super::outcome::{CallOutcome, ResultLimit};
use super::record::{CallRecord, PreparedCall, ToolQuestion, arguments, finish_call};
use crate::agents::llm::toolbox::Toolbox;
use crate::runtime::run::{CallStep, Context};
use crate::runtime::tool::{DynTool, ToolContext, ToolErrorKind, ToolRecord};
use crate::store::engine::CallKind;
use crate::store::event::StateDelta;
use crate::{BoxFuture, Error, ErrorKind, FunctionCall, MAX_DEPTH, Name, Result};
use futures_util::future::{Either, ready};
use serde_json::Value;
use std::sync::Arc;

/// Numbers the call and returns its work as a future, to be joined with the other calls.
///
/// Each call has a record, even if its tool does not exist or its arguments cannot be parsed. So a
/// replay returns the recorded response, also after changes of tools, confirmations or callbacks in
/// the program.
pub(super) fn start(
    tools: &Toolbox<'_>,
    call: &Arc<FunctionCall>,
    seen: Option<&StateDelta>,
    before: Option<Box<PreparedCall>>,
    cx: &mut Context,
) -> BoxFuture<'static, Result<CallRecord>> {
    let hooks = ToolHooks::new(tools.agent(), cx);
    let (kind, name) = (CallKind::Tool, Name::shared(&call.name));
    let (step, path, run) = (
        CallStep::next(cx, kind, &name, seen),
        cx.path().clone(),
        cx.run.clone(),
    );
    let inputs = cx.inputs(|keeps| arguments(call, keeps));
    let tool = match find_tool(tools, call) {
        Ok(tool) => tool,
        Err(why) => {
            let work = if hooks.is_watched() && tools.get(&call.name).is_none() {
                let own = ToolContext::new(cx, call.clone(), step.clone(), None);
                Either::Left(respond_to_missing_tool(call.clone(), why, own, hooks))
            } else {
                let left = ToolRecord::default();
                Either::Right(ready(Ok(CallRecord {
                    result: CallOutcome::Error(why),
                    left,
                    asks: None,
                })))
            };
            let work = Box::pin(step.clone().execute(work));
            return Box::pin(finish_call(
                step,
                run,
                path,
                cx.recorded_call(kind, name, inputs, work),
                |called| &called.left,
            ));
        }
    };
    let mut own = Box::new(ToolContext::new(
        cx,
        call.clone(),
        step.clone(),
        Some(&tool),
    ));
    own.note_marks(tools.marks(&*tool, cx));
    // Boxed to keep the future small, because few runs have a limit.
    let limit = ResultLimit::new(tools, call, &step, cx).map(Box::new);
    let call = call.clone();
    let made = step.clone();
    // If the tool is an agent, its own calls are recorded below this call, and a resumed run
    // replays them. `before` holds the effects of the callbacks before the call.
    if tool.agent_dyn().is_some() && cx.run.engine.records() {
        let work = |under| {
            own.record_under(under);
            made.execute(Box::pin(run_call(tool, call, before, own, hooks, limit)))
        };
        let work = cx.call_of_calls(kind, name, inputs, work);
        return Box::pin(finish_call(step, run, path, work, |called| &called.left));
    }
    // Boxed here, because the future is large and each future around it would move it.
    let work = made.execute(Box::pin(run_call(tool, call, before, own, hooks, limit)));
    Box::pin(finish_call(
        step,
        run,
        path,
        cx.recorded_call(kind, name, inputs, work),
        |called| &called.left,
    ))
}

/// Returns the tool of a call, or the error message for the model.
fn find_tool(tools: &Toolbox<'_>, call: &FunctionCall) -> Result<Arc<dyn DynTool>, String> {
    let tool = tools
        .get(&call.name)
        .ok_or_else(|| unknown_tool(tools, &call.name))?;
    match &call.malformed {
        None => Ok(tool.clone()),
        Some(text) => Err(format!(
            "The arguments of `{}` are no JSON object of at most {MAX_DEPTH} levels. Call it again \
             with one; this came: {text}",
            call.name
        )),
    }
}

async fn run_call(
    tool: Arc<dyn DynTool>,
    mut call: Arc<FunctionCall>,
    before: Option<Box<PreparedCall>>,
    // Boxed, because the future holds each argument twice.
    mut own: Box<ToolContext>,
    hooks: ToolHooks,
    limit: Option<Box<ResultLimit>>,
) -> Result<CallRecord> {
    let given = match before {
        Some(before) => {
            let PreparedCall {
                args,
                given,
                left,
                answers,
                ..
            } = *before;
            Arc::make_mut(&mut call).args = args;
            own.resume(left, answers);
            given
        }
        None => hooks
            .before(&mut call, &mut own)
            .await?
            .map(CallOutcome::Value),
    };
    let result = match given {
        Some(given) => given,
        None => {
            let result = attempts(&tool, &call, &mut own).await;
            own.take_refusal()?;
            match result {
                Ok(value) => CallOutcome::Value(value),
                Err(error) if error.kind() == ToolErrorKind::Asks && own.may_ask() => {
                    let asks = Some(Box::new(ToolQuestion::new(error, call.args.clone())));
                    return Ok(CallRecord {
                        result: CallOutcome::Value(Value::Null),
                        left: own.into_record(),
                        asks,
                    });
                }
                Err(error) => hooks.handle_error(&call, error, &mut own).await?,
            }
        }
    };
    let mut result = hooks.after(&call, result, &mut own).await?;
    if hooks.is_watched()
        && let CallOutcome::Value(value) = result
    {
        // The result may come from a callback, whose value is not checked yet.
        result = CallOutcome::from_result(check_result(&call.name, value));
    }
    if let Some(limit) = limit {
        result = Box::pin(limit.apply(result, &mut own)).await?;
    }
    Ok(CallRecord {
        result,
        left: own.into_record(),
        asks: None,
    })
}

/// Returns the response for a call of a missing tool. A callback may replace the error.
async fn respond_to_missing_tool(
    call: Arc<FunctionCall>,
    why: String,
    mut own: ToolContext,
    hooks: ToolHooks,
) -> Result<CallRecord> {
    let error = Error::new(
        ErrorKind::Agent,
        format!("tool `{}` does not exist", call.name),
    );
    let given = hooks.replace_error(&call, &error, &mut own).await?;
    Ok(CallRecord {
        result: given.map_or(CallOutcome::Error(why), CallOutcome::Value),
        left: own.into_record(),
        asks: None,
    })
}

/// Returns ADK's message, which the conformance cases of ADK compare.
fn unknown_tool(tools: &Toolbox<'_>, name: &str) -> String {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| tool.declaration_dyn().name.as_str())
        .collect();
    let failed = format!("Invoking `{name}()` failed as no tool with that name is available.");
    if tools.is_empty() {
        format!("{failed} There are no tools that you can call.")
    } else {
        format!(
            "{failed} The tools you can call are: {}. You could retry, but it is IMPORTANT that \
             you only call a tool from that list.",
            tools.join(", ")
        )
    }
}
