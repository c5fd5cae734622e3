//! [`RpcRefusal`]: the error of a JSON-RPC request.

use crate::refuse::Refusal;
use adk_a2a::rpc::{ErrorCode, RpcError};
use adk_core::engine::RunInfo;
use adk_core::workflow::FieldFault;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// A JSON-RPC error and the HTTP status of its response.
#[derive(Debug)]
pub(super) struct RpcRefusal {
    status: StatusCode,
    error: RpcError,
}

impl RpcRefusal {
    pub(super) fn new(code: ErrorCode, fact: impl Into<String>, help: &str) -> Self {
        Self {
            status: StatusCode::OK,
            error: RpcError::new(code, fact, Some(help)),
        }
    }

    pub(super) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Marks the error of a started task, so that the client does not assume that the task was not
    /// started.
    pub(super) fn with_started_task(self, run: &RunInfo) -> Self {
        if self.status != StatusCode::SERVICE_UNAVAILABLE {
            return self;
        }
        let fact = format!(
            "the task `{}` was started, but: {}",
            run.run_id, self.error.message
        );
        Self::new(
            ErrorCode::Internal,
            fact,
            "send the same message again, or use `GetTask`",
        )
    }

    pub(super) fn into_parts(self) -> (StatusCode, RpcError) {
        (self.status, self.error)
    }
}

impl From<Refusal> for RpcRefusal {
    fn from(refusal: Refusal) -> Self {
        let status = refusal.status();
        let code = match status {
            StatusCode::NOT_FOUND => ErrorCode::TaskNotFound,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => ErrorCode::InvalidParams,
            StatusCode::CONFLICT | StatusCode::FORBIDDEN => ErrorCode::UnsupportedOperation,
            _ => ErrorCode::Internal,
        };
        let body = refusal.body();
        let mut error = RpcError::new(code, &*body.message, body.help.as_deref());
        if let Some(Value::Array(data)) = &mut error.data
            && !body.fields.is_empty()
        {
            let named =
                |fault: &FieldFault| json!({"field": fault.field, "description": fault.message});
            data.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": body.fields.iter().map(named).collect::<Vec<_>>(),
            }));
        }
        // Clients that only check the HTTP status must see that the request is forbidden or may be
        // repeated.
        let is_of_http = matches!(
            status,
            StatusCode::FORBIDDEN
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::TOO_MANY_REQUESTS
                | StatusCode::SERVICE_UNAVAILABLE
        );
        Self {
            status: if is_of_http { status } else { StatusCode::OK },
            error,
        }
    }
}

impl From<adk_core::Error> for RpcRefusal {
    fn from(error: adk_core::Error) -> Self {
        Refusal::from(error).into()
    }
}
