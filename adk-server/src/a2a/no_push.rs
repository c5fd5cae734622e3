//! No push notifications: the server was built without them.

use super::error::RpcRefusal;
use super::{Answered, Call};
use crate::runs::Change;
use crate::serve::App;
use adk_a2a::TaskPushNotificationConfig;
use adk_a2a::rpc::ErrorCode;
use adk_core::Result;
use adk_core::engine::RunInfo;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) struct Push;

impl Push {
    pub(crate) fn new(_: &[String]) -> Result<Self> {
        Ok(Self)
    }

    pub(crate) fn is_on(&self) -> bool {
        false
    }
}

impl App {
    pub(crate) fn push_changes(self: &Arc<Self>, _: UnboundedReceiver<Change>) {}
}

impl Call {
    pub(super) fn check_push(&self, _: &TaskPushNotificationConfig) -> Result<(), RpcRefusal> {
        Err(unsupported())
    }

    pub(super) async fn keep_push(
        &self,
        _: &RunInfo,
        _: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, RpcRefusal> {
        Err(unsupported())
    }

    pub(super) async fn push_config(&self, _: &str, _: Value) -> Answered {
        Err(unsupported())
    }
}

fn unsupported() -> RpcRefusal {
    let fact = "this server posts to nobody";
    RpcRefusal::new(ErrorCode::PushNotificationNotSupported, fact, "use `SubscribeToTask` or `GetTask`")
}
