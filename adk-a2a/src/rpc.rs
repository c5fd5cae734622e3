//! JSON-RPC 2.0, with the methods and errors of A2A.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of this binding in a card.
pub const BINDING: &str = "JSONRPC";

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcRequest {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id, which the response repeats.
    #[serde(default)]
    pub id: Value,
    /// The method.
    pub method: String,
    /// The parameters of the method.
    #[serde(default)]
    pub params: Value,
}

impl RpcRequest {
    /// Creates a request.
    pub fn new(id: impl Into<Value>, method: &str, params: Value) -> Self {
        Self {
            jsonrpc: "2.0".to_owned(),
            id: id.into(),
            method: method.to_owned(),
            params,
        }
    }
}

/// A response: a result or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcResponse {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id of the request.
    #[serde(default)]
    pub id: Value,
    /// The result. A `null` result, such as that of a deletion, is read as `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

impl RpcResponse {
    /// Creates the response to a request.
    pub fn new(id: Value, result: Result<Value, RpcError>) -> Self {
        let (result, error) = match result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            jsonrpc: "2.0".to_owned(),
            id,
            result,
            error,
        }
    }
}

/// The error of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// The value of an [`ErrorCode`], or another code.
    pub code: i64,
    /// The message for people.
    #[serde(default)]
    pub message: String,
    /// Details. In A2A they are a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Creates an error with a fact and an optional remedy.
    pub fn new(code: ErrorCode, message: impl Into<String>, help: Option<&str>) -> Self {
        let mut info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": code.reason(),
            "domain": "a2a-protocol.org",
        });
        if let Some(help) = help {
            info["metadata"] = json!({"help": help});
        }
        Self {
            code: code as i64,
            message: message.into(),
            data: Some(json!([info])),
        }
    }
}

/// The error codes of JSON-RPC and A2A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The body is not JSON.
    Parse = -32700,
    /// The JSON is not a request.
    InvalidRequest = -32600,
    /// The method is unknown.
    MethodNotFound = -32601,
    /// The parameters are invalid.
    InvalidParams = -32602,
    /// Any other error.
    Internal = -32603,
    /// The task is unknown.
    TaskNotFound = -32001,
    /// The task has ended.
    TaskNotCancelable = -32002,
    /// The agent sends no push notifications.
    PushNotificationNotSupported = -32003,
    /// The agent does not support the operation, or not in this state of the task.
    UnsupportedOperation = -32004,
    /// The agent does not accept the media type of a part.
    ContentTypeNotSupported = -32005,
    /// The agent does not support the version of the request.
    VersionNotSupported = -32009,
}

impl ErrorCode {
    /// Returns the name of the error for programs.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Parse | Self::InvalidRequest | Self::MethodNotFound => "INVALID_REQUEST",
            Self::InvalidParams => "INVALID_PARAMS",
            Self::Internal => "INTERNAL_ERROR",
            Self::TaskNotFound => "TASK_NOT_FOUND",
            Self::TaskNotCancelable => "TASK_NOT_CANCELABLE",
            Self::PushNotificationNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            Self::UnsupportedOperation => "UNSUPPORTED_OPERATION",
            Self::ContentTypeNotSupported => "CONTENT_TYPE_NOT_SUPPORTED",
            Self::VersionNotSupported => "VERSION_NOT_SUPPORTED",
        }
    }
}
