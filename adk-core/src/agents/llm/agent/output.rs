//! [`AgentOutput`]: the output key of an agent, and the form of the value that the key receives.

use super::declare::OutputKey;
use crate::runtime::tool::decode;
use crate::{Content, Name, Part, Result, depth};
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::{fmt, io};

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

    /// Reports whether the output is text that is stored unchanged.
    pub(in crate::agents::llm) fn is_text(&self) -> bool {
        matches!(self.form, OutputForm::Text)
    }

    pub(in crate::agents::llm) fn schema(&self) -> Option<Arc<Value>> {
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
    pub(in crate::agents::llm) fn settle(&self, value: &mut Value) -> Result<(), String> {
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
    pub(in crate::agents::llm) fn show(&self, value: &Value, content: &mut Content) {
        let text = content.text();
        if self.is_text() || is_written_as(&text, value) {
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
            if self.is_text() { "text" } else { "json" }
        )
    }
}

/// Reports whether a text contains only this value, as this crate or Python writes it.
fn is_written_as(text: &str, value: &Value) -> bool {
    let (own, of_python) = (value.to_string(), json_of_python(value));
    text == own || text == of_python
}

/// Returns JSON with a space after each comma and colon, as Python writes it.
pub(in crate::agents::llm) fn json_of_python(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    // Writes to a vector do not fail, and every value has a JSON form.
    drop(value.serialize(&mut writer));
    String::from_utf8(bytes).unwrap_or_default()
}

struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_written_as_python_writes_it() {
        let answer = json!({"title": "a, b: c", "tags": ["é", 1.0, null], "empty": {}, "none": []});
        assert_eq!(
            json_of_python(&answer),
            r#"{"title": "a, b: c", "tags": ["é", 1.0, null], "empty": {}, "none": []}"#
        );
    }
}
