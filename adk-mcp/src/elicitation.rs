//! Elicitation: questions of a server during a call, answered through the run.
//!
//! A question does not name the call that it belongs to. Therefore only one call at a time runs on
//! a connection, and a question belongs to the running call. A call that waits for an answer lets
//! the next call run. Such an open call exists only in this process, because the server keeps it
//! open on a connection of this process.

use crate::connection::{Connection, Failure};
use crate::schema;
use crate::server::McpServer;
use crate::toolset::Shared;
use adk_core::{BoxFuture, RunId, ToolContext, ToolError};
use jsonschema::Validator;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ElicitRequestParams, ElicitResult, ElicitationAction,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of calls of a toolset that wait for an answer. Further questions are declined.
const OPEN: usize = 64;

/// A call, identified by its run and its id in the run.
type CallKey = (RunId, String);

/// Calls of a toolset that wait for an answer.
pub(crate) type OpenCalls = Mutex<HashMap<CallKey, OpenCall>>;

/// The order of the calls on a connection: one call at a time runs, and it receives the server's
/// questions.
#[derive(Default)]
pub(crate) struct Turn {
    turn: tokio::sync::Mutex<()>,
    asks: Mutex<Option<mpsc::UnboundedSender<Question>>>,
}

/// A question as the server sent it.
pub(crate) struct Question {
    message: String,
    schema: Value,
    reply: oneshot::Sender<ElicitResult>,
}

/// A call that has been sent and has no result yet.
pub(crate) struct OpenCall {
    connection: Arc<Connection>,
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turn {
    /// Passes a question to the running call. Declines the question if no call runs, or if it is a
    /// page in a browser.
    pub(crate) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return declined;
        };
        let Ok(schema) = serde_json::to_value(requested_schema) else {
            return declined;
        };
        let (reply, answer) = oneshot::channel();
        let asked = match &*lock(&self.asks) {
            Some(asks) => asks
                .send(Question {
                    message,
                    schema,
                    reply,
                })
                .is_ok(),
            None => false,
        };
        if !asked {
            return declined;
        }
        answer
            .await
            .unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
    }
}

/// Stops the delivery of questions to a call when the call ends or waits for an answer.
struct Listening<'a>(&'a Turn);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        *lock(&self.0.asks) = None;
    }
}

impl Shared {
    /// Makes a call, or continues an open call with an answer.
    pub(crate) async fn call(
        &self,
        tool: &str,
        params: CallToolRequestParams,
        cx: &ToolContext,
    ) -> Result<CallOutcome, ToolError> {
        let key = (cx.run_id(), cx.call_id().to_owned());
        let mut call = match cx.answers().last() {
            None => {
                let connection = self
                    .connection()
                    .await
                    .map_err(|error| ToolError::failed(error.to_string()))?;
                OpenCall::new(connection, params)
            }
            Some(answer) => {
                let Some(mut call) = lock(&self.open).remove(&key) else {
                    return Err(self.lost_connection_error(tool));
                };
                if let Some(error) = call.answer(self, tool, answer) {
                    lock(&self.open).insert(key, call);
                    return Ok(CallOutcome::Asks(error));
                }
                call
            }
        };
        let outcome = call.run_part(self, tool, cx.may_ask()).await;
        if let CallOutcome::Asks(_) = outcome {
            let mut open = lock(&self.open);
            open.retain(|_, call| call.connection.is_alive());
            open.insert(key, call);
        }
        Ok(outcome)
    }

    /// Returns the error for an answer whose connection has ended.
    fn lost_connection_error(&self, tool: &str) -> ToolError {
        let name = &self.settings.name;
        ToolError::failed(format!(
            "the server of `{name}` asked a question in this call of `{tool}`. The question has \
             been answered, but the connection of the call has ended, so the server cannot get the \
             answer. The call is not repeated automatically; its effects are unknown."
        ))
    }

    fn question(&self, tool: &str, message: &str) -> String {
        let Self { settings, .. } = self;
        let message = settings.server.redact(message);
        format!(
            "The server of `{}` asks in a call of `{tool}`: {message}",
            settings.name
        )
    }
}

impl OpenCall {
    fn new(connection: Arc<Connection>, params: CallToolRequestParams) -> Self {
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
    fn answer(&mut self, shared: &Shared, tool: &str, answer: &Value) -> Option<ToolError> {
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
                shared.question(tool, &message)
            );
            let error = ToolError::asks(question, or_null(&shared.settings.server, &schema));
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
    async fn run_part(&mut self, shared: &Shared, tool: &str, may_ask: bool) -> CallOutcome {
        let connection = self.connection.clone();
        let turn = connection.turn();
        let _turn = turn.turn.lock().await;
        let _listening = Listening(turn);
        *lock(&turn.asks) = may_ask.then(|| self.to.clone());
        loop {
            tokio::select! {
                biased;
                Some(question) = self.questions.recv() => {
                    if let Some(error) = self.ask(shared, tool, question) {
                        return CallOutcome::Asks(error);
                    }
                }
                result = &mut self.result => return CallOutcome::Result(result),
            }
        }
    }

    /// Stores a question for the run. Declines a question whose schema is invalid or too large, or
    /// that exceeds [`OPEN`].
    fn ask(&mut self, shared: &Shared, tool: &str, question: Question) -> Option<ToolError> {
        let Question {
            message,
            schema,
            reply,
        } = question;
        let is_small = schema.to_string().len() <= shared.settings.limits.schema_bytes;
        let validator = is_small
            .then(|| schema::validator(&schema, &schema).ok())
            .flatten();
        let Some(validator) = validator.filter(|_| lock(&shared.open).len() < OPEN) else {
            let _ = reply.send(ElicitResult::new(ElicitationAction::Decline));
            return None;
        };
        let error = ToolError::asks(
            shared.question(tool, &message),
            or_null(&shared.settings.server, &schema),
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

/// Returns the schema of an answer, which allows null to decline.
fn or_null(server: &McpServer, schema: &Value) -> Value {
    let mut schema = json!({"anyOf": [schema, {"type": "null"}]});
    server.hide(&mut schema);
    schema
}
