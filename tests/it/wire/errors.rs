//! [`assert_error`]: the rules that every error message keeps.

use adk::{Error, ErrorKind};

/// Asserts the kind, and that the message names the agent with its path and one remedy.
#[track_caller]
pub(crate) fn assert_error(error: &Error, kind: ErrorKind, path: &str, help: &str) {
    let shown = error.to_string();
    assert_eq!(error.kind(), kind, "{shown}");
    assert_eq!(
        error.path().map(ToString::to_string).as_deref(),
        Some(path),
        "{shown}"
    );
    let agent = path.rsplit('/').next().unwrap_or(path);
    assert!(
        shown.starts_with(&format!("agent `{agent}` (at {path}): ")),
        "{shown}"
    );
    let remedy = error.help().unwrap_or_default();
    assert!(
        remedy.contains(help),
        "{help:?} is not in the help of: {shown}"
    );
    assert!(shown.ends_with(&format!("; help: {remedy}")), "{shown}");
    assert_eq!(shown.matches("help:").count(), 1, "{shown}");
    assert!(!shown.contains(crate::wire::format::KEY), "{shown}");
}
