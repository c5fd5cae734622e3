//! [`ModelError`]: a failed call of a model, sorted by the possible remedies.

use std::fmt;
use std::time::Duration;

/// A failed call of a model.
#[derive(Debug)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    help: Option<String>,
    retry_after: Option<Duration>,
    may_cost: bool,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kind of a failed call of a model. It decides the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No provider has a model with that name.
    UnknownModel,
    /// No key for the provider.
    MissingKey,
    /// The provider refused the key (401, 403).
    Unauthorized,
    /// Too many requests (429); retried, after the time that the provider asks for.
    RateLimited,
    /// The provider failed (5xx) or is overloaded; retried.
    Unavailable,
    /// The connection could not be made, or broke before the first byte of the answer; retried.
    Connection,
    /// The stream broke in the middle of the answer; not retried, because a part was passed on
    /// already.
    BrokenStream,
    /// No answer within the agent's `timeout`; retried.
    Timeout,
    /// The provider did not understand the request (other 4xx).
    InvalidRequest,
    /// The answer could not be read.
    InvalidResponse,
    /// Anything else.
    Other,
}

impl ModelError {
    /// Creates an error with the provider's message.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
            retry_after: None,
            may_cost: matches!(
                kind,
                ModelErrorKind::BrokenStream
                    | ModelErrorKind::Timeout
                    | ModelErrorKind::InvalidResponse
            ),
            source: None,
        }
    }

    /// Adds a remedy, if it is more specific than the remedy of the kind.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the time that the provider asks to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Sets whether the provider may have charged for the call. Budgets then count the largest
    /// usage of the call. By default, errors of the kinds [`BrokenStream`], [`Timeout`] and
    /// [`InvalidResponse`] may have a cost.
    ///
    /// [`BrokenStream`]: ModelErrorKind::BrokenStream
    /// [`Timeout`]: ModelErrorKind::Timeout
    /// [`InvalidResponse`]: ModelErrorKind::InvalidResponse
    #[must_use]
    pub fn with_may_cost(mut self, yes: bool) -> Self {
        self.may_cost = yes;
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Returns the fact, without the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the remedy, if it is more specific than the remedy of the kind.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Returns an error with another message and this error as its cause.
    pub fn with_message(self, message: String) -> Self {
        Self {
            kind: self.kind,
            message,
            help: self.help.clone(),
            retry_after: self.retry_after,
            may_cost: self.may_cost,
            source: Some(self.into()),
        }
    }

    /// Returns the time that the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns whether the provider may have charged for the call.
    pub fn may_cost(&self) -> bool {
        self.may_cost
    }

    /// Returns whether the provider refused the call because of load.
    pub fn is_load(&self) -> bool {
        matches!(
            self.kind,
            ModelErrorKind::RateLimited | ModelErrorKind::Unavailable
        )
    }

    /// Returns whether the same call may succeed later.
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
