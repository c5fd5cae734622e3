//! The message of the user in the body of a request that begins a run, beside the inputs.

use crate::refuse::Refusal;
use adk_core::Content;
use adk_core::runner::KnownWorkflow;
use adk_core::workflow::FieldFault;
use serde_json::{Value, json};

/// The field of the message. A workflow with an input of this name has that in its place.
const FIELD: &str = "message";

/// The JSON schema of the body: the inputs and the message.
pub(crate) fn body_schema(workflow: &KnownWorkflow) -> Value {
    let mut schema = workflow.form().input_schema();
    if has_field(workflow)
        && let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut)
    {
        let description =
            "What the user says. Models see it, and of the inputs those that their prompts name.";
        fields.insert(FIELD.to_owned(), json!({"type": "string", "description": description}));
    }
    schema
}

/// Splits a body into the inputs and the message.
///
/// # Errors
/// When the message is not a text.
pub(crate) fn split(workflow: &KnownWorkflow, mut body: Value) -> Result<(Value, Option<Content>), Refusal> {
    let fields = body.as_object_mut().filter(|_| has_field(workflow));
    let message = match fields.and_then(|fields| fields.shift_remove(FIELD)) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(Content::user(text)),
        Some(_) => {
            let fault = FieldFault::new(FIELD, "expected a string, which is what the user says");
            return Err(Refusal::input(vec![fault]));
        }
    };
    Ok((body, message))
}

fn has_field(workflow: &KnownWorkflow) -> bool {
    !workflow.form().inputs().iter().any(|input| *input.key == *FIELD)
}
