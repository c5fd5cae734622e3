//! [`AdkWeb`]: Google's dev UI and the JSON API of ADK's `api_server`, for adk-web and other clients
//! of an ADK server.
//!
//! An ADK app is a workflow of the runner. Its sessions are sessions of the runner's app whose ids
//! begin with the name of the workflow and a slash; ADK clients do not see this prefix. The session
//! `s` of the app `research` is the session `research/s` in all other routes. Thus the session
//! lists of two workflows do not mix, and the other routes list, answer and cancel runs that were
//! started here. State keys with the prefixes `user:` and `app:`, and files with `user:`, belong to
//! the user and to the app of the runner, and therefore to all its workflows. These routes do not
//! list sessions that were created through other routes.
//!
//! As in ADK, a client that disconnects during a run cancels the run: adk-web's stop button works
//! this way.
//!
//! A wait is a function call in ADK. [`view`] shows a wait as such a call:
//! `adk_request_confirmation` for a tool that needs a confirmation, and `adk_request_input` for an
//! `await`. The response to such a call, or to the call of a long-running tool, answers the wait,
//! and the run continues.

mod apps;
mod artifacts;
mod files;
mod graph;
mod run;
mod sessions;
mod traces;
mod view;

use crate::protocol::{
    App, Body, Caller, Protocol, Refusal, Who, json_response, parse_body, short,
};
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::session::EventFilter;
use adk_core::{Answerer, Result, Runner, StateDelta};
use axum::Router;
use axum::extract::{Extension, FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The separator of a workflow name and a session id. No workflow name contains it.
const SLASH: char = '/';

/// The JSON API of ADK's `api_server`, and Google's dev UI if its folder is known.
#[derive(Clone, Debug, Default)]
pub struct AdkWeb {
    folder: Option<PathBuf>,
}

impl AdkWeb {
    /// Creates the protocol without the pages of the dev UI.
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves Google's dev UI, adk-web, at `/dev-ui/`. `folder` is `google/adk/cli/browser` of an
    /// installed google-adk. The page acts for the user `user`; another address selects another
    /// user: `/dev-ui/?userId=ann`.
    #[must_use]
    pub fn dev_ui(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }
}

impl Protocol for AdkWeb {
    /// # Errors
    /// [`ErrorKind::Config`](adk_core::ErrorKind::Config) if the folder of the dev UI has no page.
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        let folder = self.folder.as_deref().map(files::canonical).transpose()?;
        Ok(apps::router()
            .merge(sessions::router())
            .merge(artifacts::router())
            .merge(run::router())
            .merge(graph::router())
            .merge(traces::router())
            .merge(files::router(folder)))
    }
}

type Answer = Result<Response, AdkFault>;

/// An error in ADK's format, in `detail`, next to the `error` of the other routes.
struct AdkFault(Refusal);

impl<E: Into<Refusal>> From<E> for AdkFault {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for AdkFault {
    fn into_response(self) -> Response {
        let error = self.0.to_json();
        json_response(
            self.0.status(),
            &json!({"detail": one_line(&self.0), "error": error}),
        )
    }
}

fn one_line(error: &Refusal) -> String {
    match error.to_json()["help"].as_str() {
        Some(help) => format!("{}; help: {help}", error.message()),
        None => error.message().to_owned(),
    }
}

fn ok(body: &Value) -> Response {
    json_response(StatusCode::OK, body)
}

/// Parses a body. Returns `None` for an empty body or `null`.
fn read<T: DeserializeOwned>(body: Body) -> Result<Option<T>, Refusal> {
    let json = parse_body(body).map_err(|refusal| match refusal.status() {
        StatusCode::BAD_REQUEST => invalid_body(refusal.message()),
        _ => refusal,
    })?;
    serde_json::from_value(json)
        .map_err(|error| invalid_body(format!("the body is invalid: {error}")))
}

fn invalid_body(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "body_invalid", message)
        .help("see the fields in the documentation of google-adk")
}

/// An ADK app and one user of it.
struct AppUser {
    runner: Runner,
    workflow: KnownWorkflow,
    user: String,
    answerer: Answerer,
    /// Whether the caller may set state keys of the app.
    is_operator: bool,
}

impl AppUser {
    fn new(app: &App, caller: &Caller, name: &str, user: &str) -> Result<Self, Refusal> {
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

    /// Returns an existing session.
    async fn existing_session(&self, id: &str) -> Result<SessionHandle, Refusal> {
        let handle = self.session(id);
        handle
            .get(&EventFilter::new().last(0))
            .await?
            .ok_or_else(|| no_session(id))?;
        Ok(handle)
    }

    fn session(&self, id: &str) -> SessionHandle {
        self.runner
            .session(&self.user, format!("{}{SLASH}{id}", self.workflow.name()))
    }

    /// Returns the id of a session as clients know it, or `None` for a session of another workflow.
    fn id<'a>(&self, stored: &'a str) -> Option<&'a str> {
        stored
            .strip_prefix(self.workflow.name())?
            .strip_prefix(SLASH)
    }

    /// Refuses state keys that the caller may not set.
    fn may_set(&self, delta: &StateDelta) -> Result<(), Refusal> {
        if let Some(key) = delta
            .iter()
            .map(|(key, _)| key)
            .find(|key| self.workflow.gives_input(key))
        {
            let message = format!("the server sets the input `{key}`");
            return Err(
                Refusal::new(StatusCode::FORBIDDEN, "forbidden", message).help("omit the key")
            );
        }
        let app_key = delta
            .iter()
            .map(|(key, _)| key)
            .find(|key| key.starts_with("app:"));
        let Some(key) = app_key.filter(|_| !self.is_operator) else {
            return Ok(());
        };
        let message = format!(
            "the state key `{}` belongs to all users of the app",
            short(key)
        );
        Err(Refusal::new(StatusCode::FORBIDDEN, "forbidden", message)
            .help("set keys of the session or `user:` keys"))
    }
}

/// The app and the user of a path.
#[derive(Deserialize)]
struct OwnerPath {
    app: String,
    user: String,
}

impl FromRequestParts<Arc<App>> for AppUser {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let Extension(caller) = Who::from_request_parts(parts, app)
            .await
            .map_err(IntoResponse::into_response)?;
        let path = Path::<OwnerPath>::from_request_parts(parts, app).await;
        let Path(OwnerPath { app: name, user }) = path.map_err(IntoResponse::into_response)?;
        Self::new(app, &caller, &name, &user).map_err(|refusal| AdkFault(refusal).into_response())
    }
}

fn no_session(id: &str) -> Refusal {
    Refusal::missing("session", id)
}
