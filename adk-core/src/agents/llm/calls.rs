//! The calls of one model turn: run beside each other, answered in one event.

use super::asking::{self, Asks};
use super::confirm::{self, Before, Confirmed};
use super::hooks::ToolHooks;
use super::long_result::ResultLimit;
use super::merge::add;
use super::sequence::Sequence;
use super::toolbox::Toolbox;
use super::{Retry, trace};
use crate::content::{Content, FunctionCall, FunctionResponse, Part, Role};
use crate::models::model::ModelResponse;
use crate::panic::caught;
use crate::runtime::run::{CallStep, Context, Run, count_again, in_span};
use crate::runtime::tool::{DynTool, ToolActions, ToolContext, ToolError, ToolErrorKind, ToolRecord};
use crate::store::engine::{CallInputs, CallKind};
use crate::store::event::StateDelta;
use crate::{BoxFuture, Error, ErrorKind, MAX_DEPTH, Name, Path, Result, depth, secret, task};
use futures_util::future::{Either, join_all, ready};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// What is recorded of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Called {
    pub(super) result: Result<Value, String>,
    pub(super) left: ToolRecord,
    /// What it asks before it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asks: Option<Box<Asks>>,
}

/// The answers to the calls of a turn.
pub(super) struct Answers {
    /// In the order of the calls.
    pub(super) content: Content,
    /// What they ask for.
    pub(super) actions: ToolActions,
    /// The ids of calls that a person has refused.
    pub(super) refused: Vec<String>,
    /// The first call that sets `skip_summarization`.
    pub(super) skipping: Option<Arc<FunctionCall>>,
}

/// What came of the calls of a reply.
#[derive(Default)]
pub(super) struct Made {
    /// In the order of the calls.
    pub(super) all: Vec<Result<Called>>,
    /// The ids of those that a person has refused.
    refused: Vec<String>,
    /// The stored keys of which each has seen what the calls before it have set; empty where none has.
    saw: Vec<Vec<Name>>,
}

/// Makes all calls.
pub(super) async fn make(tools: &Toolbox<'_>, calls: &[Arc<FunctionCall>], cx: &mut Context) -> Result<Made> {
    let sequence = Sequence::of(tools, calls, cx);
    if !sequence.is_needed() {
        return make_beside(tools, calls, &[], cx).await;
    }
    Box::pin(make_in_waves(tools, calls, &sequence, cx)).await
}

async fn make_in_waves(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    sequence: &Sequence,
    cx: &mut Context,
) -> Result<Made> {
    let mut made = Made { saw: vec![Vec::new(); calls.len()], ..Made::default() };
    let mut all: Vec<Option<Result<Called>>> = calls.iter().map(|_| None).collect();
    let mut written = StateDelta::default();
    for wave in sequence.waves() {
        let own: Vec<_> = wave.iter().map(|at| calls[*at].clone()).collect();
        let seen: Vec<_> = wave.iter().map(|at| sequence.seen(*at, &written)).collect();
        for (at, seen) in wave.iter().zip(&seen) {
            made.saw[*at] = seen.iter().map(|(key, _)| key.clone()).collect();
        }
        let beside = make_beside(tools, &own, &seen, cx).await?;
        made.refused.extend(beside.refused);
        for (at, called) in wave.into_iter().zip(beside.all) {
            let called = called?;
            written.extend(called.left.state_delta.clone());
            all[at] = Some(Ok(called));
        }
    }
    made.all = all.into_iter().flatten().collect();
    Ok(made)
}

/// Makes calls beside each other. Those that a person has to agree to wait for that, the others run at once. `seen` is what
/// each sees of calls that were made before, if it sees any.
async fn make_beside(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    seen: &[StateDelta],
    cx: &mut Context,
) -> Result<Made> {
    let (mut started, mut open, mut refused) = (Vec::with_capacity(calls.len()), Vec::new(), Vec::new());
    for (at, call) in calls.iter().enumerate() {
        let seen = seen.get(at);
        // All are numbered, so that a call has the same number before and after its confirmation.
        match confirm::ask(tools, call, seen, cx).await? {
            Confirmed::Unasked => started.push(start(tools, call, seen, None, cx)),
            Confirmed::Begun(before) => started.push(start(tools, call, seen, Some(before), cx)),
            Confirmed::Refused(before) => {
                refused.push(call.id.clone());
                started.push(start(tools, call, seen, Some(before), cx));
            }
            Confirmed::Open(waiting) => {
                drop(start(tools, call, seen, None, cx));
                open.push(*waiting);
            }
        }
    }
    if !open.is_empty() {
        join_all(started).await.into_iter().try_for_each(|called| called.map(drop))?;
        match cx.run.park(open).await {}
    }
    let mut all = join_all(started).await;
    if all.iter().any(asking::asks) {
        Box::pin(asking::go_on(tools, calls, seen, &mut all, cx)).await?;
    }
    Ok(Made { all, refused, saw: Vec::new() })
}

/// Answers all calls; those in `later` get a further answer from outside. What they wrote waits in the context for the
/// event that tells of it.
pub(super) async fn answer(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    later: &[Arc<FunctionCall>],
    cx: &mut Context,
) -> Result<Answers> {
    let Made { all, refused, mut saw } = make(tools, calls, cx).await?;
    saw.resize(all.len(), Vec::new());
    let mut content = Content::new(Role::User, Vec::with_capacity(calls.len()));
    let (mut actions, mut skipping) = (ToolActions::default(), None);
    for ((call, called), saw) in calls.iter().zip(all).zip(saw) {
        let Called { result, left, .. } = called?;
        if left.actions.skip_summarization {
            skipping.get_or_insert_with(|| call.clone());
        }
        take(left, tools.get(&call.name), &saw, &mut actions, cx);
        // One that runs on and has nothing to say yet is not answered.
        if result == Ok(Value::Null) && later.iter().any(|later| later.id == call.id) {
            continue;
        }
        content.parts.push(responded(call, result));
    }
    // An agent that is a tool may have used up what is left of a bound.
    cx.held()?;
    Ok(Answers { content, actions, refused, skipping })
}

/// Takes over what a call has left: it waits in the context for the next event. Of the keys in `saw` it has seen what earlier
/// calls have set.
pub(super) fn take(
    left: ToolRecord,
    tool: Option<&Arc<dyn DynTool>>,
    saw: &[Name],
    actions: &mut ToolActions,
    cx: &mut Context,
) {
    counted(&left, cx);
    let (run, scope) = (cx.run.clone(), cx.scope.clone());
    let before = |key: &str| {
        let Some(scope) = &scope else { return run.get(key) };
        // An instance may have one key under two names, of which the tool knows one.
        let mut names = tool.into_iter().flat_map(|tool| tool.meta().writes).map(|write| write.name);
        let read = match names.find(|name| *scope.written_key(name) == *key) {
            Some(name) => scope.read_key(name),
            None => scope.read_key_of(key),
        };
        run.get(&read?)
    };
    add(left, saw, cx.state().overlay, actions, before);
}

/// The answer to a call.
pub(super) fn responded(call: &FunctionCall, result: Result<Value, String>) -> Part {
    let (id, name) = (call.id.clone(), call.name.clone());
    Part::from(FunctionResponse { id, name, response: response(result) })
}

/// Counts what a call, or a part of one, has left.
pub(super) fn counted(left: &ToolRecord, cx: &mut Context) {
    cx.updated_in_call(&left.updated);
    if !left.usage.is_nothing() {
        *cx.frame.usage.get_or_insert_default() += left.usage;
    }
}

/// Numbers the call and gives its work, which runs once it is joined with the others.
///
/// Each call has a record, also one of a tool that is not there or with arguments that cannot be read. So a call is answered
/// as it was, whatever tools, confirmations and callbacks a later version of the program has.
pub(super) fn start(
    tools: &Toolbox<'_>,
    call: &Arc<FunctionCall>,
    seen: Option<&StateDelta>,
    before: Option<Box<Before>>,
    cx: &mut Context,
) -> BoxFuture<'static, Result<Called>> {
    let hooks = ToolHooks::new(tools.agent(), cx);
    let (kind, name) = (CallKind::Tool, Name::shared(&call.name));
    let (of, path, on) = (CallStep::next(cx, kind, &name, seen), cx.path().clone(), cx.run.clone());
    let inputs = cx.inputs(|| arguments(call));
    let tool = match usable(tools, call) {
        Ok(tool) => tool,
        Err(why) => {
            let work = if hooks.is_watched() && tools.get(&call.name).is_none() {
                let own = ToolContext::new(cx, call.clone(), of.clone(), None);
                Either::Left(not_there(call.clone(), why, own, hooks))
            } else {
                let left = ToolRecord::default();
                Either::Right(ready(Ok(Called { result: Err(why), left, asks: None })))
            };
            let work = Box::pin(of.clone().by(work));
            return Box::pin(ended(of, on, path, cx.recorded_call(kind, name, inputs, work), |called| {
                &called.left
            }));
        }
    };
    let mut own = Box::new(ToolContext::new(cx, call.clone(), of.clone(), Some(&tool)));
    // In a box: few runs have a limit.
    let limit = ResultLimit::new(tools, call, &of, cx).map(Box::new);
    let call = call.clone();
    let made = of.clone();
    // An agent does what it did, for the same record. What its callbacks made of the call is in `before`.
    if tool.agent_dyn().is_some() && cx.run.engine.records() {
        let work = |under| {
            own.record_under(under);
            made.by(Box::pin(run(tool, call, before, own, hooks, limit)))
        };
        let step = cx.call_of_calls(kind, name, inputs, work);
        return Box::pin(ended(of, on, path, step, |called| &called.left));
    }
    // Boxed first: it is large, and each layer around it would move it.
    let work = made.by(Box::pin(run(tool, call, before, own, hooks, limit)));
    Box::pin(ended(of, on, path, cx.recorded_call(kind, name, inputs, work), |called| &called.left))
}

/// Whether a call was made before, or a person was asked about it, as far as its name tells.
pub(super) fn has_begun(call: &FunctionCall, cx: &Context) -> bool {
    let name = Name::shared(&call.name);
    let number = cx.frame.calls.next(CallKind::Tool, &name);
    [CallKind::Tool, CallKind::Confirmation].iter().any(|kind| cx.is_recorded_as(*kind, &name, number))
}

/// The arguments of a call, as the model gave them.
pub(super) fn arguments(call: &FunctionCall) -> CallInputs {
    match &call.malformed {
        Some(text) => CallInputs::of(text),
        None => CallInputs::of(&call.args),
    }
}

/// The tool of a call; otherwise what the model reads instead of a result.
fn usable(tools: &Toolbox<'_>, call: &FunctionCall) -> Result<Arc<dyn DynTool>, String> {
    let tool = tools.get(&call.name).ok_or_else(|| unknown(tools, &call.name))?;
    match &call.malformed {
        None => Ok(tool.clone()),
        Some(text) => Err(format!(
            "The arguments of `{}` are no JSON object of at most {MAX_DEPTH} levels. Call it again with one; this came: \
             {text}",
            call.name
        )),
    }
}

/// A call, made now or answered from the record. What is left of one from the record counts all the same.
pub(super) async fn ended<T>(
    of: Arc<CallStep>,
    run: Arc<Run>,
    path: Path,
    step: impl Future<Output = Result<T>>,
    left: fn(&T) -> &ToolRecord,
) -> Result<T> {
    let ended = step.await;
    if let Some(replay) = &run.replay {
        replay.call_ended(&run, || format!("{path}:{of}"));
    }
    let ended = ended?;
    if !of.is_made() {
        let left = left(&ended);
        run.skipped(left.usage);
        count_again(of.meter.as_ref(), &left.usage, 0, &path);
        if !left.updated.is_empty() {
            run.updates_again(&path, &of.to_string(), &left.updated).await?;
        }
    }
    Ok(ended)
}

async fn run(
    tool: Arc<dyn DynTool>,
    mut call: Arc<FunctionCall>,
    before: Option<Box<Before>>,
    // In a box: the future holds each argument twice.
    mut own: Box<ToolContext>,
    hooks: ToolHooks,
    limit: Option<Box<ResultLimit>>,
) -> Result<Called> {
    let given = match before {
        Some(before) => {
            let Before { args, given, left, answers, .. } = *before;
            Arc::make_mut(&mut call).args = args;
            own.resume(left, answers);
            given
        }
        None => hooks.before(&mut call, &mut own).await?.map(Ok),
    };
    let result = match given {
        Some(given) => given,
        None => {
            let result = attempts(&tool, &call, &mut own).await;
            own.take_refusal()?;
            match result {
                Ok(value) => Ok(value),
                Err(error) if error.kind() == ToolErrorKind::Asks && own.may_ask() => {
                    let asks = Some(Box::new(Asks::new(error, call.args.clone())));
                    return Ok(Called { result: Ok(Value::Null), left: own.into_record(), asks });
                }
                Err(error) => hooks.failed(&call, error, &mut own).await?,
            }
        }
    };
    let mut result = hooks.after(&call, result, &mut own).await?;
    if hooks.is_watched() {
        // It may be one that a callback gave.
        result = result.and_then(|value| checked(&call.name, value).map_err(|error| error.to_string()));
    }
    if let Some(limit) = limit {
        result = Box::pin(limit.apply(result, &mut own)).await?;
    }
    Ok(Called { result, left: own.into_record(), asks: None })
}

/// Calls the tool until an attempt succeeds, fails for good, or there were enough.
async fn attempts(
    tool: &Arc<dyn DynTool>,
    call: &Arc<FunctionCall>,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    let meta = tool.meta();
    let mut waits = Retry::new(meta.retry).waits();
    let mut attempts = 1;
    loop {
        let mark = own.mark();
        let agent = own.trace.clone();
        own.trace = agent.as_ref().map(|agent| trace::execute_tool(agent, &**tool, call, own, attempts));
        let result = match meta.timeout {
            // In a box: it holds a copy of the context.
            Some(timeout) => Box::pin(limited(tool, timeout, call, own)).await,
            None => attempt(&**tool, call, own).await,
        };
        if let Some(span) = std::mem::replace(&mut own.trace, agent) {
            trace::executed(&span, &result);
        }
        let error = match result {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        // A call that failed has changed nothing, except for the files that are already stored.
        own.rewind(mark);
        let may_pass = match error.kind() {
            // A write that it may not make is its own fault.
            ToolErrorKind::Failed => !own.is_refused(),
            // One that still runs on its thread must not run twice at a time.
            ToolErrorKind::Timeout => !meta.blocking,
            ToolErrorKind::Argument | ToolErrorKind::Panic | ToolErrorKind::Asks => false,
        };
        let Some(wait) = waits.next().filter(|_| may_pass) else { return Err(error.after(attempts)) };
        tokio::time::sleep(wait).await;
        attempts += 1;
    }
}

async fn attempt(tool: &dyn DynTool, call: &FunctionCall, own: &mut ToolContext) -> Result<Value, ToolError> {
    match caught(in_span(own.trace.clone(), tool.call_dyn(call.args.clone(), own))).await {
        Ok(result) => result.and_then(|value| checked(&call.name, value)),
        Err(panic) => Err(ToolError::panicked(format!("the tool panicked: {panic}"))),
    }
}

/// An attempt that may take so long.
async fn limited(
    tool: &Arc<dyn DynTool>,
    timeout: Duration,
    call: &Arc<FunctionCall>,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    let (made, call, mut apart) = (tool.clone(), call.clone(), own.copy());
    let (result, apart) = task::apart(async move {
        let result = tokio::time::timeout(timeout, attempt(&*made, &call, &mut apart)).await;
        (result, apart)
    })
    .await;
    *own = apart;
    result.unwrap_or_else(|_| Err(ToolError::timed_out(tool.meta(), timeout)))
}

/// Refuses a result that is nested too deep, or holds a secret.
fn checked(tool: &str, value: Value) -> Result<Value, ToolError> {
    if let Err(deep) = depth::check(&value) {
        depth::discard(value);
        return Err(ToolError::failed(format!("the result of `{tool}` is {deep}")));
    }
    if secret::is_in(&value) {
        let why = "holds a secret, which no model may see: a parameter `#[key] KEY: Out<Secret<T>>` gives it to a key";
        return Err(ToolError::failed(format!("the result of `{tool}` {why}")));
    }
    Ok(value)
}

/// Takes out arguments that are nested too deep: the call is answered with an error result.
pub(super) fn without_deep_arguments(mut response: ModelResponse) -> ModelResponse {
    for part in &mut response.content.parts {
        if let Part::FunctionCall(call) = part
            && let Err(deep) = depth::check_object(&call.args)
        {
            let call = Arc::make_mut(call);
            depth::discard(Value::Object(std::mem::take(&mut call.args)));
            call.malformed = Some(format!("an object {deep}"));
        }
    }
    response
}

/// The answer to a call of a tool that is not there, where callbacks may give one.
async fn not_there(
    call: Arc<FunctionCall>,
    why: String,
    mut own: ToolContext,
    hooks: ToolHooks,
) -> Result<Called> {
    let error = Error::new(ErrorKind::Agent, format!("tool `{}` is not there", call.name));
    let given = hooks.answered(&call, &error, &mut own).await?;
    Ok(Called { result: given.ok_or(why), left: own.into_record(), asks: None })
}

/// The same error result for each of these calls.
pub(super) fn not_run(calls: &[Arc<FunctionCall>], why: &str) -> Content {
    let parts = calls.iter().map(|call| responded(call, Err(why.to_owned())));
    Content::new(Role::User, parts.collect())
}

/// The result as an object, as models want it.
fn response(result: Result<Value, String>) -> Map<String, Value> {
    match result {
        Ok(value) => object(value),
        Err(message) => Map::from_iter([("error".to_owned(), Value::String(message))]),
    }
}

/// A value as an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        value => Map::from_iter([("result".to_owned(), value)]),
    }
}

/// In ADK's words, which its conformance cases compare.
fn unknown(tools: &Toolbox<'_>, name: &str) -> String {
    let tools: Vec<_> = tools.iter().map(|tool| tool.declaration_dyn().name.as_str()).collect();
    let failed = format!("Invoking `{name}()` failed as no tool with that name is available.");
    if tools.is_empty() {
        format!("{failed} There are no tools that you can call.")
    } else {
        format!(
            "{failed} The tools you can call are: {}. You could retry, but it is IMPORTANT that you only call a tool \
         from that list.",
            tools.join(", ")
        )
    }
}
