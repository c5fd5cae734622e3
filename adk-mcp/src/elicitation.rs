//! Questions of a server in the middle of a call (elicitation), answered through the run.
//!
//! A question says nothing of the call that it belongs to. So of the calls over one connection one is made at a time, and a
//! question is one of that. A call that waits for an answer lets the others go on. It lives in this process alone: the
//! server has it open on a connection, and no other process has that.

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

/// The most calls of a toolset that wait for an answer. A question beyond is declined.
const OPEN: usize = 64;

/// A call, by its run and its id there.
type CallKey = (RunId, String);

/// The calls of a toolset that wait for an answer.
pub(crate) type OpenCalls = Mutex<HashMap<CallKey, OpenCall>>;

/// Whose turn it is on a connection, and where the questions of the server go.
#[derive(Default)]
pub(crate) struct Turn {
    turn: tokio::sync::Mutex<()>,
    asks: Mutex<Option<mpsc::UnboundedSender<Question>>>,
}

/// A question, as the server sent it.
pub(crate) struct Question {
    message: String,
    schema: Value,
    reply: oneshot::Sender<ElicitResult>,
}

/// A call that has been made and has no result yet.
pub(crate) struct OpenCall {
    connection: Arc<Connection>,
    result: BoxFuture<'static, Result<CallToolResult, Failure>>,
    to: mpsc::UnboundedSender<Question>,
    questions: mpsc::UnboundedReceiver<Question>,
    asked: Option<Asked>,
}

struct Asked {
    message: String,
    schema: Value,
    validator: Validator,
    reply: oneshot::Sender<ElicitResult>,
}

/// What came of a part of a call.
pub(crate) enum Heard {
    Result(Result<CallToolResult, Failure>),
    /// The call goes on with an answer.
    Asks(ToolError),
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turn {
    /// Asks whom the call answers to that is made at the moment; without one, and for a page in a browser, nobody.
    pub(crate) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return declined;
        };
        let Ok(schema) = serde_json::to_value(requested_schema) else { return declined };
        let (reply, answer) = oneshot::channel();
        let asked = match &*lock(&self.asks) {
            Some(asks) => asks.send(Question { message, schema, reply }).is_ok(),
            None => false,
        };
        if !asked {
            return declined;
        }
        answer.await.unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
    }
}

/// Sends the questions of the server nowhere when the part of a call ends.
struct Listening<'a>(&'a Turn);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        *lock(&self.0.asks) = None;
    }
}

impl Shared {
    /// Makes a call, or goes on with one that has asked and is answered.
    pub(crate) async fn call(
        &self,
        tool: &str,
        params: CallToolRequestParams,
        cx: &ToolContext,
    ) -> Result<Heard, ToolError> {
        let key = (cx.run_id(), cx.call_id().to_owned());
        let mut call = match cx.answers().last() {
            None => {
                let connection =
                    self.connection().await.map_err(|error| ToolError::failed(error.to_string()))?;
                OpenCall::new(connection, params)
            }
            Some(answer) => {
                let Some(mut call) = lock(&self.open).remove(&key) else { return Err(self.gone(tool)) };
                if let Some(error) = call.answer(self, tool, answer) {
                    lock(&self.open).insert(key, call);
                    return Ok(Heard::Asks(error));
                }
                call
            }
        };
        let heard = call.part(self, tool, cx.may_ask()).await;
        if let Heard::Asks(_) = heard {
            let mut open = lock(&self.open);
            open.retain(|_, call| call.connection.is_alive());
            open.insert(key, call);
        }
        Ok(heard)
    }

    /// The connection is gone on which the server asked.
    fn gone(&self, tool: &str) -> ToolError {
        let name = &self.settings.name;
        ToolError::failed(format!(
            "the server of `{name}` asked something in the middle of this call of `{tool}`. By now there is an answer, but \
             the connection is gone on which it was asked, and the call is not made a second time by itself. What it did \
             by then is not known."
        ))
    }

    fn question(&self, tool: &str, message: &str) -> String {
        let Self { settings, .. } = self;
        let message = settings.server.redacted(message);
        format!("The server of `{}` asks in a call of `{tool}`: {message}", settings.name)
    }
}

impl OpenCall {
    fn new(connection: Arc<Connection>, params: CallToolRequestParams) -> Self {
        let (to, questions) = mpsc::unbounded_channel();
        let made = connection.clone();
        let result = Box::pin(async move { made.call(params).await });
        Self { connection, result, to, questions, asked: None }
    }

    /// Gives the server an answer; the question once more when that does not fit.
    fn answer(&mut self, shared: &Shared, tool: &str, answer: &Value) -> Option<ToolError> {
        let Asked { message, schema, validator, reply } = self.asked.take()?;
        if !answer.is_null()
            && let Err(fault) = validator.validate(answer)
        {
            let question =
                format!("{} (The last answer does not fit: {fault})", shared.question(tool, &message));
            let error = ToolError::asks(question, or_null(&shared.settings.server, &schema));
            self.asked = Some(Asked { message, schema, validator, reply });
            return Some(error);
        }
        let result = match answer {
            Value::Null => ElicitResult::new(ElicitationAction::Decline),
            content => ElicitResult::new(ElicitationAction::Accept).with_content(content.clone()),
        };
        // A server that asks no more has given up, and says so in its result.
        let _ = reply.send(result);
        None
    }

    /// Waits for the result, or for a question.
    async fn part(&mut self, shared: &Shared, tool: &str, may_ask: bool) -> Heard {
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
                        return Heard::Asks(error);
                    }
                }
                result = &mut self.result => return Heard::Result(result),
            }
        }
    }

    /// Takes a question over; one that nobody can be asked is declined.
    fn ask(&mut self, shared: &Shared, tool: &str, question: Question) -> Option<ToolError> {
        let Question { message, schema, reply } = question;
        let is_small = schema.to_string().len() <= shared.settings.limits.schema_bytes;
        let validator = is_small.then(|| schema::validator(&schema, &schema).ok()).flatten();
        let Some(validator) = validator.filter(|_| lock(&shared.open).len() < OPEN) else {
            let _ = reply.send(ElicitResult::new(ElicitationAction::Decline));
            return None;
        };
        let error =
            ToolError::asks(shared.question(tool, &message), or_null(&shared.settings.server, &schema));
        self.asked = Some(Asked { message, schema, validator, reply });
        Some(error)
    }
}

/// The schema of an answer: null declines.
fn or_null(server: &McpServer, schema: &Value) -> Value {
    let mut schema = json!({"anyOf": [schema, {"type": "null"}]});
    server.hide(&mut schema);
    schema
}
