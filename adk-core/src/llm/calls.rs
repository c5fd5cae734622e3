//! The calls of one model turn: run beside each other, answered in one event.

use super::merge::add;
use super::toolbox::Toolbox;
use crate::content::{Content, FunctionCall, FunctionResponse, Part, Role};
use crate::panic::caught;
use crate::run::Context;
use crate::tool::{DynTool, ToolActions, ToolContext, ToolError, ToolRecord};
use crate::{BoxFuture, Name, Result};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What is recorded of a call.
#[derive(Debug, Serialize, Deserialize)]
struct Called {
    result: Result<Value, String>,
    left: ToolRecord,
}

/// The answers to all calls, in the order of the calls, and what they ask for. What they wrote waits in the
/// context for the event that tells of it.
pub(super) async fn answer(
    tools: &Toolbox<'_>,
    calls: Vec<FunctionCall>,
    cx: &mut Context,
) -> Result<(Content, ToolActions)> {
    let started: Vec<_> = calls.iter().map(|call| start(tools, call, cx)).collect();
    let mut content = Content::new(Role::User, Vec::with_capacity(calls.len()));
    let mut actions = ToolActions::default();
    for (call, called) in calls.into_iter().zip(join_all(started).await) {
        let Called { result, left } = called?;
        let (run, scope) = (cx.run.clone(), cx.scope.clone());
        let before = |key: &str| match &scope {
            Some(scope) => run.get(&scope.read_key_of(key)?),
            None => run.get(key),
        };
        add(left, cx.state().overlay, &mut actions, before);
        let FunctionCall { id, name, .. } = call;
        content.parts.push(Part::FunctionResponse(FunctionResponse { id, name, response: response(result) }));
    }
    Ok((content, actions))
}

/// Numbers the call and gives its step, which runs once it is joined with the others.
fn start(tools: &Toolbox<'_>, call: &FunctionCall, cx: &mut Context) -> BoxFuture<'static, Result<Called>> {
    let refuse = |why| -> BoxFuture<'static, Result<Called>> {
        Box::pin(std::future::ready(Ok(Called { result: Err(why), left: ToolRecord::default() })))
    };
    let Some(tool) = tools.get(&call.name).cloned() else { return refuse(unknown(tools, &call.name)) };
    if let Some(text) = &call.malformed {
        return refuse(format!(
            "The arguments of `{}` are no JSON object. Call it again with one; this came: {text}",
            call.name
        ));
    }
    let own = ToolContext::new(cx, call.id.clone());
    let args = call.args.clone();
    let name = Name::shared(&call.name);
    Box::pin(cx.step(name, async move { Ok(run(tool, args, own).await) }))
}

async fn run(tool: Arc<dyn DynTool>, args: Map<String, Value>, mut own: ToolContext) -> Called {
    let result = match caught(tool.call_dyn(args, &mut own)).await {
        Ok(result) => result,
        Err(panic) => Err(ToolError::panicked(format!("the tool panicked: {panic}"))),
    };
    let mut left = own.into_record();
    let result = result.map_err(|error| {
        // A call that failed has changed nothing, except for the files that are already stored.
        let artifact_delta = std::mem::take(&mut left.artifact_delta);
        left = ToolRecord { artifact_delta, ..ToolRecord::default() };
        error.to_string()
    });
    Called { result, left }
}

/// The result as an object, as models want it.
fn response(result: Result<Value, String>) -> Map<String, Value> {
    let (key, value) = match result {
        Ok(Value::Object(map)) => return map,
        Ok(value) => ("result", value),
        Err(message) => ("error", Value::String(message)),
    };
    Map::from_iter([(key.to_owned(), value)])
}

/// In ADK's words, which its conformance cases compare.
fn unknown(tools: &Toolbox<'_>, name: &str) -> String {
    let tools: Vec<_> = tools.iter().map(|tool| tool.declaration_dyn().name.as_str()).collect();
    let failed = format!("Invoking `{name}()` failed as no tool with that name is available.");
    match tools.is_empty() {
        true => format!("{failed} There are no tools that you can call."),
        false => format!(
            "{failed} The tools you can call are: {}. You could retry, but it is IMPORTANT that you only call a tool \
             from that list.",
            tools.join(", ")
        ),
    }
}
