//! Elicitation: questions of a server during a call, answered through the run.
//!
//! A question does not name the call that it belongs to. Therefore only one call at a time runs on
//! a connection, and a question belongs to the running call. A call that waits for an answer lets
//! the next call run. Such an open call exists only in this process, because the server keeps it
//! open on a connection of this process.

use crate::connection::{Connection, Failure};
use crate::schema;
use crate::server::McpServer;
use crate::settings::Settings;
use crate::turn::{Listening, Question, lock};
use adk_core::{BoxFuture, RunId, ToolError};
use jsonschema::Validator;
use rmcp::model::{CallToolRequestParams, CallToolResult, ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of calls of a toolset that wait for an answer. Further questions are declined.
const OPEN: usize = 64;

/// A call, identified by its run and its id in the run.
type CallKey = (RunId, String);

/// Calls of a toolset that wait for an answer.
pub(crate) type OpenCalls = Mutex<HashMap<CallKey, OpenCall>>;

/// A call that has been sent and has no result yet.
pub(crate) struct OpenCall {
    pub(crate) connection: Arc<Connection>,
    result: BoxFuture<'static, Result<CallToolResult, Failure>>,
    to: mpsc::UnboundedSender<Question>,
    questions: mpsc::UnboundedReceiver<Question>,
    question: Option<OpenQuestion>,
}

struct OpenQuestion {
    message: String,
    schema: Value,
    validator: Validator,
    reply: oneshot::Sender<ElicitResult>,
}

/// The outcome of a call up to its result or its next question.
pub(crate) enum CallOutcome {
    Result(Result<CallToolResult, Failure>),
    /// The server asks the user; the call continues with the answer.
    Asks(ToolError),
}

impl OpenCall {
    pub(crate) fn new(connection: Arc<Connection>, params: CallToolRequestParams) -> Self {
        let (to, questions) = mpsc::unbounded_channel();
        let made = connection.clone();
        let result = Box::pin(async move { made.call(params).await });
        Self {
            connection,
            result,
            to,
            questions,
            question: None,
        }
    }

    /// Sends an answer to the server. Returns the question again if the answer does not match its
    /// schema.
    pub(crate) fn answer(
        &mut self,
        settings: &Settings,
        tool: &str,
        answer: &Value,
    ) -> Option<ToolError> {
        let OpenQuestion {
            message,
            schema,
            validator,
            reply,
        } = self.question.take()?;
        if !answer.is_null()
            && let Err(fault) = validator.validate(answer)
        {
            let question = format!(
                "{} (The last answer does not fit: {fault})",
                question_text(settings, tool, &message)
            );
            let error = ToolError::asks(question, or_null(&settings.server, &schema));
            self.question = Some(OpenQuestion {
                message,
                schema,
                validator,
                reply,
            });
            return Some(error);
        }
        let result = match answer {
            Value::Null => ElicitResult::new(ElicitationAction::Decline),
            content => ElicitResult::new(ElicitationAction::Accept).with_content(content.clone()),
        };
        // If the server does not wait for the answer any more, it reports that in its result.
        let _ = reply.send(result);
        None
    }

    /// Waits until the server sends the result or asks a question.
    pub(crate) async fn run_part(
        &mut self,
        settings: &Settings,
        tool: &str,
        may_ask: bool,
        open: &OpenCalls,
    ) -> CallOutcome {
        let connection = self.connection.clone();
        let turn = connection.turn();
        let _turn = turn.running.lock().await;
        let _listening = Listening(turn);
        *lock(&turn.asks) = may_ask.then(|| self.to.clone());
        loop {
            tokio::select! {
                biased;
                Some(question) = self.questions.recv() => {
                    if let Some(error) = self.ask(settings, tool, question, open) {
                        return CallOutcome::Asks(error);
                    }
                }
                result = &mut self.result => return CallOutcome::Result(result),
            }
        }
    }

    /// Stores a question for the run. Declines a question whose schema is invalid or too large, or
    /// that exceeds [`OPEN`].
    fn ask(
        &mut self,
        settings: &Settings,
        tool: &str,
        question: Question,
        open: &OpenCalls,
    ) -> Option<ToolError> {
        let Question {
            message,
            schema,
            reply,
        } = question;
        let is_small = schema.to_string().len() <= settings.limits.schema_bytes;
        let validator = is_small.then(|| schema::validator(&schema).ok()).flatten();
        let Some(validator) = validator.filter(|_| lock(open).len() < OPEN) else {
            let _ = reply.send(ElicitResult::new(ElicitationAction::Decline));
            return None;
        };
        let error = ToolError::asks(
            question_text(settings, tool, &message),
            or_null(&settings.server, &schema),
        );
        self.question = Some(OpenQuestion {
            message,
            schema,
            validator,
            reply,
        });
        Some(error)
    }
}

/// Returns the question of a server, as the user reads it.
fn question_text(settings: &Settings, tool: &str, message: &str) -> String {
    let message = settings.server.redact(message);
    format!(
        "The server of `{}` asks in a call of `{tool}`: {message}",
        settings.name
    )
}

/// Returns the schema of an answer, which allows null to decline.
fn or_null(server: &McpServer, schema: &Value) -> Value {
    let mut schema = json!({"anyOf": [schema, {"type": "null"}]});
    server.hide(&mut schema);
    schema
}
