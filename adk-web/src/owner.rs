//! [`AppUser`]: the app and the user of a request, and the sessions of that user.

use crate::answer::{AdkFault, no_session};
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::session::EventFilter;
use adk_core::{Answerer, Runner, StateDelta};
use adk_server::protocol::{App, Caller, Refusal, Who, short};
use axum::extract::{Extension, FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::sync::Arc;

/// The separator of a workflow name and a session id. No workflow name contains it.
pub(crate) const SLASH: char = '/';

/// An ADK app and one user of it.
pub(crate) struct AppUser {
    pub(crate) runner: Runner,
    pub(crate) workflow: KnownWorkflow,
    pub(crate) user: String,
    pub(crate) answerer: Answerer,
    /// Whether the caller may set state keys of the app.
    is_operator: bool,
}

impl AppUser {
    pub(crate) fn new(app: &App, caller: &Caller, name: &str, user: &str) -> Result<Self, Refusal> {
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
    pub(crate) async fn existing_session(&self, id: &str) -> Result<SessionHandle, Refusal> {
        let handle = self.session(id);
        handle
            .get(&EventFilter::new().last(0))
            .await?
            .ok_or_else(|| no_session(id))?;
        Ok(handle)
    }

    pub(crate) fn session(&self, id: &str) -> SessionHandle {
        self.runner
            .session(&self.user, format!("{}{SLASH}{id}", self.workflow.name()))
    }

    /// Returns the id of a session as clients know it, or `None` for a session of another workflow.
    pub(crate) fn id<'a>(&self, stored: &'a str) -> Option<&'a str> {
        stored
            .strip_prefix(self.workflow.name())?
            .strip_prefix(SLASH)
    }

    /// Refuses state keys that the caller may not set.
    pub(crate) fn may_set(&self, delta: &StateDelta) -> Result<(), Refusal> {
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
