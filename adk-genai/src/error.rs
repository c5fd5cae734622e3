//! Conversion of genai's errors into model errors.
//!
//! The relay reports failures before an answer; genai reports unreadable answers.

use crate::cause::Cause;
use crate::relay::{Failure, SHORTEST_SECRET};
use crate::retry_after::retry_after;
use adk_model::MAX_DEPTH;
use adk_model::model::{ModelError, ModelErrorKind as Kind};
use genai::Error as GenaiError;
use genai::webc::Error as WebError;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::fmt::Write as _;

/// Provider and model for error messages, and the secrets that messages must not contain.
pub(crate) struct ErrorContext<'a> {
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    /// Keys and other credentials.
    pub(crate) secrets: &'a [SecretString],
    /// Whether a part of the answer was already delivered.
    pub(crate) spoke: bool,
}

/// Maximum length of a provider's text in a message.
const LONGEST: usize = 400;

impl ErrorContext<'_> {
    /// Returns an error that names provider and model.
    pub(crate) fn error(&self, kind: Kind, what: &str, detail: &str) -> ModelError {
        let mut message = format!(
            "{} (model `{}`): {}",
            self.provider,
            self.model,
            self.clean(what)
        );
        // Remove secrets before shortening, because a truncated key would not be found.
        let detail = short(&self.clean(detail));
        if !detail.is_empty() {
            let _ = write!(message, ": {detail}");
        }
        ModelError::new(kind, message)
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let secrets = self.secrets.iter().map(|secret| secret.expose_secret());
        for secret in secrets.filter(|secret| secret.len() >= SHORTEST_SECRET) {
            text = text.replace(secret, "***");
        }
        text
    }

    /// Converts the failure of a call that got no answer.
    pub(crate) fn failure(&self, failure: Failure) -> ModelError {
        match failure {
            Failure::Local(error) => {
                let what = "the local connection (127.0.0.1) for the answer failed";
                self.error(Kind::Connection, what, &error.to_string())
            }
            Failure::Transport(error) => self.transport(error),
            Failure::Redirect { status, host } => {
                let what = match host {
                    Some(host) => format!(
                        "the provider, or a proxy before it, answered with a redirect ({status}) \
                         to `{host}`, which is not followed because the key and the prompt would \
                         go there"
                    ),
                    None => format!(
                        "the provider, or a proxy before it, answered with a redirect ({status}) \
                         without an address"
                    ),
                };
                let help = "check the base URL; if the provider has moved, set the new address \
                    with `Genai::builder().base_url(...)`";
                self.error(Kind::InvalidResponse, &what, "")
                    .with_help(help)
                    .with_may_cost(false)
            }
            Failure::Status {
                status,
                body,
                headers,
            } => self.status(status, &body, &headers),
            Failure::Incomplete => self.incomplete(),
            Failure::Page { body } => {
                let what = "the provider, or a proxy before it, answered with a web page instead \
                    of a model's answer";
                let help = "check the base URL, and whether a proxy or a login page intercepts the \
                    request";
                self.error(Kind::InvalidResponse, what, page(&body).unwrap_or(&body))
                    .with_help(help)
                    .with_may_cost(false)
            }
            Failure::TooLong { what, limit } => {
                let what = format!("{what} exceeds the limit of {limit} bytes");
                let help = "raise `Genai::builder().answer_limit(...)` if you expect such answers";
                self.error(Kind::InvalidResponse, &what, "").with_help(help)
            }
        }
    }

    /// Returns the error for a value that is nested deeper than the framework accepts.
    pub(crate) fn too_deep(&self, what: &str) -> ModelError {
        let what = format!("the model answered with {what} nested deeper than {MAX_DEPTH} levels");
        let help = "request a flatter value, in the instruction or in the schema";
        self.error(Kind::InvalidResponse, &what, "").with_help(help)
    }

    /// Returns the error for an answer that the provider has ended regularly, but that is
    /// incomplete.
    pub(crate) fn incomplete(&self) -> ModelError {
        if self.spoke {
            self.error(
                Kind::BrokenStream,
                "the provider ended its answer before it was complete",
                "",
            )
        } else {
            let what = "the provider ended its answer before the first content";
            self.error(Kind::Connection, what, "")
                .with_help("try again later, or raise `retry` of the agent")
                .with_may_cost(true)
        }
    }

    /// Returns the error for a connection that ended before the answer was complete.
    pub(crate) fn broken(&self, detail: &str) -> ModelError {
        if self.spoke {
            self.error(
                Kind::BrokenStream,
                "the connection broke in the middle of the answer",
                detail,
            )
        } else {
            self.error(
                Kind::Connection,
                "the connection broke before the answer",
                detail,
            )
            .with_may_cost(true)
        }
    }

    pub(crate) fn sort(&self, error: GenaiError) -> ModelError {
        match error {
            GenaiError::WebStream { error, cause, .. } => match error.downcast::<GenaiError>() {
                Ok(inner) => self.sort(*inner),
                Err(error) => match error.downcast::<reqwest::Error>() {
                    Ok(error) => self.transport(*error),
                    Err(_) => {
                        self.error(Kind::InvalidResponse, "the stream cannot be read", &cause)
                    }
                },
            },
            GenaiError::WebModelCall { webc_error, .. }
            | GenaiError::WebAdapterCall { webc_error, .. } => self.web(webc_error),
            GenaiError::ChatResponse { body, .. } => self.in_band(&body),
            GenaiError::ChatResponseGeneration { cause, .. } => {
                self.error(Kind::InvalidResponse, "the answer cannot be read", &cause)
            }
            GenaiError::StreamParse { serde_error, .. } => self.error(
                Kind::InvalidResponse,
                "the stream cannot be read",
                &serde_error.to_string(),
            ),
            error @ (GenaiError::NoChatResponse { .. }
            | GenaiError::InvalidJsonResponseElement { .. }
            | GenaiError::JsonValueExt(_)
            | GenaiError::SerdeJson(_)) => self.error(
                Kind::InvalidResponse,
                "the answer cannot be read",
                &error.to_string(),
            ),
            error @ (GenaiError::RequiresApiKey { .. }
            | GenaiError::NoAuthResolver { .. }
            | GenaiError::NoAuthData { .. }
            | GenaiError::Resolver { .. }) => {
                self.error(Kind::MissingKey, "no key", &error.to_string())
            }
            error @ (GenaiError::ChatReqHasNoMessages { .. }
            | GenaiError::LastChatMessageIsNotUser { .. }
            | GenaiError::MessageRoleNotSupported { .. }
            | GenaiError::MessageContentTypeNotSupported { .. }
            | GenaiError::JsonModeWithoutInstruction
            | GenaiError::AdapterNotSupported { .. }) => self.error(
                Kind::InvalidRequest,
                "the request cannot be sent",
                &error.to_string(),
            ),
            error => self.error(Kind::Other, "the call failed", &error.to_string()),
        }
    }

    /// Returns the error for a successful response whose body contains no answer.
    pub(crate) fn no_answer(&self, body: &Value) -> ModelError {
        if body.get("error").is_some_and(|error| !error.is_null()) {
            return self.in_band(body);
        }
        self.error(
            Kind::InvalidResponse,
            "the answer cannot be read",
            &body.to_string(),
        )
    }

    fn web(&self, error: WebError) -> ModelError {
        match error {
            WebError::Reqwest(error) => self.transport(error),
            // The relay always reports success to genai.
            error @ WebError::ResponseFailedStatus { .. } => {
                self.error(Kind::Other, "the call failed", &error.to_string())
            }
            WebError::ResponseFailedNotJson { content_type, body } => {
                let what = format!("the answer is `{content_type}` and not JSON");
                self.error(Kind::InvalidResponse, &what, &body)
            }
            WebError::ResponseFailedInvalidJson { cause, .. } => self.error(
                Kind::InvalidResponse,
                "the answer is not valid JSON",
                &cause,
            ),
            WebError::JsonValueExt(error) => self.error(
                Kind::InvalidResponse,
                "the answer cannot be read",
                &error.to_string(),
            ),
        }
    }

    fn transport(&self, error: reqwest::Error) -> ModelError {
        // The base URL may contain credentials.
        let error = error.without_url();
        let detail = chain(&error);
        if error.is_builder() {
            self.error(Kind::InvalidRequest, "the request cannot be built", &detail)
        } else if error.is_timeout() && !self.spoke {
            self.error(Kind::Timeout, "no answer in time", &detail)
                .with_may_cost(!error.is_connect())
        } else if error.is_connect() {
            self.error(Kind::Connection, "no connection", &detail)
        } else {
            self.broken(&detail)
        }
    }

    fn status(&self, status: u16, body: &str, headers: &HeaderMap) -> ModelError {
        let json: Value = serde_json::from_str(body).unwrap_or_default();
        let detail = words(&json).unwrap_or_else(|| body.to_owned());
        let detail = page(&detail).unwrap_or(&detail);
        let cause = Cause::find(Some(status), &json, detail);
        let what = format!("{} ({status})", cause.what);
        let error = with_help(self.error(cause.kind, &what, detail), cause);
        match retry_after(headers, &json) {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }

    /// Returns the error for an error in the body of an answer that began successfully.
    pub(crate) fn in_band(&self, body: &Value) -> ModelError {
        let detail = words(body).unwrap_or_else(|| body.to_string());
        if self.spoke {
            return self.error(
                Kind::BrokenStream,
                "the provider broke off its answer with an error",
                &detail,
            );
        }
        let cause = Cause::find(None, body, &detail);
        let what = "the provider answered with an error";
        with_help(self.error(cause.kind, what, &detail), cause)
    }
}

/// Adds the remedy of a cause to its error.
fn with_help(error: ModelError, cause: &Cause) -> ModelError {
    match cause.help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// Returns the provider's text in the body of an error.
fn words(body: &Value) -> Option<String> {
    let body = body.get(0).unwrap_or(body);
    [
        "/error/message",
        "/error/error/message",
        "/message",
        "/error",
        "/detail",
        "/detail/0/msg",
    ]
    .iter()
    .find_map(|path| body.pointer(path)?.as_str())
    .map(str::to_owned)
}

/// Returns the title of a web page.
fn page(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<title>")?;
    rest.split_once("</title>")
        .map(|(title, _)| title.trim())
        .filter(|title| !title.is_empty())
}

/// Shortens a text to one line of limited length.
fn short(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(at);
        line.push_str("...");
    }
    line
}

/// Formats an error with its causes, because reqwest's own text omits them.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            let _ = write!(text, ": {more}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn context<'a>(secrets: &'a [SecretString], spoke: bool) -> ErrorContext<'a> {
        ErrorContext {
            provider: "openai",
            model: "m",
            secrets,
            spoke,
        }
    }

    #[test]
    fn statuses_are_mapped_to_error_kinds() {
        let cases = [
            (400, "{}", Kind::InvalidRequest),
            (
                400,
                r#"{"error":{"message":"API key not valid",
                    "details":[{"reason":"API_KEY_INVALID"}]}}"#,
                Kind::Unauthorized,
            ),
            (401, "", Kind::Unauthorized),
            (403, "", Kind::Unauthorized),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist"}}"#,
                Kind::UnknownModel,
            ),
            (404, "page not found", Kind::InvalidRequest),
            (408, "", Kind::Timeout),
            (422, "", Kind::InvalidRequest),
            (429, "", Kind::RateLimited),
            (500, "", Kind::Unavailable),
            (503, "", Kind::Unavailable),
            (529, "", Kind::Unavailable),
            (302, "", Kind::InvalidResponse),
        ];
        for (status, body, kind) in cases {
            let error = context(&[], false).status(status, body, &HeaderMap::new());
            assert_eq!(error.kind(), kind, "{status} {body}");
            assert!(
                error.to_string().starts_with("openai (model `m`): "),
                "{error}"
            );
        }
    }

    #[test]
    fn messages_are_short_and_contain_no_key() {
        let secrets = ["sk-secret-123".into()];
        let message = format!("Incorrect key sk-secret-123. {}", "x".repeat(5000));
        let body = json!({"error": {"message": message}});
        let error = context(&secrets, false).status(401, &body.to_string(), &HeaderMap::new());
        assert!(error.to_string().contains("Incorrect key ***."), "{error}");
        assert!(error.to_string().len() < 600);
    }

    #[test]
    fn errors_in_a_stream_are_mapped_to_error_kinds() {
        let cases = [
            (
                json!({
                    "type": "error",
                    "error": {"type": "overloaded_error", "message": "Overloaded"},
                }),
                Kind::Unavailable,
            ),
            (
                json!({"message": "slow down", "type": "rate_limit_error"}),
                Kind::RateLimited,
            ),
            (
                json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "q"}}),
                Kind::RateLimited,
            ),
            (
                json!({"error": {"code": 503, "status": "UNAVAILABLE"}}),
                Kind::Unavailable,
            ),
            (
                json!({"message": "bad", "type": "invalid_request_error"}),
                Kind::InvalidRequest,
            ),
        ];
        for (body, kind) in cases {
            assert_eq!(context(&[], false).in_band(&body).kind(), kind, "{body}");
            assert_eq!(
                context(&[], true).in_band(&body).kind(),
                Kind::BrokenStream,
                "{body}"
            );
        }
    }
}
