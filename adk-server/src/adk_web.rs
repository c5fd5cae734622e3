//! Google's dev UI, and the JSON of ADK's `api_server`: for adk-web as it is, and for other programs that ask an ADK server.
//!
//! An app of ADK is a workflow of the runner, by its name. Its sessions are sessions of the runner's own app whose ids begin
//! with the name of the workflow and a slash, which no client of ADK sees: the session `s` of the app `research` is
//! `research/s` to all others. So the lists of workflows do not mix, and a run that was begun here is listed, answered and
//! cancelled as any other. Keys of the state with the prefixes `user:` and `app:`, and files with `user:`, belong to the
//! user and to the app of the runner, and so to all of its workflows. Sessions that were begun elsewhere are not listed here.
//!
//! As in ADK, a client that goes away while its run goes on cancels it: that is the stop button of adk-web.
//!
//! What waits for a person is a call in ADK, and no event here: [`view`] shows it as one, `adk_request_confirmation` for a
//! tool that has to be confirmed and `adk_request_input` for an `await`. The answer to such a call, or to that of a
//! long-running tool, answers the wait, and the run goes on.

mod apps;
mod artifacts;
mod files;
mod graph;
mod run;
mod sessions;
mod traces;
mod view;

pub(crate) use files::folder;

use crate::access::Caller;
use crate::refuse::{Refusal, json_response, short};
use crate::routes::{Body, Who, json_of};
use crate::serve::App;
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::session::EventFilter;
use adk_core::{Answerer, Runner, StateDelta};
use axum::Router;
use axum::extract::{Extension, FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// Between the name of a workflow and the id of a session: no name holds it.
const SLASH: char = '/';

pub(crate) fn router() -> Router<Arc<App>> {
    let json = apps::router().merge(sessions::router()).merge(artifacts::router()).merge(run::router());
    json.merge(graph::router()).merge(traces::router()).merge(files::router())
}

type Answer = Result<Response, Fault>;

/// An error as ADK says it, in `detail`, beside the `error` of all others.
struct Fault(Refusal);

impl<E: Into<Refusal>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let error = self.0.to_json();
        json_response(self.0.status(), &json!({"detail": in_a_line(&self.0), "error": error}))
    }
}

fn in_a_line(error: &Refusal) -> String {
    match error.to_json()["help"].as_str() {
        Some(help) => format!("{}; help: {help}", error.message()),
        None => error.message().to_owned(),
    }
}

fn ok(body: &Value) -> Response {
    json_response(StatusCode::OK, body)
}

/// A body of a type; `None` for none, or null.
fn read<T: DeserializeOwned>(body: Body) -> Result<Option<T>, Refusal> {
    let json = json_of(body).map_err(|refusal| match refusal.status() {
        StatusCode::BAD_REQUEST => unfit(refusal.message()),
        _ => refusal,
    })?;
    serde_json::from_value(json).map_err(|error| unfit(format!("the body does not fit: {error}")))
}

fn unfit(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "body_invalid", message)
        .help("the documentation of google-adk has the fields")
}

/// A user's sessions of an app of ADK.
struct Place {
    runner: Runner,
    workflow: KnownWorkflow,
    user: String,
    answerer: Answerer,
    /// Whether the state of the app is the caller's to set.
    is_operator: bool,
}

impl Place {
    fn of(app: &App, caller: &Caller, name: &str, user: &str) -> Result<Self, Refusal> {
        let runner = app.runner(caller);
        let workflow = app.workflow(&runner, caller, name)?;
        let is_operator = caller.user.is_none();
        Ok(Self {
            workflow,
            user: caller.acts_for(Some(user))?,
            is_operator,
            answerer: caller.answerer(),
            runner,
        })
    }

    /// A session that is there.
    async fn there(&self, id: &str) -> Result<SessionHandle, Refusal> {
        let handle = self.session(id);
        handle.get(&EventFilter::new().last(0)).await?.ok_or_else(|| no_session(id))?;
        Ok(handle)
    }

    fn session(&self, id: &str) -> SessionHandle {
        self.runner.session(&self.user, format!("{}{SLASH}{id}", self.workflow.name()))
    }

    /// The id of a session as clients know it; `None` for one of another workflow.
    fn id<'a>(&self, stored: &'a str) -> Option<&'a str> {
        stored.strip_prefix(self.workflow.name())?.strip_prefix(SLASH)
    }

    /// Refuses what other users would see.
    fn may_set(&self, delta: &StateDelta) -> Result<(), Refusal> {
        if let Some(key) = delta.iter().map(|(key, _)| key).find(|key| self.workflow.gives_input(key)) {
            let message = format!("the server gives the input `{key}`");
            return Err(Refusal::new(StatusCode::FORBIDDEN, "forbidden", message).help("leave it out"));
        }
        let of_app = delta.iter().map(|(key, _)| key).find(|key| key.starts_with("app:"));
        let Some(key) = of_app.filter(|_| !self.is_operator) else { return Ok(()) };
        let message = format!("the state key `{}` belongs to all users of the app", short(key));
        Err(Refusal::new(StatusCode::FORBIDDEN, "forbidden", message)
            .help("set keys of the session or `user:` keys"))
    }
}

/// The app and the user of a path.
#[derive(Deserialize)]
struct Owner {
    app: String,
    user: String,
}

impl FromRequestParts<Arc<App>> for Place {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let Extension(caller) =
            Who::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        let owner = Path::<Owner>::from_request_parts(parts, app).await;
        let Path(Owner { app: name, user }) = owner.map_err(IntoResponse::into_response)?;
        Self::of(app, &caller, &name, &user).map_err(|refusal| Fault(refusal).into_response())
    }
}

fn no_session(id: &str) -> Refusal {
    Refusal::missing("session", id)
}
