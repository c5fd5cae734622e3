//! [`McpTool`]: a tool of a server.

use crate::connection::Failure;
use crate::elicitation::CallOutcome;
use crate::toolset::{Settings, Shared};
use crate::{result, schema};
use adk_core::model::ToolDeclaration;
use adk_core::{BoxFuture, DynTool, ToolArgs, ToolContext, ToolError, ToolMeta};
use jsonschema::Validator;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use self_cell::self_cell;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A tool as the server listed it. The connection owns the tool, so the tool does not refer to the
/// connection.
pub(crate) struct ListedTool {
    described: Described,
    declaration: ToolDeclaration,
    /// Name of the tool at the server.
    remote: String,
    validator: Validator,
    /// Validator of structured results, from the output schema.
    output: Option<Validator>,
}

pub(crate) struct McpTool {
    pub(crate) listed: Arc<ListedTool>,
    pub(crate) shared: Arc<Shared>,
}

/// The data that a [`ToolMeta`] borrows.
struct Owned {
    name: String,
    description: String,
    timeout: Option<Duration>,
    confirm: bool,
}

self_cell!(
    struct Described {
        owner: Owned,
        #[covariant]
        dependent: ToolMeta,
    }
);

impl ListedTool {
    /// Checks a tool, and gives it the name that the agent uses.
    pub(crate) fn new(
        tool: rmcp::model::Tool,
        name: String,
        settings: &Settings,
    ) -> Result<Self, String> {
        let description = settings
            .server
            .without_secrets(tool.description.as_deref().unwrap_or_default());
        if description.len() > settings.limits.description_bytes {
            return Err(format!(
                "its description has more than {} bytes",
                settings.limits.description_bytes
            ));
        }
        let original = Value::Object((*tool.input_schema).clone());
        let parameters = schema::inline(&original, &settings.limits)
            .and_then(|parameters| Ok((schema::validator(&parameters, &original)?, parameters)));
        let (validator, parameters) = parameters.map_err(|fault| format!("its schema {fault}"))?;
        let output = tool.output_schema.as_ref().map(|schema| {
            let original = Value::Object((**schema).clone());
            let output = schema::inline(&original, &settings.limits)?;
            schema::validator(&output, &original)
        });
        let output = output
            .transpose()
            .map_err(|fault| format!("the schema of its results {fault}"))?;
        let declaration = ToolDeclaration::new(name.clone(), &*description, parameters);
        let owned = Owned {
            description,
            timeout: settings.timeout,
            confirm: settings
                .confirm
                .as_ref()
                .is_some_and(|confirm| confirm(&tool.name)),
            name,
        };
        let described = Described::new(owned, |owned| {
            let meta = ToolMeta::new(&owned.name, &owned.description).confirm(owned.confirm);
            match owned.timeout {
                Some(timeout) => meta.timeout(timeout),
                None => meta,
            }
        });
        Ok(Self {
            described,
            declaration,
            remote: tool.name.into_owned(),
            validator,
            output,
        })
    }
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
        self.listed.described.borrow_dependent()
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
}
