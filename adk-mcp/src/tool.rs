//! [`McpTool`]: a tool of a server.

use crate::connection::Failure;
use crate::elicitation::CallOutcome;
use crate::listed::ListedTool;
use crate::shared::Shared;
use crate::{result, schema};
use adk_core::model::ToolDeclaration;
use adk_core::tool::ToolHints;
use adk_core::{BoxFuture, DynTool, ToolArgs, ToolContext, ToolError, ToolMeta};
use jsonschema::Validator;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct McpTool {
    pub(crate) listed: Arc<ListedTool>,
    pub(crate) shared: Arc<Shared>,
}

impl McpTool {
    async fn call(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        let ListedTool {
            declaration,
            remote,
            validator,
            output,
            ..
        } = &*self.listed;
        let name = &declaration.name;
        let args = schema::check(validator, &declaration.parameters, args).map_err(|faults| {
            ToolError::argument(format!("the arguments of `{name}` do not fit: {faults}"))
        })?;
        let shared = &self.shared;
        let params = CallToolRequestParams::new(remote.clone()).with_arguments(args);
        let called = if shared.settings.elicitation {
            match shared.call(name, params, cx).await? {
                CallOutcome::Asks(error) => return Err(error),
                CallOutcome::Result(called) => called,
            }
        } else {
            let connection = shared
                .connection()
                .await
                .map_err(|error| ToolError::failed(error.to_string()))?;
            connection.call(params).await
        };
        let given = match called {
            Ok(result) => match check_output(output.as_ref(), &result) {
                Ok(()) => result::value(name, result, &shared.settings.limits, cx).await,
                Err(faults) => Err(format!(
                    "the server of `{}` returned a result of `{name}` that does not match its \
                     output schema: {faults}",
                    shared.settings.name
                )),
            },
            Err(Failure::Refused(why) | Failure::Bad(why)) => Err(why),
            Err(Failure::Lost(why)) => Err(format!("{why}. The effects of the call are unknown.")),
        };
        let server = &shared.settings.server;
        match given {
            Ok(mut value) => {
                server.hide(&mut value);
                Ok(value)
            }
            Err(why) => Err(ToolError::failed(server.redact(&why))),
        }
    }
}

/// Validates a result against the output schema of the tool.
fn check_output(output: Option<&Validator>, result: &CallToolResult) -> Result<(), String> {
    let Some(output) = output.filter(|_| result.is_error != Some(true)) else {
        return Ok(());
    };
    match &result.structured_content {
        Some(content) => schema::faults(output, content).map_or(Ok(()), Err),
        None => Err("the result has no structured content".to_owned()),
    }
}

impl DynTool for McpTool {
    fn meta(&self) -> &ToolMeta<'_> {
        self.listed.meta()
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.listed.declaration
    }

    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.call(args, cx))
    }

    fn hints_dyn(&self) -> ToolHints {
        self.listed.hints
    }
}
