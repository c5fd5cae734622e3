//! Questions that tool calls ask with [`ToolError::asks`].
//!
//! Each part of a call is a recorded step: the part that ends with a question, and each part that
//! continues with an answer. Work before a question is never repeated.

use super::calls::{CallRecord, count_call, start};
use super::confirm::PreparedCall;
use super::toolbox::Toolbox;
use crate::FunctionCall;
use crate::model::Usage;
use crate::runtime::run::{Context, WaitAnswer, WaitQuestion};
use crate::runtime::tool::{ToolArgs, ToolError, ToolRecord};
use crate::store::event::StateDelta;
use crate::{Name, Result};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A question that a call asks before it continues. It is recorded with the call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolQuestion {
    question: String,
    schema: Value,
    /// The arguments after the changes by callbacks.
    args: ToolArgs,
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

/// Continues calls with the answers to their questions until no call asks a further question.
pub(super) async fn resume_with_answers(
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
                usage: Usage::default(),
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
