//! [`AgUi`]: AG-UI 1.0. `POST /ag-ui/NAME` runs a workflow and streams its events to a user
//! interface.
//!
//! An invalid request is refused with an HTTP status; later errors become the event `RUN_ERROR`.

mod event;
mod input;
mod translate;

use crate::protocol::{
    Answer, App, Body, Caller, Listener, Protocol, Refusal, RunEnding, RunItem, RunQueryParam,
    RunStart, Shared, StartOutcome, Who, find_run, output, parse_body, parse_run_query, run_id,
    sse_response, stored_events,
};
use adk_core::engine::{RunFilter, RunInfo, RunStatus, Waiting};
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::session::EventFilter;
use adk_core::{Error, ErrorKind, EventId, Result, RunId, Runner};
use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::response::sse;
use axum::routing::post;
use event::AgUiEvent;
use futures_util::stream::{self, BoxStream, StreamExt};
use input::{ResumeStatus, RunAgentInput};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use translate::{Ending, Translator};

const VERSION: &str = "1.0";

/// AG-UI 1.0.
#[derive(Clone, Copy, Debug)]
pub struct AgUi;

impl Protocol for AgUi {
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        Ok(Router::new().route("/ag-ui/{workflow}", post(run)))
    }
}

async fn run(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    query: RunQueryParam,
    body: Body,
) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let workflow = app.workflow(&runner, &caller, &name)?;
    let user = caller.acts_for(query.user.as_deref())?;
    let input = RunAgentInput::read(parse_body(body)?)?;
    let permit = app.acquire_stream()?;
    let request = AgUiRequest {
        app,
        caller,
        runner,
        workflow,
        user,
        input,
    };
    let outcome = if request.input.resume.is_empty() {
        request.begin().await
    } else {
        request.resume().await
    };
    let events = match outcome {
        Ok(RequestOutcome::Active(active)) => request.events(*active).await,
        Ok(RequestOutcome::Cancelled) => request.single_outcome(Ending::Cancelled),
        Err(refusal) if needs_http_status(&refusal) => return Err(refusal),
        Err(refusal) => request.single_outcome(failure(&refusal)),
    };
    let events = events.map(|event| {
        let data = serde_json::to_string(&event).unwrap_or_default();
        sse::Event::default().data(data)
    });
    Ok(sse_response(events, permit))
}

struct AgUiRequest {
    app: Arc<App>,
    caller: Caller,
    runner: Runner,
    workflow: KnownWorkflow,
    user: String,
    input: RunAgentInput,
}

enum RequestOutcome {
    Active(Box<ActiveRun>),
    /// The request has cancelled the run.
    Cancelled,
}

/// A run that the request has started or resumed.
struct ActiveRun {
    run: RunInfo,
    after: Option<EventId>,
    listener: Option<Listener>,
    abort: AbortOnDrop,
    translator: Translator,
}

impl AgUiRequest {
    async fn begin(&self) -> Result<RequestOutcome, Refusal> {
        let Self {
            app,
            runner,
            workflow,
            input,
            user,
            ..
        } = self;
        let mut filter = RunFilter::unfinished()
            .user(user)
            .workflows([workflow.name()]);
        filter.session = Some(input.thread_id.clone());
        let open = runner.waiting_of(&filter).await?;
        if !open.is_empty() {
            return Err(unanswered(open.iter().map(|wait| &*wait.id)));
        }
        let content = input.user_message()?;
        let values = input.input_of(workflow, content.as_ref());
        let faults = workflow.check(&values);
        if !faults.is_empty() {
            return Err(Refusal::input(faults));
        }
        let values = workflow.complete(values);
        let config = runner
            .config()
            .clone()
            .streaming(true)
            .lifecycle_events(true);
        let start =
            RunStart::new(runner, user, workflow.name(), &values).session(&*input.thread_id);
        let request = |handle: &SessionHandle| {
            let mut request = handle
                .run_by_name(workflow.name(), values.clone())?
                .config(config.clone());
            if let Some(content) = &content {
                request = request.message(content.clone());
            }
            for (key, value) in input.session_keys(workflow) {
                request = request.state(key, value);
            }
            Ok(request)
        };
        let (run, listener) = match app.begin(&start, request).await? {
            StartOutcome::Started(run, listener) => (run, Some(listener)),
            StartOutcome::Existing(run) => (run, None),
            StartOutcome::Unknown(run) => return Err(store_unavailable(run.run_id)),
        };
        let (abort, translator) = (self.abort(run.run_id), Translator::default());
        Ok(RequestOutcome::Active(Box::new(ActiveRun {
            run,
            after: None,
            listener,
            abort,
            translator,
        })))
    }

    async fn resume(&self) -> Result<RequestOutcome, Refusal> {
        let Self {
            app,
            runner,
            input,
            user,
            caller,
            ..
        } = self;
        let run = self.interrupted_run().await?;
        if input
            .resume
            .iter()
            .any(|entry| entry.status == ResumeStatus::Cancelled)
        {
            app.cancel(runner, &run).await?;
            return Ok(RequestOutcome::Cancelled);
        }
        let open = runner.waiting_of(&RunFilter::of_run(run.run_id)).await?;
        let answerer = caller.answerer();
        let is_answered = |wait: &&Waiting| {
            input
                .resume
                .iter()
                .any(|entry| entry.interrupt_id == wait.id)
        };
        let (answered, rest): (Vec<_>, Vec<_>) = open.iter().partition(is_answered);
        // Check all answers before the first one is stored, so that a refusal changes nothing.
        answered
            .iter()
            .try_for_each(|wait| wait.check_answerer(&answerer))?;
        // Other users may answer the waits that this caller may not.
        let own = rest.iter().filter(|wait| wait.may_answer(&answerer));
        let missing: Vec<_> = own.map(|wait| &*wait.id).collect();
        if !missing.is_empty() {
            return Err(unanswered(missing));
        }
        let events = stored_events(runner, &run, None).await?;
        let translator = Translator::for_resumed_run(events.iter().map(|event| &**event));
        let handle = runner.session(user, &input.thread_id);
        let _ours = app.reserve(run.run_id);
        for entry in &input.resume {
            let wait = open.iter().find(|wait| wait.id == entry.interrupt_id);
            let is_yes_or_no = wait.is_some_and(|wait| wait.schema["type"] == "boolean");
            // AG-UI sends an approval as `{"approved": true}`.
            let approved = entry.payload.get("approved").filter(|_| is_yes_or_no);
            let value = approved.unwrap_or(&entry.payload);
            match handle
                .answer_as(&entry.interrupt_id, value, &answerer)
                .await
            {
                // A repeated request: this answer was stored before another answer of it was
                // refused.
                Err(error) if error.kind() == ErrorKind::Answered && !open.is_empty() => {}
                answered => answered?,
            }
        }
        let abort = self.abort(run.run_id);
        // All answers are stored. If resuming fails here, a watch resumes the run.
        let listener = app.resume(runner, run.run_id).await.ok().flatten();
        let after = events.last().map(|event| event.id);
        Ok(RequestOutcome::Active(Box::new(ActiveRun {
            run,
            after,
            listener,
            abort,
            translator,
        })))
    }

    /// Returns the run of all answers. The id of an interrupt begins with the id of its run.
    async fn interrupted_run(&self) -> Result<RunInfo, Refusal> {
        let mut runs = self.input.resume.iter().map(|entry| {
            let run = entry.interrupt_id.split('/').next().unwrap_or_default();
            run_id(run).map_err(|_| Refusal::missing("interrupt", &entry.interrupt_id))
        });
        let first = runs.next().transpose()?.unwrap_or_default();
        for run in runs {
            if run? != first {
                return Err(Refusal::bad(
                    "resume_invalid",
                    "the answers belong to more than one run",
                )
                .help("send one request for each run"));
            }
        }
        let found = find_run(&self.runner, &self.caller, first)
            .await
            .ok()
            .filter(|run| {
                *run.workflow == *self.workflow.name()
                    && run.session.user == self.user
                    && run.session.id == self.input.thread_id
            });
        found.ok_or_else(|| Refusal::missing("interrupt", &self.input.resume[0].interrupt_id))
    }

    fn abort(&self, run: RunId) -> AbortOnDrop {
        AbortOnDrop {
            runner: self.runner.clone(),
            run,
            is_armed: true,
        }
    }

    async fn events(self, active: ActiveRun) -> BoxStream<'static, AgUiEvent> {
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
    fn single_outcome(&self, ending: Ending) -> BoxStream<'static, AgUiEvent> {
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
        RunStatus::Failed(message) => Ending::Failed {
            message: message.clone(),
            code: "failed".to_owned(),
        },
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

fn failure(refusal: &Refusal) -> Ending {
    let json = refusal.to_json();
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    let help = if text("help").is_empty() {
        String::new()
    } else {
        format!("; help: {}", text("help"))
    };
    Ending::Failed {
        message: format!("{}{help}", text("message")),
        code: text("kind").to_owned(),
    }
}

/// Returns the refusal for a run whose store is unavailable.
fn store_unavailable(run: RunId) -> Refusal {
    let message =
        format!("the store is unavailable; run `{run}` continues when the store recovers");
    Refusal::new(StatusCode::ACCEPTED, "running", message)
        .help(format!("get the result with `GET /v1/runs/{run}`"))
}

/// Returns whether a refusal must have an HTTP status: the caller may not do this, or may try again
/// later.
fn needs_http_status(refusal: &Refusal) -> bool {
    use StatusCode as Status;
    matches!(
        refusal.status(),
        Status::FORBIDDEN | Status::TOO_MANY_REQUESTS | Status::SERVICE_UNAVAILABLE
    )
}

fn unanswered<'w>(open: impl IntoIterator<Item = &'w str>) -> Refusal {
    let open: Vec<_> = open.into_iter().map(|id| format!("`{id}`")).collect();
    let message = format!("the thread waits for an answer to {}", open.join(", "));
    Refusal::new(StatusCode::CONFLICT, "interrupted", message)
        .help("answer or cancel all of them in `resume`")
}

/// A guard that cancels the run if the client disconnects before the end.
struct AbortOnDrop {
    runner: Runner,
    run: RunId,
    is_armed: bool,
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if !self.is_armed {
            return;
        }
        let (runner, run) = (self.runner.clone(), self.run);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let now = runner
                    .runs(&RunFilter::of_run(run))
                    .await
                    .unwrap_or_default();
                if now.iter().any(|run| run.status.is_active()) {
                    // The client is gone, so the result has no receiver.
                    drop(runner.cancel(run).await);
                }
            });
        }
    }
}
