//! [`Failure`]: why a request to a remote agent has no result.

use crate::rpc::{ErrorCode, RpcError};
use adk_core::{ErrorKind, RemoteErrorKind};
use reqwest::StatusCode;

/// Why a request has no result, in words that name no secret.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) fact: String,
    pub(crate) help: &'static str,
    /// The code of an error of JSON-RPC.
    pub(crate) code: Option<i64>,
    /// Whether the agent cannot have got the request.
    pub(crate) is_unsent: bool,
}

impl Failure {
    pub(crate) fn new(kind: RemoteErrorKind, fact: impl Into<String>, help: &'static str) -> Self {
        Self { kind: ErrorKind::Remote(kind), fact: fact.into(), help, code: None, is_unsent: false }
    }

    pub(crate) fn invalid(fact: impl Into<String>) -> Self {
        let help = "ask who runs it: it does not keep to A2A 1.0 over JSON-RPC";
        Self::new(RemoteErrorKind::Invalid, fact, help)
    }

    /// Whether the same request may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.kind, ErrorKind::Remote(RemoteErrorKind::Unavailable) | ErrorKind::Timeout)
    }

    /// What the connection did. Its own words are left out as far as they hold the address.
    pub(crate) fn of_connection(error: reqwest::Error) -> Self {
        let is_unsent = error.is_connect();
        let fact = if error.is_connect() {
            "cannot be reached".to_owned()
        } else if error.is_timeout() {
            let help = "give the remote agent a longer `.timeout(...)`, or run it again";
            let failure = Self::new(RemoteErrorKind::Unavailable, "gave no answer in time", help);
            return Self { kind: ErrorKind::Timeout, ..failure };
        } else if error.is_builder() {
            return Self::invalid("has an address that cannot be asked");
        } else {
            "broke the connection".to_owned()
        };
        let error = error.without_url();
        let mut source = std::error::Error::source(&error);
        let mut words = String::new();
        while let Some(error) = source {
            words = format!(": {error}");
            source = error.source();
        }
        let help = "check the address and the network, or run it again";
        Self { is_unsent, ..Self::new(RemoteErrorKind::Unavailable, fact + &words, help) }
    }

    pub(crate) fn of_status(status: StatusCode) -> Self {
        let fact = format!("answered with the status {status}");
        let (kind, help) = match status.as_u16() {
            401 | 403 => (RemoteErrorKind::Unauthorized, "give it a token that it knows, by `.bearer(...)`"),
            408 | 429 | 500 | 502..=504 => (RemoteErrorKind::Unavailable, "run it again later"),
            300..=399 => (
                RemoteErrorKind::Refused,
                "redirects are not followed: give the address to which it redirects",
            ),
            404 | 405 => (RemoteErrorKind::Refused, "check the address: no agent answers there"),
            _ => (RemoteErrorKind::Refused, "check the address, and what the agent takes"),
        };
        Self::new(kind, fact, help)
    }

    pub(crate) fn of_rpc(error: RpcError) -> Self {
        let RpcError { code, message, .. } = error;
        let is = |known: ErrorCode| known as i64 == code;
        let (kind, help) = if is(ErrorCode::Internal) {
            (RemoteErrorKind::Failed, "ask who runs it, or run it again")
        } else if is(ErrorCode::VersionNotSupported) {
            (RemoteErrorKind::Refused, "it has to speak A2A 1.0")
        } else if is(ErrorCode::TaskNotFound) {
            (RemoteErrorKind::Failed, "it has forgotten the task; begin a new run")
        } else {
            (RemoteErrorKind::Refused, "compare what is sent with what its card says")
        };
        let fact = format!("refused the request: {message} (code {code})");
        Self { code: Some(code), ..Self::new(kind, fact, help) }
    }
}
