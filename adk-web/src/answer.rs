//! [`Answer`]: the responses of the routes, with errors in ADK's format.

use adk_server::protocol::{Body, Refusal, json_response, parse_body};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The result of a handler.
pub(crate) type Answer = Result<Response, AdkFault>;

/// An error in ADK's format, in `detail`, next to the `error` of the other routes.
pub(crate) struct AdkFault(pub(crate) Refusal);

impl<E: Into<Refusal>> From<E> for AdkFault {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for AdkFault {
    fn into_response(self) -> Response {
        let error = self.0.body();
        let body = json!({"detail": error.to_string(), "error": error});
        json_response(self.0.status(), &body)
    }
}

pub(crate) fn ok(body: &Value) -> Response {
    json_response(StatusCode::OK, body)
}

/// Parses a body. Returns `None` for an empty body or `null`.
pub(crate) fn read<T: DeserializeOwned>(body: Body) -> Result<Option<T>, Refusal> {
    let json = parse_body(body).map_err(|refusal| match refusal.status() {
        StatusCode::BAD_REQUEST => invalid_body(refusal.message()),
        _ => refusal,
    })?;
    serde_json::from_value(json)
        .map_err(|error| invalid_body(format!("the body is invalid: {error}")))
}

pub(crate) fn invalid_body(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "body_invalid", message)
        .help("see the fields in the documentation of google-adk")
}

pub(crate) fn no_session(id: &str) -> Refusal {
    Refusal::missing("session", id)
}
