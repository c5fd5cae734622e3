//! Parts of requests and responses that the handlers of all protocols share: bodies, queries,
//! headers and event streams.

use super::access::Caller;
use super::limits::StreamPermit;
use crate::refuse::Refusal;
use adk_core::engine::RunFilter;
use axum::body::Bytes;
use axum::extract::Query;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::num::NonZeroU32;

/// The result of a handler.
pub type Answer = Result<Response, Refusal>;

/// The body of a request, or the reason why it cannot be read.
pub type Body = Result<Bytes, BytesRejection>;

/// The query of a request, or the reason why it is invalid.
pub type RunQueryParam = Result<Query<RunQuery>, QueryRejection>;

/// The query parameters that select runs. All are optional.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// The user of the runs; only an operator may name another user.
    pub user: Option<String>,
    session: Option<String>,
    pub(crate) status: Option<String>,
    workflow: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) limit: Option<NonZeroU32>,
    pub(crate) until: Option<StreamEnd>,
}

/// The end of a stream of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StreamEnd {
    /// The end of the run.
    #[default]
    End,
    /// The end of the run, or its next wait.
    Pause,
}

impl RunQuery {
    /// Returns the filter for unfinished runs. Without a user, an operator selects the runs of all
    /// users.
    pub(crate) fn filter(self, caller: &Caller) -> Result<RunFilter, Refusal> {
        let mut filter = RunFilter::unfinished();
        filter.user = match (&caller.user, self.user) {
            (None, None) => None,
            (_, named) => Some(caller.acts_for(named.as_deref())?),
        };
        filter.session = self.session;
        filter.workflows = self.workflow.map(|name| vec![name]);
        Ok(filter)
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// Parses the query of a request.
///
/// # Errors
/// `400 Bad Request` if a parameter is unknown or invalid.
pub fn parse_run_query(query: RunQueryParam) -> Result<RunQuery, Refusal> {
    let refuse = |error: QueryRejection| {
        Refusal::bad("query_invalid", error.body_text())
            .help("see the parameters in `GET /openapi.json`")
    };
    query.map(|Query(query)| query).map_err(refuse)
}

/// Parses the JSON of a body. An empty body is `null`.
///
/// # Errors
/// `400 Bad Request` if the body is not JSON; `413 Payload Too Large` if it exceeds
/// [`Limits::body`](crate::Limits::body); `408 Request Timeout` if it is not complete within
/// [`Limits::body_time`](crate::Limits::body_time).
pub fn parse_body(body: Body) -> Result<Value, Refusal> {
    let body = body.map_err(|error| body_refusal(&error))?;
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body).map_err(|error| {
        Refusal::bad(
            "json_invalid",
            format!("the body is not valid JSON: {error}"),
        )
        .help("send JSON in UTF-8 with at most 127 levels")
    })
}

/// Returns the refusal of a body that cannot be read.
pub(crate) fn body_refusal(error: &BytesRejection) -> Refusal {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let message = "the body exceeds the size limit of the server";
        return Refusal::new(error.status(), "too_large", message)
            .help("send a smaller body, or raise `Limits::body` of the server");
    }
    if !is_timeout(error) {
        return Refusal::bad("body_invalid", "the body is incomplete");
    }
    let message = "the body did not arrive in time";
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
        .help("send the request again, or raise `Limits::body_time` of the server")
}

fn is_timeout(error: &BytesRejection) -> bool {
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::TimedOut;
        }
        cause = error.source();
    }
    false
}

/// Returns whether a client asks for a stream of events.
pub(crate) fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    accept
        .flat_map(|value| value.split(','))
        .any(|kind| kind.trim().starts_with("text/event-stream"))
}

/// Returns the text of a header.
pub(crate) fn header_text<'h>(
    headers: &'h HeaderMap,
    name: &str,
) -> Result<Option<&'h str>, Refusal> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let refuse = |_| {
        Refusal::bad(
            "header_invalid",
            format!("the header `{name}` contains non-ASCII characters"),
        )
    };
    value.to_str().map(Some).map_err(refuse)
}

/// Streams events and holds the permit of
/// [`App::acquire_stream`](super::App::acquire_stream) until the stream ends.
pub fn sse_response(
    events: impl Stream<Item = sse::Event> + Send + 'static,
    permit: StreamPermit,
) -> Response {
    let events = events.map(move |event| {
        let _permit = &permit;
        Ok::<_, Infallible>(event)
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
