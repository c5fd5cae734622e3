//! [`NoPush`]: replaces `push` if the server is built without push notifications.

use super::error::RpcRefusal;
use super::{RpcCall, RpcResult};
use crate::app::App;
use adk_a2a::TaskPushNotificationConfig;
use adk_a2a::rpc::ErrorCode;
use adk_core::Result;
use adk_core::engine::RunInfo;
use serde_json::Value;
use std::sync::Arc;

pub(super) struct NoPush;

impl NoPush {
    pub(super) fn new(_: &[String]) -> Result<Self> {
        Ok(Self)
    }

    pub(super) fn is_on(&self) -> bool {
        false
    }

    pub(super) fn start(self: &Arc<Self>, _: &Arc<App>) {}

    fn unsupported_error(&self) -> RpcRefusal {
        let fact = "this server sends no push notifications";
        RpcRefusal::new(
            ErrorCode::PushNotificationNotSupported,
            fact,
            "use `SubscribeToTask` or `GetTask`",
        )
    }
}

impl RpcCall {
    pub(super) fn check_push(&self, _: &TaskPushNotificationConfig) -> Result<(), RpcRefusal> {
        Err(self.push.unsupported_error())
    }

    pub(super) async fn keep_push(
        &self,
        _: &RunInfo,
        _: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, RpcRefusal> {
        Err(self.push.unsupported_error())
    }

    pub(super) async fn push_config(&self, _: &str, _: Value) -> RpcResult {
        Err(self.push.unsupported_error())
    }
}
