//! The tool calls of one model reply: they run concurrently, and one event has all responses.

use super::confirm::{self, ConfirmationOutcome, PreparedCall};
use super::hooks::ToolHooks;
use super::long_result::ResultLimit;
use super::merge::add;
use super::questions::{self, ToolQuestion};
use super::sequence::Sequence;
use super::toolbox::Toolbox;
use super::{Retry, trace};
use crate::model::ModelResponse;
use crate::panic::catch_panic;
use crate::runtime::run::{CallStep, Context, Run, count_replayed, in_span};
use crate::runtime::tool::{
    DynTool, ToolActions, ToolContext, ToolError, ToolErrorKind, ToolRecord,
};
use crate::store::engine::{CallInputs, CallKind};
use crate::store::event::StateDelta;
use crate::{BoxFuture, Error, ErrorKind, MAX_DEPTH, Name, Path, Result, depth, secret, task};
use crate::{Content, FunctionCall, FunctionResponse, Part, Role};
use futures_util::future::{Either, join_all, ready};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The recorded result of one tool call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallRecord {
    pub(super) result: Result<Value, String>,
    pub(super) left: ToolRecord,
    /// The question that the call asks before it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asks: Option<Box<ToolQuestion>>,
}

/// The responses to the calls of a reply.
pub(super) struct CallResponses {
    /// The responses in the order of the calls.
    pub(super) content: Content,
    /// Actions that the calls request.
    pub(super) actions: ToolActions,
    /// Ids of calls that a person has refused.
    pub(super) refused: Vec<String>,
    /// The first call that sets `skip_summarization`.
    pub(super) skipping: Option<Arc<FunctionCall>>,
}

/// Results of the calls of a reply.
#[derive(Default)]
pub(super) struct CallResults {
    /// The results in the order of the calls.
    pub(super) all: Vec<Result<CallRecord>>,
    /// Ids of calls that a person has refused.
    refused: Vec<String>,
    /// For each call, the stored keys that earlier calls set and that this call has read; empty if
    /// no call has read any.
    saw: Vec<Vec<Name>>,
}

/// Executes all calls.
pub(super) async fn make(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    cx: &mut Context,
) -> Result<CallResults> {
    let sequence = Sequence::new(tools, calls, cx);
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
) -> Result<CallResults> {
    let mut made = CallResults {
        saw: vec![Vec::new(); calls.len()],
        ..CallResults::default()
    };
    let mut all: Vec<Option<Result<CallRecord>>> = calls.iter().map(|_| None).collect();
    let mut written = StateDelta::default();
    for wave in sequence.waves() {
        let own: Vec<_> = wave.iter().map(|at| calls[*at].clone()).collect();
        let seen: Vec<_> = wave
            .iter()
            .map(|at| sequence.visible_writes(*at, &written))
            .collect();
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

/// Executes calls concurrently. Calls that need a confirmation wait for it; the others start at
/// once. `seen` contains, for each call, the writes of earlier calls that it sees.
async fn make_beside(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    seen: &[StateDelta],
    cx: &mut Context,
) -> Result<CallResults> {
    let (mut started, mut open, mut refused) =
        (Vec::with_capacity(calls.len()), Vec::new(), Vec::new());
    for (at, call) in calls.iter().enumerate() {
        let seen = seen.get(at);
        // Every call is numbered here, also a call that waits. A call therefore has the same number
        // before and after its confirmation.
        match confirm::ask(tools, call, seen, cx).await? {
            ConfirmationOutcome::NotNeeded => started.push(start(tools, call, seen, None, cx)),
            ConfirmationOutcome::Ready(before) => {
                started.push(start(tools, call, seen, Some(before), cx))
            }
            ConfirmationOutcome::Refused(before) => {
                refused.push(call.id.clone());
                started.push(start(tools, call, seen, Some(before), cx));
            }
            ConfirmationOutcome::Open(waiting) => {
                drop(start(tools, call, seen, None, cx));
                open.push(*waiting);
            }
        }
    }
    if !open.is_empty() {
        join_all(started)
            .await
            .into_iter()
            .try_for_each(|called| called.map(drop))?;
        match cx.run.park(open).await {}
    }
    let mut all = join_all(started).await;
    if all.iter().any(questions::has_question) {
        Box::pin(questions::resume_with_answers(
            tools, calls, seen, &mut all, cx,
        ))
        .await?;
    }
    Ok(CallResults {
        all,
        refused,
        saw: Vec::new(),
    })
}

/// Executes all calls and creates their responses. Calls in `later` get a further response from
/// outside. The context keeps the writes of the calls for the next event.
pub(super) async fn answer(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    later: &[Arc<FunctionCall>],
    cx: &mut Context,
) -> Result<CallResponses> {
    let CallResults {
        all,
        refused,
        mut saw,
    } = make(tools, calls, cx).await?;
    saw.resize(all.len(), Vec::new());
    let mut content = Content::new(Role::User, Vec::with_capacity(calls.len()));
    let (mut actions, mut skipping) = (ToolActions::default(), None);
    for ((call, called), saw) in calls.iter().zip(all).zip(saw) {
        let CallRecord { result, left, .. } = called?;
        if left.actions.skip_summarization {
            skipping.get_or_insert_with(|| call.clone());
        }
        take_record(left, tools.get(&call.name), &saw, &mut actions, cx);
        // A call that is still running and returned no value gets no response yet.
        if result == Ok(Value::Null) && later.iter().any(|later| later.id == call.id) {
            continue;
        }
        content.parts.push(response_part(call, result));
    }
    // A tool that is an agent may have exceeded a limit of `#[bounds(...)]`.
    cx.check_limits()?;
    Ok(CallResponses {
        content,
        actions,
        refused,
        skipping,
    })
}

/// Moves the writes of a call to the context, for the next event. `saw` contains the keys that
/// earlier calls had set when this call read them.
pub(super) fn take_record(
    left: ToolRecord,
    tool: Option<&Arc<dyn DynTool>>,
    saw: &[Name],
    actions: &mut ToolActions,
    cx: &mut Context,
) {
    count_call(&left, cx);
    let (run, scope) = (cx.run.clone(), cx.around.scope.clone());
    let before = |key: &str| {
        let Some(scope) = &scope else {
            return run.get(key);
        };
        // An instance may map two names to one stored key. The name that the tool declares decides.
        let mut names = tool
            .into_iter()
            .flat_map(|tool| tool.meta().writes)
            .map(|write| write.name);
        let read = match names.find(|name| *scope.written_key(name) == *key) {
            Some(name) => scope.read_key(name),
            None => scope.read_key_of(key),
        };
        run.get(&read?)
    };
    add(left, saw, cx.state().overlay, actions, before);
}

/// Returns the response part for a call.
pub(super) fn response_part(call: &FunctionCall, result: Result<Value, String>) -> Part {
    let (id, name) = (call.id.clone(), call.name.clone());
    Part::from(FunctionResponse {
        id,
        name,
        response: response(result),
    })
}

/// Counts the usage of a tool call, or of its part before a question.
pub(super) fn count_call(left: &ToolRecord, cx: &mut Context) {
    cx.mark_updated(&left.updated);
    if !left.usage.is_nothing() {
        *cx.frame.usage.get_or_insert_default() += left.usage;
    }
}

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
    let inputs = cx.inputs(|| arguments(call));
    let tool = match find_tool(tools, call) {
        Ok(tool) => tool,
        Err(why) => {
            let work = if hooks.is_watched() && tools.get(&call.name).is_none() {
                let own = ToolContext::new(cx, call.clone(), step.clone(), None);
                Either::Left(respond_to_missing_tool(call.clone(), why, own, hooks))
            } else {
                let left = ToolRecord::default();
                Either::Right(ready(Ok(CallRecord {
                    result: Err(why),
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

/// Reports whether the journal contains this call or its confirmation, by name and number.
pub(super) fn has_begun(call: &FunctionCall, cx: &Context) -> bool {
    let name = Name::shared(&call.name);
    let number = cx.frame.calls.next(CallKind::Tool, &name);
    [CallKind::Tool, CallKind::Confirmation]
        .iter()
        .any(|kind| cx.is_recorded_as(*kind, &name, number))
}

/// Returns the arguments of a call, unchanged from the model's reply.
pub(super) fn arguments(call: &FunctionCall) -> CallInputs {
    match &call.malformed {
        Some(text) => CallInputs::new(text),
        None => CallInputs::new(&call.args),
    }
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

/// Completes a call that ran now or that was replayed. A replayed call counts its usage too.
pub(super) async fn finish_call<T>(
    step: Arc<CallStep>,
    run: Arc<Run>,
    path: Path,
    work: impl Future<Output = Result<T>>,
    left: fn(&T) -> &ToolRecord,
) -> Result<T> {
    let ended = work.await;
    if let Some(replay) = run.kind.replay() {
        replay.end_call(&run, || format!("{path}:{step}"));
    }
    let ended = ended?;
    if !step.is_made() {
        let left = left(&ended);
        run.count_skipped(left.usage);
        count_replayed(step.meter.as_ref(), &left.usage, 0, &path);
        if !left.updated.is_empty() {
            run.repeat_updates(&path, &step.to_string(), &left.updated)
                .await?;
        }
    }
    Ok(ended)
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
                    let asks = Some(Box::new(ToolQuestion::new(error, call.args.clone())));
                    return Ok(CallRecord {
                        result: Ok(Value::Null),
                        left: own.into_record(),
                        asks,
                    });
                }
                Err(error) => hooks.handle_error(&call, error, &mut own).await?,
            }
        }
    };
    let mut result = hooks.after(&call, result, &mut own).await?;
    if hooks.is_watched() {
        // The result may come from a callback, whose value is not checked yet.
        result = result
            .and_then(|value| check_result(&call.name, value).map_err(|error| error.to_string()));
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

/// Calls the tool until an attempt succeeds, fails permanently, or is the last permitted attempt.
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
        own.trace = agent
            .as_ref()
            .map(|agent| trace::tool_span(agent, &**tool, call, own, attempts));
        let result = match meta.timeout {
            // Boxed, because the future holds a copy of the context.
            Some(timeout) => Box::pin(attempt_in_time(tool, timeout, call, own)).await,
            None => attempt(&**tool, call, own).await,
        };
        if let Some(span) = std::mem::replace(&mut own.trace, agent) {
            trace::end_tool(&span, &result);
        }
        let error = match result {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        // Discards the changes of a failed call, except for stored files.
        own.rewind(mark);
        let may_pass = match error.kind() {
            // A retry cannot correct a refused write.
            ToolErrorKind::Failed => !own.is_refused(),
            // A timed-out blocking call still runs on its thread and must not run twice at once.
            ToolErrorKind::Timeout => !meta.blocking,
            ToolErrorKind::Argument | ToolErrorKind::Panic | ToolErrorKind::Asks => false,
        };
        let Some(wait) = waits.next().filter(|_| may_pass) else {
            return Err(error.after(attempts));
        };
        tokio::time::sleep(wait).await;
        attempts += 1;
    }
}

async fn attempt(
    tool: &dyn DynTool,
    call: &FunctionCall,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    match catch_panic(in_span(
        own.trace.clone(),
        tool.call_dyn(call.args.clone(), own),
    ))
    .await
    {
        Ok(result) => result.and_then(|value| check_result(&call.name, value)),
        Err(panic) => Err(ToolError::panicked(format!("the tool panicked: {panic}"))),
    }
}

/// Executes an attempt with a timeout.
async fn attempt_in_time(
    tool: &Arc<dyn DynTool>,
    timeout: Duration,
    call: &Arc<FunctionCall>,
    own: &mut ToolContext,
) -> Result<Value, ToolError> {
    let (made, call, mut apart) = (tool.clone(), call.clone(), own.copy());
    let (result, apart) = task::spawn_scoped(async move {
        let result = tokio::time::timeout(timeout, attempt(&*made, &call, &mut apart)).await;
        (result, apart)
    })
    .await;
    *own = apart;
    result.unwrap_or_else(|_| Err(ToolError::timed_out(tool.meta(), timeout)))
}

/// Refuses a result that is nested too deep or contains a secret.
fn check_result(tool: &str, value: Value) -> Result<Value, ToolError> {
    if let Err(deep) = depth::check(&value) {
        depth::discard(value);
        return Err(ToolError::failed(format!(
            "the result of `{tool}` is {deep}"
        )));
    }
    if secret::has_secret(&value) {
        let why = "holds a secret, which no model may see: a parameter \
            `#[key] KEY: Out<Secret<T>>` gives it to a key";
        return Err(ToolError::failed(format!("the result of `{tool}` {why}")));
    }
    Ok(value)
}

/// Removes arguments that are nested too deep. Such a call gets an error as its response.
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
        result: given.ok_or(why),
        left: own.into_record(),
        asks: None,
    })
}

/// Returns the same error response for each of the calls.
pub(super) fn error_responses(calls: &[Arc<FunctionCall>], why: &str) -> Content {
    let parts = calls
        .iter()
        .map(|call| response_part(call, Err(why.to_owned())));
    Content::new(Role::User, parts.collect())
}

/// Converts a result to an object, the form that models expect.
fn response(result: Result<Value, String>) -> Map<String, Value> {
    match result {
        Ok(value) => object(value),
        Err(message) => Map::from_iter([("error".to_owned(), Value::String(message))]),
    }
}

/// Wraps a value in an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        value => Map::from_iter([("result".to_owned(), value)]),
    }
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
