//! The events of a run as a list or as a stream.

use super::json::{RunDetails, run_with_end};
use crate::app::{
    Answer, App, Listener, PausedStream, RunEnding, RunItem, RunQueryParam, Shared, StreamEnd,
    StreamPermit, WaitAnswer, Who, find_run, header_text, parse_run_query, run_id, sse_response,
    stored_events, stored_page, wants_stream,
};
use crate::refuse::{Refusal, json_response};
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::{Event, EventId, Runner};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response, sse};
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::vec;

pub(super) async fn events(
    State(app): Shared,
    Extension(caller): Who,
    Path(id): Path<String>,
    query: RunQueryParam,
    headers: HeaderMap,
) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let run = find_run(&runner, &caller, run_id(&id)?).await?;
    let header = cursor(header_text(&headers, "last-event-id")?)?;
    let after = header.or(cursor(query.after.as_deref())?);
    if wants_stream(&headers) {
        let (stream, listener) = (app.acquire_stream(&caller)?, app.listen(run.run_id));
        let events = RunEvents::new(&app, runner, run, query.until.unwrap_or_default());
        return Ok(events.response(after, listener, stream));
    }
    let events = match query.limit {
        Some(most) => stored_page(&runner, &run, after, most.get() as usize).await?,
        None => stored_events(&runner, &run, after).await?,
    };
    Ok(json_response(
        StatusCode::OK,
        &json!({"events": events, "next": events.last().map(|event| event.id)}),
    ))
}

/// Parses the id of the last received event. An empty id is none.
fn cursor(text: Option<&str>) -> Result<Option<EventId>, Refusal> {
    let text = text.filter(|text| !text.is_empty());
    let refuse =
        |_| Refusal::bad("cursor_invalid", "the cursor is not an event id").help("omit the cursor");
    text.map(str::parse).transpose().map_err(refuse)
}

/// The events of a run as server-sent events, then the event `end` with the response of
/// [`run`](super::runs::run). While the run waits, the stream stays open: the event `paused` has
/// the run with its open waits, and the event `answered` reports an answer.
///
/// If the store fails, the stream ends without `end`: the run continues, and the client requests
/// the remaining events by its cursor.
pub(super) struct RunEvents {
    app: Arc<App>,
    runner: Runner,
    run: RunInfo,
    until: StreamEnd,
    last: Option<EventId>,
    source: StreamSource,
    answers: vec::IntoIter<WaitAnswer>,
}

/// The source of the next events of a stream.
enum StreamSource {
    /// The run, until it ends or waits.
    Run(BoxStream<'static, Result<RunItem, Refusal>>),
    /// The end of its pause.
    Pause {
        stream: PausedStream,
        updated: u64,
        open: Vec<String>,
    },
    /// No more events.
    Over,
}

impl RunEvents {
    pub(super) fn new(app: &Arc<App>, runner: Runner, run: RunInfo, until: StreamEnd) -> Self {
        Self {
            app: app.clone(),
            runner,
            run,
            until,
            last: None,
            source: StreamSource::Over,
            answers: vec::IntoIter::default(),
        }
    }

    /// Streams the events after a cursor.
    pub(super) fn response(
        mut self,
        after: Option<EventId>,
        listener: Option<Listener>,
        permit: StreamPermit,
    ) -> Response {
        self.last = after;
        self.follow(listener);
        let location = format!("/v1/runs/{}", self.run.run_id);
        let events = stream::unfold(self, |mut events| async move {
            Some((events.next().await?, events))
        });
        let response = sse_response(events, permit);
        ([(header::LOCATION, location)], response).into_response()
    }

    fn follow(&mut self, listener: Option<Listener>) {
        let (runner, run) = (self.runner.clone(), self.run.clone());
        let items = self.app.follow(runner, run, self.last, listener);
        self.source = StreamSource::Run(items.boxed());
    }

    /// Returns the next event, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(answer) = self.answers.next() {
                return Some(named_event("answered", &answer));
            }
            match &mut self.source {
                StreamSource::Run(items) => {
                    let item = match items.next().await? {
                        Ok(RunItem::Event(event)) => {
                            if !event.partial {
                                self.last = Some(event.id);
                            }
                            return Some(sse_event(&event));
                        }
                        Ok(RunItem::End(end)) => self.end(end.as_deref()).await,
                        Err(refusal) => Err(refusal),
                    };
                    match item {
                        Ok(None) => {}
                        Ok(Some(event)) => return Some(event),
                        Err(refusal) if refusal.is_of_store() => return None,
                        Err(refusal) => {
                            self.source = StreamSource::Over;
                            return Some(named_event("error", refusal.body()));
                        }
                    }
                }
                StreamSource::Pause {
                    stream,
                    updated,
                    open,
                } => {
                    let answers = stream.answers(*updated, open).await?;
                    let listener = self.app.listen(self.run.run_id);
                    self.follow(listener);
                    self.answers = answers.into_iter();
                }
                StreamSource::Over => return None,
            }
        }
    }

    /// Returns the event for the end of a run or for its wait; `None` if the run continues already.
    async fn end(&mut self, end: Option<&RunEnding>) -> Result<Option<sse::Event>, Refusal> {
        if let Some(RunEnding::Failed(error)) = end
            && error.is_of_store()
        {
            return Err(error.into());
        }
        let id = self.run.run_id;
        let is_over = self.until == StreamEnd::Pause
            || matches!(end, Some(RunEnding::Finished { .. } | RunEnding::Failed(_)));
        // The stream is entered before the run is read, so that no answer escapes in between.
        let stream = (!is_over).then(|| self.app.pause_stream(&self.runner, id));
        let run = self.runner.runs(&RunFilter::of_run(id)).await?;
        let run = run.into_iter().next();
        let run = run.ok_or_else(|| Refusal::missing("run", &id.to_string()))?;
        let Some(stream) = stream.filter(|_| run.status.is_open()) else {
            let (_, json) = run_with_end(&self.runner, run, end).await?;
            self.source = StreamSource::Over;
            return Ok(Some(named_event("end", &json)));
        };
        if run.status.is_active() || run.is_ready {
            let listener = self.app.listen(id);
            self.follow(listener);
            return Ok(None);
        }
        let details = RunDetails::read(&self.runner, &run).await?;
        let waits = details.waiting.iter().flatten();
        let open = waits
            .filter_map(|wait| wait["id"].as_str().map(str::to_owned))
            .collect();
        let event = named_event("paused", &details.to_json());
        self.source = StreamSource::Pause {
            stream,
            updated: run.updated,
            open,
        };
        Ok(Some(event))
    }
}

fn sse_event(event: &Event) -> sse::Event {
    let sent = sse::Event::default().data(serde_json::to_string(event).unwrap_or_default());
    // A piece of a reply is not stored, so it has no id that could serve as a cursor.
    if event.partial {
        sent
    } else {
        sent.id(event.id.to_string())
    }
}

fn named_event(name: &str, data: &impl Serialize) -> sse::Event {
    let data = serde_json::to_string(data).unwrap_or_default();
    sse::Event::default().event(name).data(data)
}
