//! [`Failure`]: the error of a request to a remote agent.

use crate::rpc::{ErrorCode, RpcError};
use adk_core::{ErrorKind, RemoteErrorKind};
use reqwest::StatusCode;

/// The error of a request. The text contains no secret.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) fact: String,
    pub(crate) help: &'static str,
    /// The code of a JSON-RPC error.
    pub(crate) code: Option<i64>,
    /// Whether the agent certainly did not receive the request.
    pub(crate) is_unsent: bool,
}

impl Failure {
    pub(crate) fn new(kind: RemoteErrorKind, fact: impl Into<String>, help: &'static str) -> Self {
        Self {
            kind: ErrorKind::Remote(kind),
            fact: fact.into(),
            help,
            code: None,
            is_unsent: false,
        }
    }

    pub(crate) fn invalid(fact: impl Into<String>) -> Self {
        let help = "ask its operator: the agent violates A2A 1.0 over JSON-RPC";
        Self::new(RemoteErrorKind::Invalid, fact, help)
    }

    /// Returns whether the same request may succeed later.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Remote(RemoteErrorKind::Unavailable) | ErrorKind::Timeout
        )
    }

    /// Converts an error of the HTTP client. The text omits the address.
    pub(crate) fn from_reqwest(error: reqwest::Error) -> Self {
        let is_unsent = error.is_connect();
        let fact = if error.is_connect() {
            "cannot be reached".to_owned()
        } else if error.is_timeout() {
            let help = "set a longer `.timeout(...)` for the remote agent, or run it again";
            let failure = Self::new(RemoteErrorKind::Unavailable, "did not reply in time", help);
            return Self {
                kind: ErrorKind::Timeout,
                ..failure
            };
        } else if error.is_builder() {
            return Self::invalid("has an invalid address in its card");
        } else {
            "closed the connection".to_owned()
        };
        let error = error.without_url();
        let mut source = std::error::Error::source(&error);
        let mut words = String::new();
        while let Some(error) = source {
            words = format!(": {error}");
            source = error.source();
        }
        let help = "check the address and the network, or run it again";
        Self {
            is_unsent,
            ..Self::new(RemoteErrorKind::Unavailable, fact + &words, help)
        }
    }

    pub(crate) fn from_status(status: StatusCode) -> Self {
        let fact = format!("replied with the status {status}");
        let (kind, help) = match status.as_u16() {
            401 | 403 => (
                RemoteErrorKind::Unauthorized,
                "pass a valid token with `.bearer(...)`",
            ),
            408 | 429 | 500 | 502..=504 => (RemoteErrorKind::Unavailable, "run it again later"),
            300..=399 => (
                RemoteErrorKind::Refused,
                "pass the address of the redirect; the client does not follow redirects",
            ),
            404 | 405 => (
                RemoteErrorKind::Refused,
                "check the address; it has no agent",
            ),
            _ => (
                RemoteErrorKind::Refused,
                "check the address and the request",
            ),
        };
        Self::new(kind, fact, help)
    }

    pub(crate) fn from_rpc(error: RpcError) -> Self {
        let RpcError { code, message, .. } = error;
        let is = |known: ErrorCode| known as i64 == code;
        let (kind, help) = if is(ErrorCode::Internal) {
            (RemoteErrorKind::Failed, "ask its operator, or run it again")
        } else if is(ErrorCode::VersionNotSupported) {
            (RemoteErrorKind::Refused, "use an agent with A2A 1.0")
        } else if is(ErrorCode::TaskNotFound) {
            (
                RemoteErrorKind::Failed,
                "start a new run; the agent has no such task any more",
            )
        } else {
            (
                RemoteErrorKind::Refused,
                "compare the message with the card of the agent",
            )
        };
        let fact = format!("refused the request: {message} (code {code})");
        Self {
            code: Some(code),
            ..Self::new(kind, fact, help)
        }
    }
}
