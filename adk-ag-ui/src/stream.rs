//! The events of a request: the events of its run, translated, and the end of the run.

use crate::event::AgUiEvent;
use crate::input::RunAgentInput;
use crate::request::{AbortOnDrop, ActiveRun, AgUiRequest, store_unavailable};
use crate::translate::{Ending, Translator};
use adk_core::engine::{RunFilter, RunStatus};
use adk_core::session::EventFilter;
use adk_core::{Error, ErrorKind, RunId, Runner};
use adk_server::protocol::{Refusal, RunEnding, RunItem, output};
use axum::http::StatusCode;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value, json};

/// The version of AG-UI.
const VERSION: &str = "1.0";

impl AgUiRequest {
    pub(crate) async fn events(self, active: ActiveRun) -> BoxStream<'static, AgUiEvent> {
        let ActiveRun {
            run,
            after,
            listener,
            abort,
            translator,
        } = active;
        let session = self.runner.session(&run.session.user, &run.session.id);
        // A store error here must not hide the run, which has started.
        let session = session
            .get(&EventFilter::new().last(0))
            .await
            .ok()
            .flatten();
        let state = session.map(|session| session.state).unwrap_or_default();
        let state = state
            .iter()
            .map(|(key, value)| (key.to_string(), Value::clone(value)));
        let snapshot = Value::Object(state.collect::<Map<_, _>>());
        let metadata = json!({"adk": {"run": run.run_id}});
        let head = [
            self.started_event(metadata),
            AgUiEvent::StateSnapshot { snapshot },
        ];
        let listener = listener.or_else(|| self.app.listen(run.run_id));
        let events = self
            .app
            .follow(self.runner.clone(), run.clone(), after, listener)
            .boxed();
        let sender = Sender {
            request: self,
            run: run.run_id,
            events,
            abort,
            translator: Some(translator),
        };
        let rest = stream::unfold(sender, |mut sender| async move {
            Some((sender.next().await?, sender))
        });
        stream::iter(head)
            .chain(rest.flat_map(stream::iter))
            .boxed()
    }

    /// Returns the events for a request without a run to follow.
    pub(crate) fn single_outcome(&self, ending: Ending) -> BoxStream<'static, AgUiEvent> {
        let end = self.end(Translator::default(), ending);
        stream::iter(std::iter::once(self.started_event(Value::Null)).chain(end)).boxed()
    }

    fn started_event(&self, metadata: Value) -> AgUiEvent {
        let RunAgentInput {
            thread_id, run_id, ..
        } = &self.input;
        AgUiEvent::RunStarted {
            thread_id: thread_id.clone(),
            run_id: run_id.clone(),
            protocol_version: VERSION,
            metadata,
        }
    }

    fn end(&self, translator: Translator, ending: Ending) -> Vec<AgUiEvent> {
        translator.end(
            self.input.thread_id.clone(),
            self.input.run_id.clone(),
            ending,
        )
    }
}

struct Sender {
    request: AgUiRequest,
    run: RunId,
    events: BoxStream<'static, Result<RunItem, Refusal>>,
    abort: AbortOnDrop,
    /// The translator; `None` after the last event.
    translator: Option<Translator>,
}

impl Sender {
    async fn next(&mut self) -> Option<Vec<AgUiEvent>> {
        let translator = self.translator.as_mut()?;
        let ending = match self.events.next().await {
            Some(Ok(RunItem::Event(event))) => return Some(translator.event(&event)),
            Some(Ok(RunItem::End(end))) => {
                read_ending(&self.request.runner, self.run, end.as_deref()).await
            }
            Some(Err(refusal)) => Err(refusal),
            None => {
                let message = format!(
                    "the server stops, and another process continues run `{}`",
                    self.run
                );
                Err(Refusal::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "closing",
                    message,
                ))
            }
        };
        self.abort.is_armed = false;
        let ending = ending.unwrap_or_else(|refusal| {
            if refusal.is_of_store() {
                failure(&store_unavailable(self.run))
            } else {
                failure(&refusal)
            }
        });
        Some(self.request.end(self.translator.take()?, ending))
    }
}

/// Returns the end of a run: from this process if it knows the end, otherwise from the store.
async fn read_ending(
    runner: &Runner,
    run: RunId,
    end: Option<&RunEnding>,
) -> Result<Ending, Refusal> {
    match end {
        Some(RunEnding::Finished { output, .. }) => return Ok(Ending::Finished(output.clone())),
        Some(RunEnding::Failed(error)) if error.is_of_store() => return Err(error.into()),
        Some(RunEnding::Failed(error)) => return Ok(error_ending(error)),
        Some(RunEnding::Paused) | None => {}
    }
    let filter = RunFilter::of_run(run);
    let now = runner.runs(&filter).await?.into_iter().next();
    let now = now.ok_or_else(|| Refusal::missing("run", &run.to_string()))?;
    Ok(match &now.status {
        RunStatus::Finished => Ending::Finished(output(runner, &now).await?),
        RunStatus::Failed(error) => failure(&error.clone().into()),
        RunStatus::Cancelled => Ending::Cancelled,
        _ => match runner.waiting_of(&filter).await? {
            open if open.is_empty() => {
                let message = format!("another process has answered and continues run `{run}`");
                return Err(Refusal::new(StatusCode::CONFLICT, "answered", message));
            }
            open => Ending::Waiting(open),
        },
    })
}

fn error_ending(error: &Error) -> Ending {
    match error.kind() {
        ErrorKind::Cancelled => Ending::Cancelled,
        _ => failure(&Refusal::from(error)),
    }
}

pub(crate) fn failure(refusal: &Refusal) -> Ending {
    let body = refusal.body();
    Ending::Failed {
        message: body.to_string(),
        code: body.kind.clone(),
    }
}
