//! The tool calls of one model reply, which run concurrently.
//!
//! Each part of a call that asks with [`ToolError::asks`](crate::ToolError::asks) is a recorded
//! step: the part that ends with a question, and each part that continues with an answer. Work
//! before a question is never repeated.

mod attempts;
mod confirm;
mod hooks;
mod outcome;
mod record;
mod sequence;
mod start;

pub(super) use outcome::CallOutcome;
pub(super) use record::{CallRecord, count_call};

use self::confirm::ConfirmationOutcome;
use self::record::{PreparedCall, ToolQuestion, has_question};
use self::sequence::Sequence;
use self::start::start;
use super::toolbox::{RESERVED, Toolbox};
use crate::model::Usage;
use crate::runtime::run::{Context, WaitAnswer, WaitQuestion};
use crate::runtime::tool::ToolRecord;
use crate::store::engine::CallKind;
use crate::store::event::StateDelta;
use crate::{FunctionCall, Name, Result};
use adk_spec::__private::Cost;
use futures_util::future::join_all;
use serde_json::Value;
use std::sync::Arc;

/// Results of the calls of a reply.
#[derive(Default)]
pub(super) struct CallResults {
    /// The results in the order of the calls.
    pub(super) all: Vec<Result<CallRecord>>,
    /// Ids of calls that a person has refused.
    pub(super) refused: Vec<String>,
    /// For each call, the stored keys that earlier calls set and that this call has read; empty if
    /// no call has read any.
    pub(super) saw: Vec<Vec<Name>>,
}

/// Counts and executes all calls.
pub(super) async fn make(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    cx: &mut Context,
) -> Result<CallResults> {
    count_tools(calls, cx)?;
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
    if all.iter().any(has_question) {
        Box::pin(resume_with_answers(tools, calls, seen, &mut all, cx)).await?;
    }
    if let Some(cell) = cx.cell() {
        for (call, called) in calls.iter().zip(&all) {
            match called {
                Ok(called) => cell.join(called.left.marks()),
                // The error may quote the result.
                Err(_) => tools
                    .get(&call.name)
                    .into_iter()
                    .for_each(|tool| cell.join(tools.marks(&**tool, cx))),
            }
        }
    }
    Ok(CallResults {
        all,
        refused,
        saw: Vec::new(),
    })
}

/// Continues calls with the answers to their questions until no call asks a further question.
async fn resume_with_answers(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    seen: &[StateDelta],
    all: &mut [Result<CallRecord>],
    cx: &mut Context,
) -> Result<()> {
    let mut answers: Vec<Vec<Value>> = calls.iter().map(|_| Vec::new()).collect();
    while all.iter().any(has_question) {
        let (mut again, mut open) = (Vec::new(), Vec::new());
        for (at, call) in calls.iter().enumerate() {
            let Ok(CallRecord { left, asks, .. }) = &mut all[at] else {
                continue;
            };
            let Some(asks) = asks.take() else { continue };
            let ToolQuestion {
                question,
                schema,
                args,
            } = *asks;
            count_call(left, cx);
            let left = ToolRecord {
                usage: Default::default(),
                ..std::mem::take(left)
            };
            let asked = WaitQuestion {
                question,
                schema,
                ..WaitQuestion::new(Name::from(format!("ask {}", call.name)))
            };
            // Every call is numbered here, also a call that waits. A call therefore has the same
            // number before and after its answer.
            match cx.ask(asked).await? {
                WaitAnswer::Open(waiting) => {
                    drop(start(tools, call, seen.get(at), None, cx));
                    open.push(*waiting);
                }
                WaitAnswer::There(value) => {
                    answers[at].push(value);
                    let before = Box::new(PreparedCall::resuming(args, left, answers[at].clone()));
                    let call = start(tools, call, seen.get(at), Some(before), cx);
                    again.push(async move { (at, call.await) });
                }
            }
        }
        let made = join_all(again).await;
        if !open.is_empty() {
            made.into_iter()
                .try_for_each(|(_, called)| called.map(drop))?;
            match cx.run.park(open).await {}
        }
        made.into_iter().for_each(|(at, called)| all[at] = called);
    }
    Ok(())
}

/// Counts tool calls before they start, except for calls of the runtime's own tools.
fn count_tools(calls: &[Arc<FunctionCall>], cx: &mut Context) -> Result<()> {
    let own = calls.iter().filter(|call| !RESERVED.contains(&&*call.name));
    let mut usage = Usage::default();
    usage.tool_calls = own.count() as u64;
    cx.count(Cost::ToolCalls, usage.tool_calls, || {
        calls.iter().any(|call| has_begun(call, cx))
    })?;
    *cx.frame.usage.get_or_insert_default() += usage;
    cx.run.add_usage(cx.author(), usage);
    Ok(())
}

/// Reports whether the journal contains this call or its confirmation, by name and number.
fn has_begun(call: &FunctionCall, cx: &Context) -> bool {
    let name = Name::shared(&call.name);
    let number = cx.frame.calls.next(CallKind::Tool, &name);
    [CallKind::Tool, CallKind::Confirmation]
        .iter()
        .any(|kind| cx.is_recorded_as(*kind, &name, number))
}
