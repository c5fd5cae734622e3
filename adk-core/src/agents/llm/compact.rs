//! [`run`]: summaries of long conversations. The model reads a summary in place of the older
//! events.

use super::agent::{Compaction, LlmAgent};
use super::answer::{ModelAnswer, call, call_model, reply};
use super::request::{self, SummaryRequest};
use crate::runtime::run::{Context, ModelChain};
use crate::store::engine::CallKind;
use crate::store::event::{Event, EventCompaction};
use crate::{ErrorKind, Name, Result};
use serde_json::json;
use std::sync::Arc;

/// The key of [`Event::custom_metadata`](crate::Event::custom_metadata) on a partial event that
/// reports a failed summary of the conversation. The value is an object with `error`.
pub const COMPACTION_KEY: &str = "compaction";

/// Summarizes the older part of the conversation if it is long enough.
pub(super) async fn run(
    agent: &LlmAgent,
    compaction: &Compaction,
    models: &ModelChain,
    call: u32,
    cx: &mut Context,
) -> Result<()> {
    if !may_begin(cx) {
        return Ok(());
    }
    let Some(SummaryRequest { end, mut request }) =
        SummaryRequest::find(agent, compaction, cx).await?
    else {
        return Ok(());
    };
    request.info = request::info(call, cx);
    request.info.is_summary = true;
    let models = summary_models(agent, models, cx)?;
    let failed = match call_model(agent, CallKind::Summary, &models, Arc::new(request), cx).await? {
        ModelAnswer::Reply(response) if !response.content.text().trim().is_empty() => {
            let mut event = Event::new();
            let summary = EventCompaction::until(end, response.content.text());
            event.actions.compaction = Some(Arc::new(summary));
            reply::add_call_details(&mut event, response);
            return cx.emit(event).await.map(drop);
        }
        ModelAnswer::Reply(_) => json!("the model gave no summary"),
        ModelAnswer::Failed(error) if matches!(error.kind(), ErrorKind::Model(_)) => {
            json!(error.to_string())
        }
        ModelAnswer::Failed(error) => return Err(error),
    };
    let mut event = Event::new().with_metadata(COMPACTION_KEY, json!({"error": failed}));
    event.partial = true;
    cx.emit(event).await.map(drop)
}

/// Returns the models that summarize.
fn summary_models(agent: &LlmAgent, own: &ModelChain, cx: &Context) -> Result<ModelChain> {
    let chain = agent.summary_model().map(|by| {
        cx.run
            .services
            .models
            .chain(Some(&by), &agent.settings.fallback)
    });
    Ok(chain.transpose()?.flatten().unwrap_or_else(|| own.clone()))
}

/// Reports whether a summary may begin here. If the journal contains the next model call, a summary
/// may begin only if the journal continues with the event of a summary. A compaction that a later
/// program version adds, or triggers earlier, therefore begins after the recorded part of the run.
/// A process may have died after it recorded a summary and before it emitted the event. Such a
/// summary counts only if no model call followed.
fn may_begin(cx: &mut Context) -> bool {
    align(cx);
    !cx.is_recorded(CallKind::Model, &call::MODEL)
        || cx
            .run
            .kind
            .replay()
            .is_some_and(|replay| replay.continues_with_summary(cx.path()))
}

/// Reports whether the journal contains a summary before the next model call.
pub(super) fn is_recorded(cx: &mut Context) -> bool {
    let summary = align(cx);
    cx.is_recorded(CallKind::Summary, &summary)
}

/// Gives the next summary the number of the next model call, and returns the name of summaries.
fn align(cx: &mut Context) -> Name {
    let summary = call::name(CallKind::Summary);
    cx.frame.calls.align(
        (CallKind::Summary, &summary),
        (CallKind::Model, &call::MODEL),
    );
    summary
}
