//! [`NoPush`]: replaces `push` if the server is built without push notifications.

use super::error::RpcRefusal;
use super::{RpcCall, RpcResult};
use crate::runs::RunChange;
use crate::serve::App;
use adk_a2a::TaskPushNotificationConfig;
use adk_a2a::rpc::ErrorCode;
use adk_core::Result;
use adk_core::engine::RunInfo;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) struct NoPush;

impl NoPush {
    pub(crate) fn new(_: &[String]) -> Result<Self> {
        Ok(Self)
    }

    pub(crate) fn is_on(&self) -> bool {
        false
    }
}

impl App {
    pub(crate) fn push_changes(self: &Arc<Self>, _: UnboundedReceiver<RunChange>) {}
}

impl RpcCall {
    pub(super) fn check_push(&self, _: &TaskPushNotificationConfig) -> Result<(), RpcRefusal> {
        Err(unsupported_error())
    }

    pub(super) async fn keep_push(
        &self,
        _: &RunInfo,
        _: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, RpcRefusal> {
        Err(unsupported_error())
    }

    pub(super) async fn push_config(&self, _: &str, _: Value) -> RpcResult {
        Err(unsupported_error())
    }
}

fn unsupported_error() -> RpcRefusal {
    let fact = "this server sends no push notifications";
    RpcRefusal::new(
        ErrorCode::PushNotificationNotSupported,
        fact,
        "use `SubscribeToTask` or `GetTask`",
    )
}
