//! [`SetModelResponse`]: the tool through which a model gives a typed answer if it does not support
//! a response schema together with tools.

use crate::agents::llm::agent::{AgentOutput, json_of_python};
use crate::model::ToolDeclaration;
use crate::runtime::tool::{Tool, ToolArgs, ToolContext, ToolError};
use crate::spec::ToolMeta;
use crate::store::event::Event;
use crate::{Content, FunctionCall, Part};
use serde_json::{Value, json};
use std::sync::Arc;

/// ADK's name of the tool.
pub(in crate::agents::llm) const RESPOND: &str = "set_model_response";

/// The instruction for a model with this tool.
pub(in crate::agents::llm) const INSTRUCTION: &str = "Give your final answer by calling `set_model_response`, in \
    the form that its arguments ask for, and never as text. Call other tools first where you need \
    them, and `set_model_response` last.";

/// The argument for an answer that is not an object.
const WRAPPED: &str = "response";

/// Prefix and suffix of the reason in the error for a refused answer.
const MISFIT: &str = "the answer does not fit: ";
const AGAIN: &str = ". Call `set_model_response` again with all that it asks for, each of the type \
    that it asks for";

/// Returns the arguments of the first call of `set_model_response` as text.
pub(in crate::agents::llm) fn answer_argument(calls: &[Arc<FunctionCall>]) -> Option<String> {
    let call = calls.iter().find(|call| call.name == RESPOND)?;
    Some(Value::Object(call.args.clone()).to_string())
}

/// Converts an answer in a reply to the form that its type serializes, and removes text around it.
/// Around a closed answer, nothing remains but calls.
pub(in crate::agents::llm) fn settle(output: &AgentOutput, is_closed: bool, content: &mut Content) {
    let (mut is_given, mut is_only) = (false, is_closed);
    for part in &mut content.parts {
        let Part::FunctionCall(call) = part else {
            continue;
        };
        let is_answer = call.name == RESPOND;
        is_given |= is_answer;
        if !is_answer || call.malformed.is_some() {
            is_only = false;
            continue;
        }
        let mut answer = answer(call.args.clone(), output);
        // The tool itself refuses an answer that does not fit. The model then goes on, and some
        // providers expect its thoughts.
        match output.settle(&mut answer) {
            Ok(()) => Arc::make_mut(call).args = arguments(answer, output),
            Err(_) => is_only = false,
        }
    }
    if is_given {
        content.parts.retain(|part| match part {
            Part::Text(_) => false,
            Part::FunctionCall(_) => true,
            _ => !is_only,
        });
    }
}

/// Reports whether the schema of the answer is not an object, so that one argument contains the
/// answer.
fn is_wrapped(output: &AgentOutput) -> bool {
    output
        .schema()
        .is_none_or(|schema| schema.get("type").and_then(Value::as_str) != Some("object"))
}

/// Returns the answer in the arguments of a call.
fn answer(args: ToolArgs, output: &AgentOutput) -> Value {
    if !is_wrapped(output) {
        return Value::Object(args);
    }
    args.into_iter()
        .find(|(name, _)| name == WRAPPED)
        .map(|(_, value)| value)
        .unwrap_or_default()
}

/// Returns the arguments of a call with this answer.
fn arguments(answer: Value, output: &AgentOutput) -> ToolArgs {
    match answer {
        Value::Object(fields) if !is_wrapped(output) => fields,
        answer => ToolArgs::from_iter([(WRAPPED.to_owned(), answer)]),
    }
}

/// Returns only the reason of a refusal.
pub(in crate::agents::llm) fn reason(refusal: &str) -> String {
    let reason = refusal.strip_prefix(MISFIT).unwrap_or(refusal);
    reason.strip_suffix(AGAIN).unwrap_or(reason).to_owned()
}

/// The tool through which a model gives its answer.
pub(super) struct SetModelResponse {
    declaration: ToolDeclaration,
    output: AgentOutput,
}

impl SetModelResponse {
    pub(super) fn new(output: AgentOutput, schema: Arc<Value>) -> Self {
        let parameters = if !is_wrapped(&output) {
            schema
        } else {
            Arc::new(json!({
                "type": "object",
                "properties": {WRAPPED: Value::clone(&schema)},
                "required": [WRAPPED],
            }))
        };
        let declaration = ToolDeclaration::new(RESPOND, Self::META.description, parameters);
        Self {
            declaration,
            output,
        }
    }
}

impl Tool for SetModelResponse {
    const META: ToolMeta<'static> = ToolMeta::new(
        RESPOND,
        "Gives your final answer. Its arguments are the answer.",
    );

    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    async fn call(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        let mut answer = answer(args, &self.output);
        match self.output.settle(&mut answer) {
            Ok(()) => {
                cx.actions.set_model_response = Some(answer.clone());
                Ok(answer)
            }
            Err(why) => Err(ToolError::argument(format!("{MISFIT}{why}{AGAIN}"))),
        }
    }
}

/// Returns the event of an answer from the tool. It looks like a text answer of the model.
pub(in crate::agents::llm) fn event(answer: &Value) -> Event {
    Event::new().with_content(Content::model(json_of_python(answer)))
}
