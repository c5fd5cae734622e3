//! Runs: a message begins one, and the answer to a call lets the run that waits for it go on.

use super::{Answer, Place, in_a_line, no_session, ok, read, unfit, view};
use crate::access::Caller;
use crate::follow::{Item, follow, stored};
use crate::keys::{Beginning, Begun};
use crate::refuse::{Refusal, json_response};
use crate::routes::{Body, Shared, Who, go_on, run_id, sent};
use crate::runs::{End, Listener};
use crate::serve::App;
use adk_core::engine::{RunFilter, RunInfo, RunStatus, Waiting};
use adk_core::runner::SessionHandle;
use adk_core::session::{EventFilter, SessionSnapshot};
use adk_core::{Content, Error, ErrorKind, EventId, RunId, Runner, StateDelta};
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

pub(super) fn router() -> Router<Arc<App>> {
    Router::new().route("/run", post(run)).route("/run_sse", post(run_sse))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
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

/// All events of a run.
async fn run(State(app): Shared, Extension(caller): Who, body: Body) -> Answer {
    let mut asked = Asked::new(&app, &caller, body).await?;
    asked.request.streaming = false;
    let mut turn = asked.begin().await?;
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        match event {
            // Where the store has failed, the run has not: it goes on.
            Err(refusal) if refusal.is_of_store() => {
                return Ok(json_response(StatusCode::ACCEPTED, &json!(events)));
            }
            event => events.push(event?),
        }
    }
    Ok(ok(&json!(events)))
}

/// The events of a run as they happen. What goes wrong once the request is understood comes as an event: pages show that.
async fn run_sse(State(app): Shared, Extension(caller): Who, body: Body) -> Answer {
    let permit = app.stream()?;
    let asked = Asked::new(&app, &caller, body).await?;
    let events = match asked.begin().await {
        // Where the store fails, the run does not, and the stream just ends.
        Ok(turn) => stream::unfold(turn, |mut turn| async { Some((turn.next().await?, turn)) })
            .take_while(|event| ready(!event.as_ref().is_err_and(Refusal::is_of_store)))
            .boxed(),
        Err(refusal) if refusal.status() == StatusCode::FORBIDDEN => return Err(refusal.into()),
        Err(refusal) => stream::iter([Err(refusal)]).boxed(),
    };
    let events = events.map(|event| {
        let json = event.unwrap_or_else(|refusal| told(&refusal));
        sse::Event::default().data(json.to_string())
    });
    Ok(sent(events, permit))
}

/// An error as an event.
fn told(refusal: &Refusal) -> Value {
    let details = refusal.to_json();
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "error": in_a_line(refusal),
        "error_details": {
            "error_type": details["kind"],
            "error_message": details["message"],
            "timestamp": time.as_secs_f64(),
        },
    })
}

/// A request for a session that is there.
struct Asked {
    app: Arc<App>,
    place: Place,
    handle: SessionHandle,
    session: SessionSnapshot,
    request: Request,
}

impl Asked {
    async fn new(app: &Arc<App>, caller: &Caller, body: Body) -> Result<Self, Refusal> {
        let request: Request = read(body)?.ok_or_else(|| unfit("the body is empty"))?;
        let place = Place::of(app, caller, &request.app_name, &request.user_id)?;
        place.may_set(request.state_delta.as_ref().unwrap_or(&StateDelta::default()))?;
        let handle = place.session(&request.session_id);
        let session = handle.get(&EventFilter::new().last(0)).await?;
        let session = session.ok_or_else(|| no_session(&request.session_id))?;
        Ok(Self { app: app.clone(), place, handle, session, request })
    }

    async fn begin(self) -> Result<Turn, Refusal> {
        let waits = self.handle.waiting().await?;
        let Some(message) = &self.request.new_message else { return self.attach(waits).await };
        let answers: Vec<_> = message.function_responses().collect();
        let answered: Option<Vec<_>> =
            answers.iter().map(|answer| Some((view::answered(&waits, answer)?, *answer))).collect();
        match answered.as_deref() {
            Some([(wait, _), ..]) => {
                // Before the first answer, so that a refusal changes nothing.
                let mut waits_of = answered.iter().flatten().map(|(wait, _)| wait);
                waits_of.try_for_each(|wait| wait.check_answerer(&self.place.answerer))?;
                let run = self.info(wait.run_id).await?;
                let after = stored(&self.place.runner, &run, None).await?.last().map(|event| event.id);
                for (wait, answer) in answered.iter().flatten() {
                    self.answer(wait, view::meanings(wait, answer)).await?;
                }
                // The answer is stored, and a watch resumes the run where this fails.
                let _ = go_on(&self.app, &self.place.runner, run.run_id).await;
                let listener = self.app.runs.listen(run.run_id);
                Ok(self.turn(run, after, listener, waits))
            }
            _ => self.start(message, waits).await,
        }
    }

    /// Gives the first answer that fits.
    async fn answer(&self, wait: &Waiting, meanings: Vec<Value>) -> Result<(), Refusal> {
        let mut unfit = None;
        for value in meanings {
            match self.place.runner.answer_as(&wait.id, value, &self.place.answerer).await {
                Err(error) if error.kind() == ErrorKind::AnswerInvalid => unfit = unfit.or(Some(error)),
                other => return Ok(other?),
            }
        }
        unfit.map_or(Ok(()), |error| Err(error.into()))
    }

    async fn start(&self, message: &Content, waits: Vec<Waiting>) -> Result<Turn, Refusal> {
        let (runner, workflow) = (&self.place.runner, &self.place.workflow);
        let form = workflow.form();
        let input = match message.function_responses().next() {
            Some(_) => view::inputs_in(form.inputs().iter().map(|input| &input.key), &self.session.state),
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
        let (user, session, key) = (&*self.place.user, Some(&*self.handle.key().id), None);
        let beginning = Beginning { runner, user, workflow: workflow.name(), session, input: &input, key };
        let (run, listener) = match self.app.begin(&beginning, request).await? {
            Begun::Now(run, listener) => (run, Some(listener)),
            Begun::Before(run) | Begun::Unknown(run) => (run, None),
        };
        Ok(self.turn(run, None, listener, waits))
    }

    /// The rest of a run that goes on.
    async fn attach(&self, waits: Vec<Waiting>) -> Result<Turn, Refusal> {
        let id = self.request.invocation_id.as_deref();
        let id = id.ok_or_else(|| unfit("there is neither a `newMessage` nor an `invocationId`"))?;
        let run = self.info(run_id(id)?).await?;
        let after = stored(&self.place.runner, &run, None).await?.last().map(|event| event.id);
        let listener = self.app.runs.listen(run.run_id);
        Ok(self.turn(run, after, listener, waits))
    }

    /// A run of this session.
    async fn info(&self, run: RunId) -> Result<RunInfo, Refusal> {
        let runs = self.place.runner.runs(&RunFilter::of_run(run)).await?;
        let own = runs.into_iter().find(|run| run.session == *self.handle.key());
        own.ok_or_else(|| Refusal::missing("run", &run.to_string()))
    }

    fn turn(
        &self,
        run: RunInfo,
        after: Option<EventId>,
        listener: Option<Listener>,
        waits: Vec<Waiting>,
    ) -> Turn {
        let (app, runner, id) = (self.app.clone(), self.place.runner.clone(), run.run_id);
        let items = follow(app.clone(), runner.clone(), run, after, listener, false).boxed();
        let asked = waits.into_iter().map(|wait| wait.id).collect();
        Turn { app, runner, run: id, items, asked, ready: VecDeque::new(), is_over: false }
    }
}

/// What a client reads of a run until it ends or waits.
struct Turn {
    app: Arc<App>,
    runner: Runner,
    run: RunId,
    items: BoxStream<'static, Result<Item, Refusal>>,
    /// The waits that the client knows.
    asked: HashSet<String>,
    ready: VecDeque<Value>,
    is_over: bool,
}

impl Turn {
    async fn next(&mut self) -> Option<Result<Value, Refusal>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.is_over {
                return None;
            }
            match self.items.next().await {
                Some(Ok(Item::Event(event))) => self.ready.extend(view::told(&event)),
                Some(Ok(Item::End(end))) => {
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

    async fn end(&mut self, end: Option<&End>) -> Result<(), Refusal> {
        match end {
            Some(End::Failed(error)) => return Err(error.into()),
            Some(End::Finished { .. }) => return Ok(()),
            Some(End::Paused) | None => {}
        }
        let Some(run) = self.runner.runs(&RunFilter::of_run(self.run)).await?.into_iter().next() else {
            return Ok(());
        };
        if let RunStatus::Failed(error) = &run.status {
            return Err(Error::new(ErrorKind::Agent, error.clone()).into());
        }
        let waits = self.runner.waiting_of(&RunFilter::of_run(self.run)).await?;
        let events = stored(&self.runner, &run, None).await?;
        let new = |wait: &Waiting| !self.asked.contains(&wait.id);
        self.ready.extend(view::questions(&waits, new, &events));
        Ok(())
    }
}

/// A client that goes away has pressed stop.
impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_over || self.app.runs.is_closing() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (runner, run) = (self.runner.clone(), self.run);
            runtime.spawn(async move { runner.cancel(run).await.map(drop) });
        }
    }
}
