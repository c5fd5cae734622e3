//! [`Refusal`]: an error as JSON, `{"error": {"kind", "message", "help", ...}}`.

use adk_core::engine::RunError;
use adk_core::runner::ErrorJson;
use adk_core::workflow::FieldFault;
use adk_core::{Error, ErrorKind, StoreErrorKind};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The maximum number of invalid fields in a refusal. A refusal has a bounded size, whatever the
/// request contains.
const MOST_FIELDS: usize = 20;

/// The maximum length of the message of an invalid field, in characters.
const LONGEST_FAULT: usize = 500;

/// The error of a request, as the client receives it.
#[derive(Debug)]
pub struct Refusal(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    body: ErrorJson,
    /// The store error that caused the refusal.
    store: Option<StoreErrorKind>,
    /// Whether the same request may succeed soon.
    is_passing: bool,
}

impl Refusal {
    /// Creates a refusal with a status, a kind in snake case, and a fact.
    pub fn new(status: StatusCode, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self::from_body(status, ErrorJson::new(kind, message))
    }

    fn from_body(status: StatusCode, body: ErrorJson) -> Self {
        let is_passing = matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        );
        Self(Box::new(Inner {
            status,
            body,
            store: None,
            is_passing,
        }))
    }

    /// Sets the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.body.help = Some(help.into());
        self
    }

    /// Creates a refusal for callers that are not authenticated.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// Creates a refusal of an invalid request, `400 Bad Request`, with a kind in snake case.
    pub fn bad(kind: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, message)
    }

    /// Creates a refusal of an unknown name, `404 Not Found`, as in ``there is no run `x` ``.
    pub fn missing(what: &str, name: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            format!("there is no {what} `{}`", short(name)),
        )
    }

    /// Creates a refusal of an invalid input, `422 Unprocessable Content`, that names the first
    /// invalid fields.
    pub fn input(mut fields: Vec<FieldFault>) -> Self {
        let others = fields.len().saturating_sub(MOST_FIELDS);
        fields.truncate(MOST_FIELDS);
        for fault in &mut fields {
            fault.field = short(&fault.field);
            fault.message = cut(&fault.message, LONGEST_FAULT);
        }
        let faults = fields.iter().map(|fault| match &*fault.field {
            "" => fault.message.clone(),
            field => format!("`{field}`: {}", fault.message),
        });
        let mut message = faults.collect::<Vec<_>>().join("; ");
        if others > 0 {
            message.push_str(&format!("; and {others} more"));
        }
        let mut refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "input_invalid", message)
            .help("correct the fields, see the schema in `GET /v1/workflows`; no run was started");
        refusal.0.body.fields = fields;
        refusal
    }

    /// Asks the client to send the same request again.
    pub(crate) fn retry(mut self) -> Self {
        self.0.is_passing = true;
        self
    }

    /// Returns whether the store has failed and not the run. A started run continues when the store
    /// recovers.
    pub fn is_of_store(&self) -> bool {
        self.0.store.is_some()
    }

    /// Returns whether the outcome of a commit is unknown.
    pub(crate) fn is_outcome_unknown(&self) -> bool {
        self.0.store == Some(StoreErrorKind::OutcomeUnknown)
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns the fact.
    pub fn message(&self) -> &str {
        &self.0.body.message
    }

    /// Returns the body as text: the fact, then the remedy.
    #[cfg(feature = "mcp")]
    pub(crate) fn text(&self) -> String {
        let ErrorJson {
            message,
            help,
            path,
            ..
        } = &self.0.body;
        let path = path
            .as_ref()
            .map(|path| format!("{path}: "))
            .unwrap_or_default();
        let help = help
            .as_ref()
            .map(|help| format!("\nhelp: {help}"))
            .unwrap_or_default();
        format!("{path}{message}{help}")
    }

    /// Returns the body, as the client receives it.
    pub fn body(&self) -> &ErrorJson {
        &self.0.body
    }
}

/// Shortens text of a client for an error.
pub fn short(text: &str) -> String {
    cut(text, 100)
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        let mut refusal = Self::from(RunError::from(error));
        refusal.0.store = match error.kind() {
            ErrorKind::Store(kind) if error.is_of_store() => Some(kind),
            _ => None,
        };
        refusal
    }
}

/// The error of a run that the store knows as failed.
impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        let status = error.kind.map_or(StatusCode::BAD_GATEWAY, status);
        Self::from_body(status, error.into())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// Returns the status for a kind of error. A failed run is not an error of this server.
fn status(kind: ErrorKind) -> StatusCode {
    use StoreErrorKind::{Exists, Full, Locked, Missing, ReadOnly, TooLarge, Unavailable};
    match kind {
        ErrorKind::UnknownRun | ErrorKind::UnknownWait | ErrorKind::Store(Missing) => {
            StatusCode::NOT_FOUND
        }
        ErrorKind::WrongAnswerer => StatusCode::FORBIDDEN,
        ErrorKind::Answered
        | ErrorKind::Expired
        | ErrorKind::RunBusy
        | ErrorKind::RunExists
        | ErrorKind::SessionBusy
        | ErrorKind::Cancelled
        | ErrorKind::TopologyChanged
        | ErrorKind::Store(Exists) => StatusCode::CONFLICT,
        ErrorKind::InputInvalid
        | ErrorKind::AnswerInvalid
        | ErrorKind::EmptyInput
        | ErrorKind::IdInvalid
        | ErrorKind::NotJson
        | ErrorKind::TooDeep => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::Store(TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Store(Unavailable | Locked | Full | ReadOnly) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json_response(self.0.status, &json!({"error": self.0.body}));
        if self.0.is_passing {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// Creates a response with a JSON body.
pub fn json_response(status: StatusCode, body: &Value) -> Response {
    (
        status,
        [(header::CONTENT_TYPE, "application/json")],
        body.to_string(),
    )
        .into_response()
}
