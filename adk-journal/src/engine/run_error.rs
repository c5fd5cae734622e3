//! [`RunError`]: the error of a run as data.

use crate::{Error, ErrorKind, Path};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;

/// The error of a failed run as data, for stores and for programs that read runs. Its text is the
/// text of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RunErrorForm")]
#[non_exhaustive]
pub struct RunError {
    /// The kind; `None` if an older version stored only a text, or if this version does not know
    /// the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// The fact, without place and remedy.
    pub message: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The place; its last segment is the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
}

/// The stored forms of a [`RunError`].
#[derive(Deserialize)]
#[serde(untagged)]
enum RunErrorForm {
    /// The text of an error, which older versions stored.
    Text(String),
    Fields {
        #[serde(default, deserialize_with = "known_kind")]
        kind: Option<ErrorKind>,
        message: String,
        help: Option<String>,
        path: Option<Path>,
    },
}

/// Reads a kind; `None` for one of a newer version.
fn known_kind<'de, D: Deserializer<'de>>(source: D) -> Result<Option<ErrorKind>, D::Error> {
    let value = Value::deserialize(source)?;
    Ok(serde_json::from_value(value).ok())
}

impl From<RunErrorForm> for RunError {
    fn from(form: RunErrorForm) -> Self {
        match form {
            RunErrorForm::Text(text) => text.as_str().into(),
            RunErrorForm::Fields {
                kind,
                message,
                help,
                path,
            } => Self {
                kind,
                message,
                help,
                path,
            },
        }
    }
}

impl RunError {
    /// Reads the error from a column of text: JSON, or the text of an older version.
    pub(super) fn from_column(text: String) -> Self {
        serde_json::from_str(&text).unwrap_or_else(|_| text.as_str().into())
    }
}

/// Takes a text as the fact.
impl From<&str> for RunError {
    fn from(message: &str) -> Self {
        Self {
            kind: None,
            message: message.to_owned(),
            help: None,
            path: None,
        }
    }
}

impl From<&Error> for RunError {
    fn from(error: &Error) -> Self {
        Self {
            kind: Some(error.kind()),
            message: error.message().to_owned(),
            help: error.help().map(str::to_owned),
            path: error.path().cloned(),
        }
    }
}

/// An error without a kind counts as [`ErrorKind::Agent`].
impl From<RunError> for Error {
    fn from(stored: RunError) -> Self {
        let mut error = Self::new(stored.kind.unwrap_or(ErrorKind::Agent), stored.message);
        if let Some(help) = stored.help {
            error = error.with_help(help);
        }
        match stored.path {
            Some(path) => error.at(&path),
            None => error,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(self.clone()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunStatus;
    use crate::model::ModelErrorKind;

    #[test]
    fn an_error_is_stored_as_fields_and_an_old_text_is_read() {
        let kind = ErrorKind::Model(ModelErrorKind::RateLimited);
        let error = Error::new(kind, "too many requests; help: is a part of this fact")
            .with_help("wait")
            .at(&Path::root("writing"));
        let stored = RunError::from(&error);
        assert_eq!(stored.to_string(), error.to_string());
        let status = RunStatus::Failed(stored.clone());
        let (name, text) = status.to_row();
        assert_eq!(
            text.as_deref(),
            Some(
                r#"{"kind":{"model":"rate_limited"},"message":"too many requests; help: is a part of this fact","help":"wait","path":"writing"}"#
            )
        );
        assert_eq!(RunStatus::from_row(name, text), status);

        let old = RunStatus::Failed("it broke; help: mend it".into());
        for text in [
            "it broke; help: mend it",
            r#"{"failed":"it broke; help: mend it"}"#,
        ] {
            let read = serde_json::from_str(text)
                .unwrap_or_else(|_| RunStatus::from_row("failed", Some(text.to_owned())));
            assert_eq!(read, old, "{text}");
        }
        let newer = r#"{"kind":"of_tomorrow","message":"m"}"#.to_owned();
        assert_eq!(
            RunStatus::from_row("failed", Some(newer)),
            RunStatus::Failed("m".into())
        );
    }
}
