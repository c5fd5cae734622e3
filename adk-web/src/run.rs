//! Runs: a message starts a run, and a function response resumes the run that waits for it.

use crate::answer::{Answer, invalid_body, no_session, ok, read};
use crate::owner::AppUser;
use crate::view;
use adk_core::engine::{RunFilter, RunInfo, RunStatus, Waiting};
use adk_core::runner::SessionHandle;
use adk_core::session::{EventFilter, SessionSnapshot};
use adk_core::{Content, ErrorKind, EventId, RunId, Runner, StateDelta};
use adk_server::protocol::{
    App, Body, Caller, Listener, Refusal, RunEnding, RunItem, RunStart, Shared, StartOutcome, Who,
    json_response, run_id, sse_response, stored_events,
};
use axum::Router;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::sse;
use axum::routing::post;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::future::ready;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/run", post(run))
        .route("/run_sse", post(run_sse))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunBody {
    #[serde(alias = "app_name")]
    app_name: String,
    #[serde(alias = "user_id")]
    user_id: String,
    #[serde(alias = "session_id")]
    session_id: String,
    #[serde(alias = "new_message")]
    new_message: Option<Content>,
    #[serde(default)]
    streaming: bool,
    #[serde(alias = "state_delta")]
    state_delta: Option<StateDelta>,
    #[serde(alias = "invocation_id")]
    invocation_id: Option<String>,
}

/// Runs a workflow and returns all events.
async fn run(State(app): Shared, Extension(caller): Who, body: Body) -> Answer {
    let mut request = SessionRequest::new(&app, &caller, body).await?;
    request.request.streaming = false;
    let mut reader = request.begin().await?;
    let mut events = Vec::new();
    while let Some(event) = reader.next().await {
        match event {
            // A store error does not end the run: it continues.
            Err(refusal) if refusal.is_of_store() => {
                return Ok(json_response(StatusCode::ACCEPTED, &json!(events)));
            }
            event => events.push(event?),
        }
    }
    Ok(ok(&json!(events)))
}

/// Runs a workflow and streams its events. Errors of a valid request become events, because pages
/// show those.
async fn run_sse(State(app): Shared, Extension(caller): Who, body: Body) -> Answer {
    let permit = app.acquire_stream(&caller)?;
    let request = SessionRequest::new(&app, &caller, body).await?;
    let events = match request.begin().await {
        // A store error does not end the run, so the stream just ends.
        Ok(reader) => stream::unfold(reader, |mut reader| async {
            Some((reader.next().await?, reader))
        })
        .take_while(|event| ready(!event.as_ref().is_err_and(Refusal::is_of_store)))
        .boxed(),
        Err(refusal) if refusal.status() == StatusCode::FORBIDDEN => return Err(refusal.into()),
        Err(refusal) => stream::iter([Err(refusal)]).boxed(),
    };
    let events = events.map(|event| {
        let json = event.unwrap_or_else(|refusal| error_event(&refusal));
        sse::Event::default().data(json.to_string())
    });
    Ok(sse_response(events, permit))
}

/// Returns an error as an event.
fn error_event(refusal: &Refusal) -> Value {
    let details = refusal.body();
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    json!({
        "error": details.to_string(),
        "error_details": {
            "error_type": details.kind,
            "error_message": details.message,
            "timestamp": time.as_secs_f64(),
        },
    })
}

/// A request for an existing session.
struct SessionRequest {
    app: Arc<App>,
    owner: AppUser,
    handle: SessionHandle,
    session: SessionSnapshot,
    request: RunBody,
}

impl SessionRequest {
    async fn new(app: &Arc<App>, caller: &Caller, body: Body) -> Result<Self, Refusal> {
        let request: RunBody = read(body)?.ok_or_else(|| invalid_body("the body is empty"))?;
        let owner = AppUser::new(app, caller, &request.app_name, &request.user_id)?;
        owner.may_set(
            request
                .state_delta
                .as_ref()
                .unwrap_or(&StateDelta::default()),
        )?;
        let handle = owner.session(&request.session_id);
        let session = handle.get(&EventFilter::new().last(0)).await?;
        let session = session.ok_or_else(|| no_session(&request.session_id))?;
        Ok(Self {
            app: app.clone(),
            owner,
            handle,
            session,
            request,
        })
    }

    async fn begin(self) -> Result<RunReader, Refusal> {
        let waits = self.handle.waiting().await?;
        let Some(message) = &self.request.new_message else {
            return self.attach(waits).await;
        };
        let answers: Vec<_> = message.function_responses().collect();
        let answered: Option<Vec<_>> = answers
            .iter()
            .map(|answer| Some((view::find_wait(&waits, answer)?, *answer)))
            .collect();
        match answered.as_deref() {
            Some([(wait, _), ..]) => {
                // Check all answers before the first one is stored, so that a refusal changes
                // nothing.
                let mut waits_of = answered.iter().flatten().map(|(wait, _)| wait);
                waits_of.try_for_each(|wait| wait.check_answerer(&self.owner.answerer))?;
                let run = self.info(wait.run_id).await?;
                let after = stored_events(&self.owner.runner, &run, None)
                    .await?
                    .last()
                    .map(|event| event.id);
                for (wait, answer) in answered.iter().flatten() {
                    self.answer(wait, view::answer_candidates(wait, answer))
                        .await?;
                }
                // The answers are stored. If resuming fails here, a watch resumes the run.
                let _ = self.app.resume(&self.owner.runner, run.run_id).await;
                let listener = self.app.listen(run.run_id);
                Ok(self.reader(run, after, listener, waits))
            }
            _ => self.start(message, waits).await,
        }
    }

    /// Answers a wait with the first value that fits.
    async fn answer(&self, wait: &Waiting, candidates: Vec<Value>) -> Result<(), Refusal> {
        let mut first_error = None;
        for value in candidates {
            match self
                .owner
                .runner
                .answer_as(&wait.id, value, &self.owner.answerer)
                .await
            {
                Err(error) if error.kind() == ErrorKind::AnswerInvalid => {
                    first_error = first_error.or(Some(error))
                }
                other => return Ok(other?),
            }
        }
        first_error.map_or(Ok(()), |error| Err(error.into()))
    }

    async fn start(&self, message: &Content, waits: Vec<Waiting>) -> Result<RunReader, Refusal> {
        let (runner, workflow) = (&self.owner.runner, &self.owner.workflow);
        let form = workflow.form();
        let input = match message.function_responses().next() {
            Some(_) => view::inputs_from_state(
                form.inputs().iter().map(|input| &input.key),
                &self.session.state,
            ),
            None => workflow.input_of(message),
        };
        let faults = workflow.check(&input);
        if !faults.is_empty() {
            return Err(Refusal::input(faults));
        }
        let input = workflow.complete(input);
        let config = runner.config().clone().streaming(self.request.streaming);
        let request = |handle: &SessionHandle| {
            let request = handle.run_by_name(workflow.name(), input.clone())?;
            let mut request = request.config(config.clone()).message(message.clone());
            for (key, value) in self.request.state_delta.iter().flat_map(StateDelta::iter) {
                request = request.state(key.clone(), &**value);
            }
            Ok(request)
        };
        let start = RunStart::new(runner, &self.owner.user, workflow.name(), &input)
            .session(&*self.handle.key().id);
        let (run, listener) = match self.app.begin(&start, request).await? {
            StartOutcome::Started(run, listener) => (run, Some(listener)),
            StartOutcome::Existing(run) | StartOutcome::Unknown(run) => (run, None),
        };
        Ok(self.reader(run, None, listener, waits))
    }

    /// Follows the remaining events of a run.
    async fn attach(&self, waits: Vec<Waiting>) -> Result<RunReader, Refusal> {
        let id = self.request.invocation_id.as_deref();
        let id = id.ok_or_else(|| {
            invalid_body("the fields `newMessage` and `invocationId` are missing")
        })?;
        let run = self.info(run_id(id)?).await?;
        let after = stored_events(&self.owner.runner, &run, None)
            .await?
            .last()
            .map(|event| event.id);
        let listener = self.app.listen(run.run_id);
        Ok(self.reader(run, after, listener, waits))
    }

    /// Returns a run of this session.
    async fn info(&self, run: RunId) -> Result<RunInfo, Refusal> {
        let runs = self.owner.runner.runs(&RunFilter::of_run(run)).await?;
        let own = runs
            .into_iter()
            .find(|run| run.session == *self.handle.key());
        own.ok_or_else(|| Refusal::missing("run", &run.to_string()))
    }

    fn reader(
        &self,
        run: RunInfo,
        after: Option<EventId>,
        listener: Option<Listener>,
        waits: Vec<Waiting>,
    ) -> RunReader {
        let (app, runner, id) = (self.app.clone(), self.owner.runner.clone(), run.run_id);
        let items = app.follow(runner.clone(), run, after, listener).boxed();
        let known = waits.into_iter().map(|wait| wait.id).collect();
        RunReader {
            app,
            runner,
            run: id,
            items,
            known,
            ready: VecDeque::new(),
            is_over: false,
        }
    }
}

/// A reader of the events of a run for a client, until the run ends or waits.
struct RunReader {
    app: Arc<App>,
    runner: Runner,
    run: RunId,
    items: BoxStream<'static, Result<RunItem, Refusal>>,
    /// The waits that the client already knows.
    known: HashSet<String>,
    ready: VecDeque<Value>,
    is_over: bool,
}

impl RunReader {
    async fn next(&mut self) -> Option<Result<Value, Refusal>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.is_over {
                return None;
            }
            match self.items.next().await {
                Some(Ok(RunItem::Event(event))) => self.ready.extend(view::visible_event(&event)),
                Some(Ok(RunItem::End(end))) => {
                    self.is_over = true;
                    if let Err(refusal) = self.end(end.as_deref()).await {
                        return Some(Err(refusal));
                    }
                }
                Some(Err(refusal)) => {
                    self.is_over = true;
                    return Some(Err(refusal));
                }
                None => self.is_over = true,
            }
        }
    }

    async fn end(&mut self, end: Option<&RunEnding>) -> Result<(), Refusal> {
        match end {
            Some(RunEnding::Failed(error)) => return Err(error.into()),
            Some(RunEnding::Finished { .. }) => return Ok(()),
            Some(RunEnding::Paused) | None => {}
        }
        let Some(run) = self
            .runner
            .runs(&RunFilter::of_run(self.run))
            .await?
            .into_iter()
            .next()
        else {
            return Ok(());
        };
        if let RunStatus::Failed(error) = &run.status {
            return Err(error.clone().into());
        }
        let waits = self.runner.waiting_of(&RunFilter::of_run(self.run)).await?;
        let events = stored_events(&self.runner, &run, None).await?;
        let new = |wait: &Waiting| !self.known.contains(&wait.id);
        self.ready.extend(view::questions(&waits, new, &events));
        Ok(())
    }
}

/// A client that disconnects cancels the run: this is the stop button of adk-web.
impl Drop for RunReader {
    fn drop(&mut self) {
        if self.is_over || self.app.is_stopping() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (runner, run) = (self.runner.clone(), self.run);
            runtime.spawn(async move { runner.cancel(run).await.map(drop) });
        }
    }
}
