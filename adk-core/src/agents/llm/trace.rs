//! Spans of model calls and tool calls.

use crate::model::{Model, ModelError, ModelRequest, ModelResponse};
use crate::runtime::run::{
    TraceSpan, error_type, finish_reason, gen_ai_span, instructions, messages,
};
use crate::runtime::tool::{DynTool, ToolContext, ToolError, ToolErrorKind};
use crate::{ErrorKind, FunctionCall};
use serde_json::Value;
use std::sync::Arc;
use tracing::field::Empty;

/// Opens the span of one attempt of a model call.
pub(super) fn chat_span(
    parent: &Arc<TraceSpan>,
    model: &dyn Model,
    request: &ModelRequest,
    attempt: u32,
) -> Arc<TraceSpan> {
    let ModelRequest { config, info, .. } = request;
    let (name, provider) = (
        model.name(),
        Some(model.provider()).filter(|name| !name.is_empty()),
    );
    let output = if request.response_schema.is_some() {
        "json"
    } else {
        "text"
    };
    let span = parent.child(&info.path, |id| {
        gen_ai_span!(
            parent,
            info.path,
            id,
            "chat",
            otel.name = %format_args!("chat {name}"),
            otel.kind = "client",
            gen_ai.provider.name = provider,
            gen_ai.agent.name = &*info.agent,
            gen_ai.request.model = name,
            gen_ai.request.temperature = config.temperature,
            gen_ai.request.top_p = config.top_p,
            gen_ai.request.max_tokens = config.max_output_tokens.map(i64::from),
            gen_ai.request.seed = config.seed.and_then(|seed| i64::try_from(seed).ok()),
            gen_ai.request.stream = request.stream,
            gen_ai.output.type = output,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            gen_ai.system_instructions = Empty,
            gen_ai.input.messages = Empty,
            gen_ai.output.messages = Empty,
            adk.attempt = i64::from(attempt),
            adk.summary = info.is_summary.then_some(true),
        )
    });
    if span.has_contents() {
        if !request.system_instruction.is_empty() {
            span.record(
                "gen_ai.system_instructions",
                &*instructions(&request.system_instruction),
            );
        }
        span.record(
            "gen_ai.input.messages",
            &*messages(request.contents.iter(), None),
        );
    }
    span
}

/// Records the result of a model call and ends its span.
pub(super) fn end_chat(span: &TraceSpan, answer: &Result<ModelResponse, ModelError>) {
    let response = match answer {
        Ok(response) => response,
        Err(error) => return span.fail(&error_type(ErrorKind::Model(error.kind())), error),
    };
    let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let usage = response.usage;
    let counts = [
        ("gen_ai.usage.input_tokens", usage.input_tokens),
        ("gen_ai.usage.output_tokens", usage.output_tokens),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
        ("gen_ai.usage.reasoning.output_tokens", usage.thought_tokens),
    ];
    // A zero means that the provider does not report the count.
    for (field, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        span.record(field, tokens(count));
    }
    if let Some(version) = &response.model_version {
        span.record("gen_ai.response.model", &**version);
    }
    let finish = response.finish_reason.as_ref().map(finish_reason);
    if let Some(reason) = &finish {
        span.record("gen_ai.response.finish_reasons", &**reason);
    }
    if span.has_contents() {
        let finish = finish.as_deref().unwrap_or("stop");
        span.record(
            "gen_ai.output.messages",
            &*messages([&response.content], Some(finish)),
        );
    }
    match &response.error_code {
        Some(code) => span.fail(code, response.error_message.as_ref().unwrap_or(code)),
        None => span.end(),
    }
}

/// Opens the span of one attempt of a tool call.
pub(super) fn tool_span(
    parent: &Arc<TraceSpan>,
    tool: &dyn DynTool,
    call: &FunctionCall,
    own: &ToolContext,
    attempt: u32,
) -> Arc<TraceSpan> {
    let declaration = tool.declaration_dyn();
    let (name, description) = (&*declaration.name, Some(&*declaration.description));
    let span = parent.child(own.path(), |id| {
        gen_ai_span!(
            parent,
            own.path(),
            id,
            "execute_tool",
            otel.name = %format_args!("execute_tool {name}"),
            gen_ai.tool.name = name,
            gen_ai.tool.type = "function",
            gen_ai.tool.description = description.filter(|text| !text.is_empty()),
            gen_ai.tool.call.id = &*call.id,
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
            gen_ai.agent.name = own.agent_name(),
            adk.attempt = i64::from(attempt),
        )
    });
    if span.has_contents() {
        let args = serde_json::to_string(&call.args).unwrap_or_default();
        span.record("gen_ai.tool.call.arguments", &*args);
    }
    span
}

/// Records the result of a tool call and ends its span.
pub(super) fn end_tool(span: &TraceSpan, result: &Result<Value, ToolError>) {
    match result {
        Ok(value) => {
            if span.has_contents() {
                span.record("gen_ai.tool.call.result", &*value.to_string());
            }
            span.end();
        }
        // A question is not a failure: the next part of the call has its own span.
        Err(error) if error.kind() == ToolErrorKind::Asks => span.end(),
        Err(error) => {
            let kind = match error.kind() {
                ToolErrorKind::Argument => "tool.argument",
                ToolErrorKind::Failed | ToolErrorKind::Asks => "tool.failed",
                ToolErrorKind::Panic => "tool.panic",
                ToolErrorKind::Timeout => "tool.timeout",
            };
            span.fail(kind, error);
        }
    }
}
