//! [`AgentOutput`]: the output key of an agent, and the conversion of a reply to the value of the
//! key.

use super::{OutputKey, no_answer, respond};
use crate::model::FinishReason;
use crate::runtime::tool::{decode, text};
use crate::{Content, Error, ErrorKind, Name, Part, Result, depth};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Maximum number of characters of an answer and of its schema in an error message.
const SHOWN: usize = 200;

/// The key that receives an agent's answer, and the form of the answer.
#[derive(Clone)]
pub struct AgentOutput {
    /// The key, with its prefix if it has one. Without a key the model is asked for an answer of
    /// the form, and an answer that does not fit is accepted as text, as in ADK.
    pub(crate) key: Option<Name>,
    form: OutputForm,
}

#[derive(Clone)]
enum OutputForm {
    Text,
    /// A type of the program. Its schema is created at the first model call.
    Type {
        make: fn() -> Arc<Value>,
        made: OnceLock<Arc<Value>>,
        read: fn(&Value) -> Result<Value, String>,
    },
    /// A schema from outside.
    Schema(Arc<Value>),
}

impl AgentOutput {
    pub(crate) fn from_declaration(output: OutputKey) -> Self {
        let form = match output.schema {
            None => OutputForm::Text,
            Some(make) => OutputForm::Type {
                make,
                made: OnceLock::new(),
                read: output.read,
            },
        };
        Self {
            key: Some(Name::literal(output.key)),
            form,
        }
    }

    /// Creates an output that stores text unchanged.
    pub fn text(key: Name) -> Self {
        Self {
            key: Some(key),
            form: OutputForm::Text,
        }
    }

    /// Creates the output of a declaration, with a key that is known at run time.
    pub fn with_type(key: Option<Name>, output: OutputKey) -> Self {
        Self {
            key,
            ..Self::from_declaration(output)
        }
    }

    /// Creates an output of JSON that fits a schema.
    pub fn with_schema(key: Option<Name>, schema: Arc<Value>) -> Self {
        Self {
            key,
            form: OutputForm::Schema(schema),
        }
    }

    pub(super) fn schema(&self) -> Option<Arc<Value>> {
        match &self.form {
            OutputForm::Text => None,
            OutputForm::Type { make, made, .. } => Some(made.get_or_init(make).clone()),
            OutputForm::Schema(schema) => Some(schema.clone()),
        }
    }

    /// Converts a value to the form that its type serializes. Repairs common errors of providers in
    /// otherwise correct values, and drops fields that the type does not have.
    ///
    /// # Errors
    /// Returns the reason if the value does not fit.
    pub(super) fn settle(&self, value: &mut Value) -> Result<(), String> {
        let schema = self.schema().unwrap_or_default();
        let own = match &self.form {
            OutputForm::Text => return Ok(()),
            OutputForm::Type { read, .. } => {
                decode::settle(value, &schema, &|value| read(value).map(drop))?;
                read(value)?
            }
            OutputForm::Schema(schema) => {
                decode::settle(value, schema, &|value| decode::check(value, schema))?;
                decode::known_part(value, schema)
            }
        };
        depth::check(&own).map_err(|deep| format!("it is {deep}"))?;
        *value = own;
        Ok(())
    }

    /// Replaces the text of an answer by its value, because the text may contain more than the
    /// value.
    pub(super) fn show(&self, value: &Value, content: &mut Content) {
        let text = content.text();
        if matches!(self.form, OutputForm::Text) || is_written_as(&text, value) {
            return;
        }
        let at = content
            .parts
            .iter()
            .position(|part| matches!(part, Part::Text(_)))
            .unwrap_or(0);
        content.parts.retain(|part| !matches!(part, Part::Text(_)));
        content.parts.insert(at, Part::text(value.to_string()));
    }
}

impl fmt::Debug for AgentOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Output({}, {})",
            self.key.as_deref().unwrap_or("no key"),
            if matches!(self.form, OutputForm::Text) {
                "text"
            } else {
                "json"
            }
        )
    }
}

/// Reports whether a text contains only this value, as this crate or Python writes it.
fn is_written_as(text: &str, value: &Value) -> bool {
    let (own, of_python) = (value.to_string(), respond::text(value));
    text == own || text == of_python
}

/// Returns the key and its new value. Returns `None` if the answer has no text, which keeps the old
/// value of the key. Afterwards the content of a typed answer is only the value.
///
/// # Errors
/// Fails if the text is not JSON, or if the JSON does not fit the agent's type.
pub(super) fn value(
    output: &AgentOutput,
    content: &mut Content,
) -> Result<Option<(Name, Value)>, Misfit> {
    let text = content.text();
    if matches!(output.form, OutputForm::Text) {
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

/// An answer that does not fit its type.
#[derive(Debug)]
pub(super) struct Misfit {
    key: Name,
    schema: Arc<Value>,
    text: String,
    /// The reason and the position of the error.
    pub(super) why: String,
}

impl Misfit {
    pub(super) fn new(output: &AgentOutput, text: String, why: String) -> Self {
        let key = output.key.clone().unwrap_or_default();
        Self {
            key,
            schema: output.schema().unwrap_or_default(),
            text,
            why,
        }
    }

    /// Returns the correction request for the model.
    pub(super) fn request(&self) -> String {
        let Self { schema, why, .. } = self;
        format!(
            "Your answer does not fit: {why}. Answer once more, as a whole, with JSON of this \
             schema and nothing else: {schema}"
        )
    }

    /// Returns the error after the last permitted attempt.
    pub(super) fn error(self, finish: Option<&FinishReason>, attempts: u32) -> Error {
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
