//! [`Shared`]: the connection of a toolset, and its calls.

use crate::connection::Connection;
use crate::elicitation::{CallOutcome, OpenCall, OpenCalls};
use crate::settings::Settings;
use crate::turn::lock;
use adk_core::{Result, ToolContext, ToolError};
use rmcp::model::CallToolRequestParams;
use std::sync::Arc;

/// State that the tools of a toolset share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) connection: tokio::sync::Mutex<Option<Arc<Connection>>>,
    pub(crate) open: OpenCalls,
}

impl Shared {
    /// Returns the open connection, or opens a new one.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>> {
        let mut connection = self.connection.lock().await;
        if let Some(alive) = connection
            .as_ref()
            .filter(|connection| connection.is_alive())
        {
            return Ok(alive.clone());
        }
        // The process of the old connection ends before another one is started.
        *connection = None;
        let opening = Connection::open(&self.settings);
        let opened = match tokio::time::timeout(self.settings.connect_timeout, opening).await {
            Ok(opened) => opened.map_err(|why| self.settings.unavailable_error(&why))?,
            Err(_) => return Err(self.settings.timeout_error()),
        };
        let opened = Arc::new(opened);
        *connection = Some(opened.clone());
        Ok(opened)
    }

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
                    return Err(lost_connection_error(&self.settings.name, tool));
                };
                if let Some(error) = call.answer(&self.settings, tool, answer) {
                    lock(&self.open).insert(key, call);
                    return Ok(CallOutcome::Asks(error));
                }
                call
            }
        };
        let outcome = call
            .run_part(&self.settings, tool, cx.may_ask(), &self.open)
            .await;
        if let CallOutcome::Asks(_) = outcome {
            let mut open = lock(&self.open);
            open.retain(|_, call| call.connection.is_alive());
            open.insert(key, call);
        }
        Ok(outcome)
    }
}

/// Returns the error for an answer whose connection has ended.
fn lost_connection_error(name: &str, tool: &str) -> ToolError {
    ToolError::failed(format!(
        "the server of `{name}` asked a question in this call of `{tool}`. The question has been \
         answered, but the connection of the call has ended, so the server cannot get the answer. \
         The call is not repeated automatically; its effects are unknown."
    ))
}
