//! Spans of the runs of a session, computed from the times and paths of their events.

use crate::answer::{Answer, ok};
use crate::owner::SLASH;
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::{Event, Path as EventPath};
use adk_server::protocol::{App, Refusal, Shared, Who, stored_events};
use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::routing::get;
use serde_json::{Value, json};
use std::iter::successors;
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(
            "/dev/apps/{app}/debug/trace/session/{session}",
            get(session_trace),
        )
        .route("/dev/apps/{app}/debug/trace/{event}", get(event_trace))
}

async fn session_trace(
    State(app): Shared,
    Extension(caller): Who,
    Path((name, id)): Path<(String, String)>,
) -> Answer {
    let runner = app.runner(&caller);
    let workflow = app.workflow(&runner, &caller, &name)?;
    let mut filter = RunFilter::any().oldest_first();
    // The path does not contain the user of the session.
    filter.user.clone_from(&caller.user);
    filter.session = Some(format!("{}{SLASH}{id}", workflow.name()));
    let mut spans = Vec::new();
    for run in runner.runs(&filter).await? {
        let events = stored_events(&runner, &run, None).await?;
        spans.extend(Spans::compute(&run, &id, &events));
    }
    Ok(ok(&json!(spans)))
}

/// Refuses the trace of an event, because model requests are not stored.
async fn event_trace(
    State(app): Shared,
    Extension(caller): Who,
    Path((name, event)): Path<(String, String)>,
) -> Answer {
    app.workflow(&app.runner(&caller), &caller, &name)?;
    Err(Refusal::missing("trace of the event", &event)
        .help("request the trace of its session")
        .into())
}

/// The span of an agent or a block that is being computed.
struct OpenSpan {
    place: EventPath,
    start: u64,
    end: u64,
    events: Vec<String>,
}

struct Spans<'a> {
    run: &'a RunInfo,
    open: Vec<OpenSpan>,
    all: Vec<Value>,
}

impl<'a> Spans<'a> {
    fn compute(run: &'a RunInfo, session: &str, events: &[Arc<Event>]) -> Vec<Value> {
        let mut spans = Self {
            run,
            open: Vec::new(),
            all: Vec::new(),
        };
        let end = events
            .last()
            .map_or(run.created, |event| event.timestamp)
            .max(run.created);
        let invocation = json!({
            "gcp.vertex.agent.invocation_id": run.run_id,
            "gen_ai.conversation.id": session,
        });
        spans.add(
            "invocation",
            String::new(),
            None,
            (run.created, end),
            invocation,
        );
        let mut before = run.created;
        for (nth, event) in events.iter().enumerate() {
            if *event.author != *"user" {
                spans.event(event, before, &events[..nth]);
            }
            before = event.timestamp;
        }
        for OpenSpan {
            place,
            start,
            end,
            events,
        } in std::mem::take(&mut spans.open)
        {
            let name = place.name().to_string();
            let attributes = json!({
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": name,
                "gen_ai.conversation.id": session,
                "gcp.vertex.agent.invocation_id": run.run_id,
                "gcp.vertex.agent.associated_event_ids": events,
            });
            let parent = Some(place.parent().map(ToString::to_string).unwrap_or_default());
            spans.add(
                &format!("invoke_agent {name}"),
                place.to_string(),
                parent,
                (start, end),
                attributes,
            );
        }
        spans.all
    }

    /// Adds the spans that end with an event. A span starts at the previous event.
    fn event(&mut self, event: &Event, before: u64, earlier: &[Arc<Event>]) {
        let (end, id) = (event.timestamp, event.id.to_string());
        for place in successors(Some(&event.path), |path| path.parent()) {
            let at = self
                .open
                .iter()
                .position(|open| open.place == *place)
                .unwrap_or_else(|| {
                    self.open.push(OpenSpan {
                        place: place.clone(),
                        start: before,
                        end,
                        events: Vec::new(),
                    });
                    self.open.len() - 1
                });
            self.open[at].end = end;
            if place == &event.path {
                self.open[at].events.push(id.clone());
            }
        }
        let parent = Some(event.path.to_string());
        if let Some(usage) = event.usage() {
            let attributes = json!({
                "gen_ai.operation.name": "generate_content",
                "gen_ai.agent.name": *event.author,
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gcp.vertex.agent.event_id": id,
                "gcp.vertex.agent.invocation_id": self.run.run_id,
            });
            self.add(
                "generate_content",
                format!("{id}:model"),
                parent.clone(),
                (before, end),
                attributes,
            );
        }
        for answer in event.function_responses() {
            let is_call =
                |event: &&Arc<Event>| event.function_calls().any(|call| call.id == answer.id);
            let start = earlier
                .iter()
                .rev()
                .find(is_call)
                .map_or(before, |event| event.timestamp);
            let attributes = json!({
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": answer.name,
                "gen_ai.tool.call.id": answer.id,
                "gcp.vertex.agent.event_id": id,
            });
            let name = format!("execute_tool {}", answer.name);
            self.add(
                &name,
                format!("{id}:{}", answer.id),
                parent.clone(),
                (start, end),
                attributes,
            );
        }
    }

    fn add(
        &mut self,
        name: &str,
        id: String,
        parent: Option<String>,
        (start, end): (u64, u64),
        attributes: Value,
    ) {
        let full_id = |id: String| format!("{}/{id}", self.run.run_id);
        self.all.push(json!({
            "name": name,
            "start_time": start.saturating_mul(1000),
            "end_time": end.saturating_mul(1000),
            "trace_id": self.run.run_id,
            "span_id": full_id(id),
            "parent_span_id": parent.map(full_id),
            "attributes": attributes,
        }));
    }
}
