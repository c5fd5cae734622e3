//! JSON-RPC 2.0, with the methods and errors of A2A.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// `JSONRPC`, as a card names it.
pub const BINDING: &str = "JSONRPC";

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcRequest {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// What the answer is known by.
    #[serde(default)]
    pub id: Value,
    /// The method.
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Value,
}

impl RpcRequest {
    /// A request.
    pub fn new(id: impl Into<Value>, method: &str, params: Value) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id: id.into(), method: method.to_owned(), params }
    }
}

/// An answer: a result or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcResponse {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// That of the request.
    #[serde(default)]
    pub id: Value,
    /// The result. One that is null, as that of a deletion, is `None` when it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

impl RpcResponse {
    /// The answer to a request.
    pub fn new(id: Value, result: Result<Value, RpcError>) -> Self {
        let (result, error) = match result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { jsonrpc: "2.0".to_owned(), id, result, error }
    }
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// One of [`ErrorCode`], or another.
    pub code: i64,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// Details; A2A makes a list of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error with a fact and, where there is one, a remedy.
    pub fn new(code: ErrorCode, message: impl Into<String>, help: Option<&str>) -> Self {
        let mut info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": code.reason(),
            "domain": "a2a-protocol.org",
        });
        if let Some(help) = help {
            info["metadata"] = json!({"help": help});
        }
        Self { code: code as i64, message: message.into(), data: Some(json!([info])) }
    }
}

/// The errors of JSON-RPC and of A2A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The request is no JSON.
    Parse = -32700,
    /// It is no request.
    InvalidRequest = -32600,
    /// There is no such method.
    MethodNotFound = -32601,
    /// The parameters do not fit.
    InvalidParams = -32602,
    /// Anything else.
    Internal = -32603,
    /// There is no such task.
    TaskNotFound = -32001,
    /// The task has ended.
    TaskNotCancelable = -32002,
    /// The agent posts to nobody.
    PushNotificationNotSupported = -32003,
    /// The agent does not do that, or the task is not so far.
    UnsupportedOperation = -32004,
    /// The agent does not take such parts.
    ContentTypeNotSupported = -32005,
    /// The version of the request is another.
    VersionNotSupported = -32009,
}

impl ErrorCode {
    /// The name that a program knows it by.
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
