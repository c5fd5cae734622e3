//! An answer of a type beside tools: models that cannot be held to a schema while they may call tools give it by a tool.

use super::Output;
use crate::content::{Content, FunctionCall, Part};
use crate::models::model::ToolDeclaration;
use crate::runtime::tool::{Tool, ToolArgs, ToolContext, ToolError};
use crate::spec::ToolMeta;
use crate::store::event::Event;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;

/// The name of the tool, as in ADK.
pub(super) const RESPOND: &str = "set_model_response";

/// The instruction for a model that has the tool.
pub(super) const INSTRUCTION: &str = "Give your final answer by calling `set_model_response`, in the form that its \
    arguments ask for, and never as text. Call other tools first where you need them, and `set_model_response` last.";

/// The argument that holds an answer that is no object.
const WRAPPED: &str = "response";

/// What the model reads around the reason why its answer was refused.
const MISFIT: &str = "the answer does not fit: ";
const AGAIN: &str =
    ". Call `set_model_response` again with all that it asks for, each of the type that it asks for";

/// What the model gives as its answer, if it does.
pub(super) fn given(calls: &[Arc<FunctionCall>]) -> Option<String> {
    let call = calls.iter().find(|call| call.name == RESPOND)?;
    Some(Value::Object(call.args.clone()).to_string())
}

/// Makes an answer in a reply what its type serializes, and takes out what the reply says around it.
pub(super) fn settle(output: &Output, content: &mut Content) {
    let mut is_given = false;
    for part in &mut content.parts {
        if let Part::FunctionCall(call) = part
            && call.name == RESPOND
        {
            is_given = true;
            let mut answer = answer(call.args.clone(), output);
            // The tool refuses one that does not fit.
            if output.settle(&mut answer).is_ok() {
                Arc::make_mut(call).args = arguments(answer, output);
            }
        }
    }
    if is_given {
        content.parts.retain(|part| !matches!(part, Part::Text(_)));
    }
}

/// Whether the schema of an answer is no object, so that an argument holds it.
fn is_wrapped(output: &Output) -> bool {
    output.schema().is_none_or(|schema| schema.get("type").and_then(Value::as_str) != Some("object"))
}

/// The answer in the arguments of a call.
fn answer(args: ToolArgs, output: &Output) -> Value {
    if !is_wrapped(output) {
        return Value::Object(args);
    }
    args.into_iter().find(|(name, _)| name == WRAPPED).map(|(_, value)| value).unwrap_or_default()
}

/// The arguments of a call with an answer.
fn arguments(answer: Value, output: &Output) -> ToolArgs {
    match answer {
        Value::Object(fields) if !is_wrapped(output) => fields,
        answer => ToolArgs::from_iter([(WRAPPED.to_owned(), answer)]),
    }
}

/// The reason alone.
pub(super) fn reason(refusal: &str) -> String {
    let reason = refusal.strip_prefix(MISFIT).unwrap_or(refusal);
    reason.strip_suffix(AGAIN).unwrap_or(reason).to_owned()
}

/// The tool by which a model gives its answer.
pub(super) struct SetModelResponse {
    declaration: ToolDeclaration,
    output: Output,
}

impl SetModelResponse {
    pub(super) fn new(output: Output, schema: Arc<Value>) -> Self {
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
        Self { declaration, output }
    }
}

impl Tool for SetModelResponse {
    const META: ToolMeta<'static> =
        ToolMeta::new(RESPOND, "Gives your final answer. Its arguments are the answer.");

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

/// The event of an answer that was given by the tool: it reads as if the model had said it.
pub(super) fn event(answer: &Value) -> Event {
    Event::new().with_content(Content::model(text(answer)))
}

/// JSON with a blank after each comma and colon, as Python writes it.
pub(super) fn text(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    // Writing to a vector does not fail, and a value has a form in JSON.
    drop(value.serialize(&mut writer));
    String::from_utf8(bytes).unwrap_or_default()
}

struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_written_as_python_writes_it() {
        let answer = json!({"title": "a, b: c", "tags": ["é", 1.0, null], "empty": {}, "none": []});
        assert_eq!(
            text(&answer),
            r#"{"title": "a, b: c", "tags": ["é", 1.0, null], "empty": {}, "none": []}"#
        );
    }
}
