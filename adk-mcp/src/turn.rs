//! [`Turn`]: the order of the calls on a connection.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// The order of the calls on a connection: one call at a time runs, and it receives the server's
/// questions.
#[derive(Default)]
pub(crate) struct Turn {
    pub(crate) running: tokio::sync::Mutex<()>,
    pub(crate) asks: Mutex<Option<mpsc::UnboundedSender<Question>>>,
}

/// A question as the server sent it.
pub(crate) struct Question {
    pub(crate) message: String,
    pub(crate) schema: Value,
    pub(crate) reply: oneshot::Sender<ElicitResult>,
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
pub(crate) struct Listening<'a>(pub(crate) &'a Turn);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        *lock(&self.0.asks) = None;
    }
}
