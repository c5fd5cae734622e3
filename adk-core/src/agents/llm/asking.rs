//! Questions from the middle of tool calls: [`ToolError::asks`].
//!
//! A part of a call that ends with a question is a recorded step, and so is each that goes on with an answer. What was done
//! before a question is never done again.

use super::calls::{Called, counted, start};
use super::confirm::Before;
use super::toolbox::Toolbox;
use crate::content::FunctionCall;
use crate::models::model::Usage;
use crate::runtime::run::{Context, WaitAnswer, WaitQuestion};
use crate::runtime::tool::{ToolArgs, ToolError, ToolRecord};
use crate::store::event::StateDelta;
use crate::{Name, Result};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What a call asks before it goes on. A record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asks {
    question: String,
    schema: Value,
    /// The arguments as callbacks have made them.
    args: ToolArgs,
}

impl Asks {
    pub(super) fn new(error: ToolError, args: ToolArgs) -> Self {
        let (question, schema) = error.into_question();
        Self { question, schema, args }
    }
}

/// Whether a call asks.
pub(super) fn asks(called: &Result<Called>) -> bool {
    called.as_ref().is_ok_and(|called| called.asks.is_some())
}

/// Lets calls go on with the answers to their questions, until none of them asks any more.
pub(super) async fn go_on(
    tools: &Toolbox<'_>,
    calls: &[Arc<FunctionCall>],
    seen: &[StateDelta],
    all: &mut [Result<Called>],
    cx: &mut Context,
) -> Result<()> {
    let mut answers: Vec<Vec<Value>> = calls.iter().map(|_| Vec::new()).collect();
    while all.iter().any(asks) {
        let (mut again, mut open) = (Vec::new(), Vec::new());
        for (at, call) in calls.iter().enumerate() {
            let Ok(Called { left, asks, .. }) = &mut all[at] else { continue };
            let Some(asks) = asks.take() else { continue };
            let Asks { question, schema, args } = *asks;
            counted(left, cx);
            let left = ToolRecord { usage: Usage::default(), ..std::mem::take(left) };
            let asked = WaitQuestion {
                question,
                schema,
                ..WaitQuestion::new(Name::from(format!("ask {}", call.name)))
            };
            // All are numbered, so that a call has the same number before and after its answer.
            match cx.ask(asked).await? {
                WaitAnswer::Open(waiting) => {
                    drop(start(tools, call, seen.get(at), None, cx));
                    open.push(*waiting);
                }
                WaitAnswer::There(value) => {
                    answers[at].push(value);
                    let before = Box::new(Before::going_on(args, left, answers[at].clone()));
                    let call = start(tools, call, seen.get(at), Some(before), cx);
                    again.push(async move { (at, call.await) });
                }
            }
        }
        let made = join_all(again).await;
        if !open.is_empty() {
            made.into_iter().try_for_each(|(_, called)| called.map(drop))?;
            match cx.run.park(open).await {}
        }
        made.into_iter().for_each(|(at, called)| all[at] = called);
    }
    Ok(())
}
