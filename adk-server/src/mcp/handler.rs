//! [`Handler`]: lists the tools for an MCP client and calls them.

use super::call::McpCall;
use crate::app::{App, Caller, lock};
use crate::refuse::{Refusal, short};
use adk_core::runner::KnownWorkflow;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, CustomRequest,
    CustomResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, RequestId, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use tokio_util::sync::CancellationToken;

pub(super) struct Handler {
    /// The server. The reference is weak so that a session does not keep the server alive.
    app: Weak<App>,
    caller: Caller,
    /// The open calls, which the client may cancel.
    calls: Mutex<HashMap<RequestId, CancellationToken>>,
}

impl Handler {
    pub(super) fn new(app: Weak<App>, caller: Caller) -> Self {
        Self {
            app,
            caller,
            calls: Mutex::default(),
        }
    }

    fn app(&self) -> Result<Arc<App>, ErrorData> {
        self.app
            .upgrade()
            .ok_or_else(|| ErrorData::internal_error("the server is stopping", None))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::default();
        info.capabilities = ServerCapabilities::builder().enable_tools().build();
        let app = self
            .app
            .upgrade()
            .map(|app| app.runner(&self.caller).app_name().to_owned());
        info.server_info = Implementation::new(app.unwrap_or_default(), env!("CARGO_PKG_VERSION"));
        info
    }

    /// Excludes later versions, which have neither sessions nor questions during a call.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(
            &ProtocolVersion::LATEST_WITH_INITIALIZE,
        ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let app = self.app()?;
        let runner = app.runner(&self.caller);
        let tools = app
            .workflows(&runner, &self.caller)
            .map(|workflow| tool(&workflow))
            .collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let app = self.app()?;
        let runner = app.runner(&self.caller);
        let Ok(workflow) = app.workflow(&runner, &self.caller, &request.name) else {
            let text = Refusal::missing("tool", &request.name)
                .help("list the tools with `tools/list`")
                .text();
            return Err(ErrorData::invalid_params(text, None));
        };
        let cancel = CancellationToken::new();
        lock(&self.calls).insert(context.id.clone(), cancel.clone());
        let _guard = CallGuard {
            handler: self,
            id: context.id.clone(),
        };
        let input = Value::Object(request.arguments.unwrap_or_default());
        let call = McpCall::new(app, runner, self.caller.clone(), cancel, context);
        Ok(call.result(&workflow, input).await.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = short(&request.method);
        let message = format!("`{method}` is not an MCP request, or its parameters are invalid");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        let call = notification
            .request_id
            .and_then(|id| lock(&self.calls).get(&id).cloned());
        if let Some(call) = call {
            call.cancel();
        }
    }
}

/// A guard that removes an open call when it is dropped.
struct CallGuard<'a> {
    handler: &'a Handler,
    id: RequestId,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        lock(&self.handler.calls).remove(&self.id);
    }
}

fn tool(workflow: &KnownWorkflow) -> Tool {
    let object = |schema| match schema {
        Value::Object(schema) if schema.get("type").is_some_and(|kind| kind == "object") => {
            Some(Arc::new(schema))
        }
        _ => None,
    };
    let (form, description) = (workflow.form(), workflow.description());
    let description = (!description.is_empty()).then(|| Cow::Owned(description.to_owned()));
    let input = object(form.input_schema()).unwrap_or_default();
    let mut tool = Tool::new_with_raw(workflow.name().to_owned(), description, input);
    tool.output_schema = object(form.output_schema());
    tool
}
