//! What an agent's answer writes to its key.

use super::{OutputKey, no_answer, respond};
use crate::models::model::FinishReason;
use crate::runtime::tool::{decode, text};
use crate::{Content, Error, ErrorKind, Name, Part, Result, depth};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The most of an answer and of its schema that an error shows, in characters.
const SHOWN: usize = 200;

/// The key that an answer is written to, and how.
#[derive(Clone)]
pub(crate) struct Output {
    /// The key, with its prefix if it has one. Without one the model is asked for an answer of that form, and one that does not
    /// fit is taken as it is, as in ADK.
    pub(crate) key: Option<Name>,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Text,
    /// A type of the program; its schema is made at the first call.
    Type {
        make: fn() -> Arc<Value>,
        made: OnceLock<Arc<Value>>,
        read: fn(&Value) -> Result<Value, String>,
    },
    /// A schema that came from outside.
    Schema(Arc<Value>),
}

impl Output {
    pub(crate) fn declared(output: OutputKey) -> Self {
        let form = match output.schema {
            None => Form::Text,
            Some(make) => Form::Type { make, made: OnceLock::new(), read: output.read },
        };
        Self { key: Some(Name::literal(output.key)), form }
    }

    /// Text as it is.
    pub(crate) fn text(key: Name) -> Self {
        Self { key: Some(key), form: Form::Text }
    }

    /// What a declaration says, under a key that is known at run time.
    pub(crate) fn typed(key: Option<Name>, output: OutputKey) -> Self {
        Self { key, ..Self::declared(output) }
    }

    /// JSON that fits a schema.
    pub(crate) fn schema_of(key: Option<Name>, schema: Arc<Value>) -> Self {
        Self { key, form: Form::Schema(schema) }
    }

    pub(super) fn schema(&self) -> Option<Arc<Value>> {
        match &self.form {
            Form::Text => None,
            Form::Type { make, made, .. } => Some(made.get_or_init(make).clone()),
            Form::Schema(schema) => Some(schema.clone()),
        }
    }

    /// Makes a value what its type serializes: repairs what providers do to values that were right, and drops what the type
    /// does not have.
    ///
    /// # Errors
    /// What is wrong with a value that does not fit.
    pub(super) fn settle(&self, value: &mut Value) -> Result<(), String> {
        let schema = self.schema().unwrap_or_default();
        let own = match &self.form {
            Form::Text => return Ok(()),
            Form::Type { read, .. } => {
                decode::settle(value, &schema, &|value| read(value).map(drop))?;
                read(value)?
            }
            Form::Schema(schema) => {
                decode::settle(value, schema, &|value| decode::check(value, schema))?;
                decode::known_part(value, schema)
            }
        };
        depth::check(&own).map_err(|deep| format!("it is {deep}"))?;
        *value = own;
        Ok(())
    }

    /// Puts the value of an answer in the place of its text, which may say more than the value.
    pub(super) fn show(&self, value: &Value, content: &mut Content) {
        let text = content.text();
        if matches!(self.form, Form::Text) || is_written_as(&text, value) {
            return;
        }
        let at = content.parts.iter().position(|part| matches!(part, Part::Text(_))).unwrap_or(0);
        content.parts.retain(|part| !matches!(part, Part::Text(_)));
        content.parts.insert(at, Part::text(value.to_string()));
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Output({}, {})",
            self.key.as_deref().unwrap_or("no key"),
            if matches!(self.form, Form::Text) { "text" } else { "json" }
        )
    }
}

/// Whether a text is a value and nothing else, as this crate or Python writes it.
fn is_written_as(text: &str, value: &Value) -> bool {
    let (own, of_python) = (value.to_string(), respond::text(value));
    text == own || text == of_python
}

/// The key and its new value; `None` when the answer has no text, which leaves the key as it is. The content of a typed answer
/// is the value alone from here on.
///
/// # Errors
/// When the text is no JSON, or JSON of another type than the agent's.
pub(super) fn value(output: &Output, content: &mut Content) -> Result<Option<(Name, Value)>, Misfit> {
    let text = content.text();
    if matches!(output.form, Form::Text) {
        let key = output.key.clone().filter(|_| !text.is_empty());
        return Ok(key.map(|key| (key, Value::String(text))));
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    match (text::read(&text, &mut |value| output.settle(value)), &output.key) {
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
    /// What is wrong, and where.
    pub(super) why: String,
}

impl Misfit {
    pub(super) fn new(output: &Output, text: String, why: String) -> Self {
        let key = output.key.clone().unwrap_or_default();
        Self { key, schema: output.schema().unwrap_or_default(), text, why }
    }

    /// What is said to the model.
    pub(super) fn request(&self) -> String {
        let Self { schema, why, .. } = self;
        format!(
            "Your answer does not fit: {why}. Answer once more, as a whole, with JSON of this schema and nothing else: {schema}"
        )
    }

    /// The error of the last of so many answers.
    pub(super) fn error(self, finish: Option<&FinishReason>, attempts: u32) -> Error {
        let Self { key, schema, text, why } = self;
        let again = if attempts > 1 { format!(" in {attempts} attempts") } else { String::new() };
        let (text, schema) = (shown(&text), shown(&schema.to_string()));
        let message = format!(
            "the model's answer does not fit the type of `{key}`{again}: {why}; it was: {text}; the schema is: {schema}"
        );
        let (message, help) = match no_answer::ended_early(finish) {
            Some((reason, help)) => (format!("{message}; {reason}"), help),
            None => {
                (message, "say in the instruction what to answer, or choose a model that keeps to a schema")
            }
        };
        Error::new(ErrorKind::OutputInvalid, message).with_help(help)
    }
}

/// The beginning of a text.
fn shown(text: &str) -> String {
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
    fn text_is_stored_as_it_is_and_thoughts_are_not() {
        let text = OutputKey::text("draft");
        let mut content = Content::model(" a ");
        content.parts.insert(0, Part::from(Thought { text: "hm".into(), signature: None }));
        content.parts.push(Part::text("b"));
        assert_eq!(
            value(&Output::declared(text), &mut content).unwrap(),
            Some(("draft".into(), json!(" a b")))
        );
        assert_eq!(value(&Output::declared(text), &mut Content::default()).unwrap(), None);
    }

    #[test]
    fn json_is_parsed_with_and_without_a_fence() {
        for answer in ["[1, 2]", " [1,2]\n", "```json\n[1, 2]\n```", "```\n[1, 2]```"] {
            assert_eq!(
                value(&Output::declared(COUNT), &mut Content::model(answer)).unwrap(),
                Some(("counts".into(), json!([1, 2]))),
                "{answer}"
            );
        }
        assert_eq!(value(&Output::declared(COUNT), &mut Content::model(" \n")).unwrap(), None);
    }

    #[test]
    fn an_answer_of_another_type_says_why() {
        let fail = |text: &str, finish: Option<&FinishReason>| {
            value(&Output::declared(COUNT), &mut Content::model(text)).unwrap_err().error(finish, 1)
        };
        let error = fail("[1, 300]", None);
        assert_eq!(error.kind(), ErrorKind::OutputInvalid);
        assert!(error.to_string().contains("`counts`") && error.to_string().contains("300"), "{error}");
        let error = fail("[1, ", Some(&FinishReason::MaxTokens));
        assert!(error.to_string().contains("not JSON") && error.to_string().contains("cut off"), "{error}");
        let error = fail(&"é".repeat(500), None);
        assert!(error.to_string().contains("ééé..."), "{error}");
    }
}
