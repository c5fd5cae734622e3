//! [`value`]: the value of an agent's key in the answer of a model; [`Misfit`]: an answer that does
//! not fit the type of the key.

use super::no_answer;
use crate::agents::llm::agent::AgentOutput;
use crate::model::FinishReason;
use crate::runtime::run::Context;
use crate::runtime::tool::text;
use crate::{Content, Error, ErrorKind, Name, Part, Result};
use serde_json::Value;
use std::sync::Arc;

/// Maximum number of characters of an answer and of its schema in an error message.
const SHOWN: usize = 200;

/// Returns the key and its new value. Returns `None` if the answer has no text, which keeps the old
/// value of the key. Afterwards the content of a typed answer is only the value.
///
/// # Errors
/// Fails if the text is not JSON, or if the JSON does not fit the agent's type.
pub(in crate::agents::llm) fn value(
    output: &AgentOutput,
    content: &mut Content,
) -> Result<Option<(Name, Value)>, Misfit> {
    let text = content.text();
    if output.is_text() {
        let key = output.key.clone().filter(|_| !text.is_empty());
        return Ok(key.map(|key| (key, Value::String(text))));
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    match (
        text::read(&text, &mut |value| output.settle(value)),
        &output.key,
    ) {
        (Ok(value), key) => {
            output.show(&value, content);
            Ok(key.clone().map(|key| (key, value)))
        }
        (Err(_), None) => Ok(None),
        (Err(why), Some(_)) => Err(Misfit::new(output, text, why)),
    }
}

/// Removes what is not the value of an answer: thoughts and files may carry text too, and so may a
/// reply without a value. Afterwards the content of a closed answer carries no text.
pub(in crate::agents::llm) fn keep_only(
    value: Option<&(Name, Value)>,
    content: &mut Content,
    cx: &Context,
) {
    // A run that an earlier version began has recorded more.
    let recorded = cx.run.recorded_event(cx.path());
    if recorded.is_some_and(|event| event.content.as_ref() == Some(content)) {
        return;
    }
    let is_value = |part: &Part| value.is_some() && matches!(part, Part::Text(_));
    content.parts.retain(is_value);
}

/// An answer that does not fit its type.
#[derive(Debug)]
pub(in crate::agents::llm) struct Misfit {
    key: Name,
    schema: Arc<Value>,
    text: String,
    /// The reason and the position of the error.
    pub(in crate::agents::llm) why: String,
}

impl Misfit {
    pub(in crate::agents::llm) fn new(output: &AgentOutput, text: String, why: String) -> Self {
        let key = output.key.clone().unwrap_or_default();
        Self {
            key,
            schema: output.schema().unwrap_or_default(),
            text,
            why,
        }
    }

    /// Returns the correction request for the model.
    pub(in crate::agents::llm) fn request(&self) -> String {
        let Self { schema, why, .. } = self;
        format!(
            "Your answer does not fit: {why}. Answer once more, as a whole, with JSON of this \
             schema and nothing else: {schema}"
        )
    }

    /// Returns the error after the last permitted attempt.
    pub(in crate::agents::llm) fn error(
        self,
        finish: Option<&FinishReason>,
        attempts: u32,
    ) -> Error {
        let Self {
            key,
            schema,
            text,
            why,
        } = self;
        let again = if attempts > 1 {
            format!(" in {attempts} attempts")
        } else {
            String::new()
        };
        let (text, schema) = (excerpt(&text), excerpt(&schema.to_string()));
        let message = format!(
            "the model's answer does not fit the type of `{key}`{again}: {why}; it was: {text}; \
             the schema is: {schema}"
        );
        let (message, help) = match no_answer::ended_early(finish) {
            Some((reason, help)) => (format!("{message}; {reason}"), help),
            None => (
                message,
                "say in the instruction what to answer, or choose a model that keeps to a schema",
            ),
        };
        Error::new(ErrorKind::OutputInvalid, message).with_help(help)
    }
}

/// Returns the first characters of a text.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Thought;
    use crate::agents::llm::agent::OutputKey;
    use serde_json::json;

    const COUNT: OutputKey = OutputKey::json::<Vec<u8>>("counts");

    #[test]
    fn text_is_stored_unchanged_and_without_thoughts() {
        let text = OutputKey::text("draft");
        let mut content = Content::model(" a ");
        content.parts.insert(
            0,
            Part::from(Thought {
                text: "hm".into(),
                signature: None,
            }),
        );
        content.parts.push(Part::text("b"));
        assert_eq!(
            value(&AgentOutput::from_declaration(text), &mut content).unwrap(),
            Some(("draft".into(), json!(" a b")))
        );
        assert_eq!(
            value(
                &AgentOutput::from_declaration(text),
                &mut Content::default()
            )
            .unwrap(),
            None
        );
    }

    #[test]
    fn json_is_parsed_with_and_without_a_fence() {
        for answer in [
            "[1, 2]",
            " [1,2]\n",
            "```json\n[1, 2]\n```",
            "```\n[1, 2]```",
        ] {
            assert_eq!(
                value(
                    &AgentOutput::from_declaration(COUNT),
                    &mut Content::model(answer)
                )
                .unwrap(),
                Some(("counts".into(), json!([1, 2]))),
                "{answer}"
            );
        }
        assert_eq!(
            value(
                &AgentOutput::from_declaration(COUNT),
                &mut Content::model(" \n")
            )
            .unwrap(),
            None
        );
    }

    #[test]
    fn an_answer_of_another_type_is_an_error_with_the_reason() {
        let fail = |text: &str, finish: Option<&FinishReason>| {
            value(
                &AgentOutput::from_declaration(COUNT),
                &mut Content::model(text),
            )
            .unwrap_err()
            .error(finish, 1)
        };
        let error = fail("[1, 300]", None);
        assert_eq!(error.kind(), ErrorKind::OutputInvalid);
        assert!(
            error.to_string().contains("`counts`") && error.to_string().contains("300"),
            "{error}"
        );
        let error = fail("[1, ", Some(&FinishReason::MaxTokens));
        assert!(
            error.to_string().contains("not JSON") && error.to_string().contains("cut off"),
            "{error}"
        );
        let error = fail(&"é".repeat(500), None);
        assert!(error.to_string().contains("ééé..."), "{error}");
    }
}
