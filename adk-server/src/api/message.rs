//! The user's message in the body of a request that starts a run, next to the inputs.

use crate::refuse::Refusal;
use adk_core::Content;
use adk_core::runner::KnownWorkflow;
use adk_core::workflow::FieldFault;
use serde_json::{Value, json};

/// The field of the message. If a workflow has an input of this name, the field is that input.
const FIELD: &str = "message";

/// Returns the JSON schema of the body: the inputs and the message.
pub(super) fn body_schema(workflow: &KnownWorkflow) -> Value {
    let mut schema = workflow.form().input_schema();
    schema["additionalProperties"] = json!(false);
    if has_field(workflow)
        && let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut)
    {
        let description =
            "The user's message. Models see it, and the inputs that their prompts name.";
        fields.insert(
            FIELD.to_owned(),
            json!({"type": ["string", "null"], "pattern": "\\S", "description": description}),
        );
    }
    schema
}

/// Splits a body into the inputs and the message.
///
/// # Errors
/// If the message is not a string.
pub(super) fn split(
    workflow: &KnownWorkflow,
    mut body: Value,
) -> Result<(Value, Option<Content>), Refusal> {
    let fields = body.as_object_mut().filter(|_| has_field(workflow));
    let message = match fields.and_then(|fields| fields.shift_remove(FIELD)) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(Content::user(text)),
        Some(_) => {
            let fault = FieldFault::new(FIELD, "expected a string with the user's message");
            return Err(Refusal::input(vec![fault]));
        }
    };
    Ok((body, message))
}

fn has_field(workflow: &KnownWorkflow) -> bool {
    !workflow
        .form()
        .inputs()
        .iter()
        .any(|input| *input.key == *FIELD)
}
