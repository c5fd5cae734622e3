//! The recorded parts of a tool call: [`PreparedCall`] before its tool runs, and [`CallRecord`]
//! with its result.

use super::outcome::CallOutcome;
use crate::runtime::run::{Blocked, CallStep, Context, Run, count_replayed};
use crate::runtime::tool::{ToolArgs, ToolError, ToolRecord};
use crate::spec::AnsweredBy;
use crate::store::engine::CallInputs;
use crate::{FunctionCall, Path, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The recorded result of one tool call.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::agents::llm) struct CallRecord {
    pub(in crate::agents::llm) result: CallOutcome,
    pub(in crate::agents::llm) left: ToolRecord,
    /// The question that the call asks before it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asks: Option<Box<ToolQuestion>>,
}

/// The recorded part of a call before its tool runs: the effects of callbacks, and whether the tool
/// asks for a confirmation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PreparedCall {
    pub(super) args: ToolArgs,
    /// The result without a call of the tool: from a callback, from an error of the arguments, or
    /// from a refusal.
    pub(super) given: Option<CallOutcome>,
    pub(super) asks: bool,
    /// Permitted answerers; `None` for the user who started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<AnsweredBy>,
    pub(super) left: ToolRecord,
    /// Why the call needs the consent of a person, in a workflow with guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) blocked: Option<Box<Blocked>>,
    /// Answers to the questions of the tool itself. Not recorded here.
    #[serde(skip)]
    pub(super) answers: Vec<Value>,
}

impl PreparedCall {
    /// Returns the call with an error in place of its result.
    pub(super) fn refuse(self: Box<Self>, why: String) -> Box<Self> {
        let given = Some(CallOutcome::Error(why));
        Box::new(Self { given, ..*self })
    }

    /// Creates the state of a call that continues with answers to its own questions.
    pub(super) fn resuming(args: ToolArgs, left: ToolRecord, answers: Vec<Value>) -> Self {
        Self {
            args,
            left,
            answers,
            ..Self::default()
        }
    }
}

/// A question that a call asks before it continues. It is recorded with the call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolQuestion {
    pub(super) question: String,
    pub(super) schema: Value,
    /// The arguments after the changes by callbacks.
    pub(super) args: ToolArgs,
}

impl ToolQuestion {
    pub(super) fn new(error: ToolError, args: ToolArgs) -> Self {
        let (question, schema) = error.into_question();
        Self {
            question,
            schema,
            args,
        }
    }
}

/// Reports whether a call has an open question.
pub(super) fn has_question(called: &Result<CallRecord>) -> bool {
    called.as_ref().is_ok_and(|called| called.asks.is_some())
}

/// Counts the usage of a tool call, or of its part before a question.
pub(in crate::agents::llm) fn count_call(left: &ToolRecord, cx: &mut Context) {
    cx.mark_updated(&left.updated);
    if !left.usage.is_nothing() {
        *cx.frame.usage.get_or_insert_default() += &left.usage;
    }
}

/// Returns the arguments of a call, unchanged from the model's reply.
pub(super) fn arguments(call: &FunctionCall, keeps: bool) -> CallInputs {
    match &call.malformed {
        Some(text) => CallInputs::new(text, keeps),
        None => CallInputs::new(&call.args, keeps),
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
        run.count_skipped(&left.usage);
        count_replayed(step.meter.as_ref(), &left.usage.total(), 0, &path);
        if !left.updated.is_empty() {
            run.repeat_updates(&path, &step.to_string(), &left.updated)
                .await?;
        }
    }
    Ok(ended)
}
