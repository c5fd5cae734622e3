//! Why a call of a model failed, sorted by what can be done about it.

use std::fmt;
use std::time::Duration;

/// A failed call of a model.
#[derive(Debug)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    help: Option<String>,
    retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What kind of failure, which says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No provider has a model of that name.
    UnknownModel,
    /// No key for the provider.
    MissingKey,
    /// The provider refused the key (401, 403).
    Unauthorized,
    /// Too many requests (429); retried, after the time that the provider asks for.
    RateLimited,
    /// The provider failed (5xx) or is overloaded; retried.
    Unavailable,
    /// The connection could not be made or broke before anything was said; retried.
    Connection,
    /// The stream broke in the middle of the answer; not retried, since a part was handed on already.
    BrokenStream,
    /// No answer in the agent's `timeout`; retried.
    Timeout,
    /// The provider did not understand the request (other 4xx).
    InvalidRequest,
    /// The answer could not be read.
    InvalidResponse,
    /// Anything else.
    Other,
}

impl ModelError {
    /// An error with the provider's words.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: None, retry_after: None, source: None }
    }

    /// Says what to do about it, where that is more than the kind tells.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The time that the provider asks to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// The fact, without remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, where that is more than the kind tells.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// An error with another message and this one as its cause.
    pub(crate) fn reworded(self, message: String) -> Self {
        let (kind, help, retry_after) = (self.kind, self.help.clone(), self.retry_after);
        Self { kind, message, help, retry_after, source: Some(self.into()) }
    }

    /// The time that the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Whether the provider has refused it for load.
    pub(crate) fn is_load(&self) -> bool {
        matches!(self.kind, ModelErrorKind::RateLimited | ModelErrorKind::Unavailable)
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        use ModelErrorKind::*;
        matches!(self.kind, RateLimited | Unavailable | Connection | Timeout)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}
