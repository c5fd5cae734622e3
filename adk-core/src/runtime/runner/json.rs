//! [`RunJson`], [`WaitJson`] and [`ErrorJson`]: the JSON that programs read.
//!
//! The server, the program `adk` and the protocols write these forms. A field without a value is
//! omitted, and times are in seconds since 1970, as in ADK's JSON.

use crate::model::Usage;
use crate::runtime::workflow::FieldFault;
use crate::store::engine::{RunError, RunInfo, RunStatus, Waiting};
use crate::{AnsweredBy, ErrorKind, RunId};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The JSON of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunJson<'a> {
    /// The id of the run.
    pub run: RunId,
    /// The app.
    pub app: &'a str,
    /// The user who owns the run.
    pub user: &'a str,
    /// The session.
    pub session: &'a str,
    /// The name of the workflow.
    pub workflow: &'a str,
    /// The [name](RunStatus::name) of the status.
    pub status: &'static str,
    /// Whether the run can continue and no process drives it.
    pub is_ready: bool,
    /// The time when the run began or was queued.
    pub created: f64,
    /// The time when its status was last written.
    pub updated: f64,
    /// The time when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<f64>,
    /// Its usage, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The error of a failed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorJson>,
}

impl<'a> From<&'a RunInfo> for RunJson<'a> {
    fn from(run: &'a RunInfo) -> Self {
        let error = match &run.status {
            RunStatus::Failed(error) => Some(error.clone().into()),
            _ => None,
        };
        Self {
            run: run.run_id,
            app: &run.session.app,
            user: &run.session.user,
            session: &run.session.id,
            workflow: &run.workflow,
            status: run.status.name(),
            is_ready: run.is_ready,
            created: seconds(run.created),
            updated: seconds(run.updated),
            ended: run.ended().map(seconds),
            usage: run.usage,
            error,
        }
    }
}

/// The JSON of a wait.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitJson<'a> {
    /// The id to answer with.
    pub id: &'a str,
    /// The id of the run.
    pub run: RunId,
    /// The user who owns the run.
    pub user: &'a str,
    /// The session of the run.
    pub session: &'a str,
    /// The path of the waiting agent.
    pub path: String,
    /// The question; empty if the agent gives none.
    pub question: &'a str,
    /// The JSON schema of the answer; null accepts any answer.
    pub schema: &'a Value,
    /// The time after which no answer is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// The call of a long-running tool that the answer belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<&'a str>,
    /// The users who may answer; without it, the user who owns the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'a AnsweredBy>,
}

impl<'a> From<&'a Waiting> for WaitJson<'a> {
    fn from(wait: &'a Waiting) -> Self {
        Self {
            id: &wait.id,
            run: wait.run_id,
            user: &wait.user,
            session: &wait.session,
            path: wait.path.to_string(),
            question: &wait.question,
            schema: &wait.schema,
            deadline: wait.deadline.map(seconds),
            call_id: wait.call_id.as_deref(),
            by: wait.by.as_ref(),
        }
    }
}

/// The JSON of the error of a run or of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ErrorJson {
    /// The kind in snake case, without the reason of a kind that has reasons, such as `model`. It
    /// is `failed` if the kind is unknown.
    pub kind: String,
    /// The fact.
    pub message: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The path of the agent that has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The invalid fields of an input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldFault>,
}

impl ErrorJson {
    /// Creates an error from a kind in snake case and a fact.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            help: None,
            path: None,
            fields: Vec::new(),
        }
    }
}

/// Writes the fact and the remedy on one line.
impl fmt::Display for ErrorJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; help: {help}"),
            None => Ok(()),
        }
    }
}

impl From<RunError> for ErrorJson {
    fn from(error: RunError) -> Self {
        Self {
            help: error.help,
            path: error.path.map(|path| path.to_string()),
            ..Self::new(kind_name(error.kind), error.message)
        }
    }
}

fn kind_name(kind: Option<ErrorKind>) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(kind)) => kind,
        Ok(Value::Object(kind)) => kind.keys().next().cloned().unwrap_or_default(),
        _ => "failed".to_owned(),
    }
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
