//! `AwaitAgent` of a config: a step that waits for a value from outside.

use super::agent::ConfigReader;
use super::fields::{ConfigFields, fault};
use crate::build::item::{IntoAgent, SubAgent};
use crate::build::llm::OutputType;
use adk_core::__private::build::{AnswerForm, Key, await_form};
use adk_core::check::{Check, Diagnostic};
use adk_core::spec::AnsweredBy;
use adk_spec::duration::millis;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

impl ConfigReader<'_> {
    /// Reads the name of an `AwaitAgent`. The default is the name of its key.
    pub(super) fn name_of_await(&mut self, fields: &mut ConfigFields<'_>) -> String {
        match (
            fields.value("name"),
            fields.value("output_key").map(Value::as_str),
        ) {
            (Some(_), _) => self.name(fields),
            (None, Some(Some(key))) => key.rsplit(':').next().unwrap_or_default().to_owned(),
            // The code that reads the key reports its faults.
            (None, _) => self.no_name(),
        }
    }

    pub(super) fn awaits(&mut self, name: String, mut fields: ConfigFields<'_>) -> SubAgent {
        let question = fields
            .text("question", &mut self.faults)
            .unwrap_or_default()
            .to_owned();
        let key = match fields.value("output_key") {
            Some(_) => fields.text("output_key", &mut self.faults),
            None => {
                let fact = "an `AwaitAgent` has no `output_key`; help: give it one, the key that \
                    the answer is written to";
                self.fault(Check::Syntax, fields.place_of("output_key"), fact);
                None
            }
        };
        // A fault of a schema is reported once, so no value is checked against the schema.
        let is_text = fields.value("output_schema").is_none();
        let (form, key_of): (AnswerForm, fn(String) -> Key) = match self.output(&mut fields) {
            Some(OutputType::Type { output, key }) if output.schema.is_some() => {
                (AnswerForm::Type(output), key)
            }
            Some(OutputType::Schema(schema)) => (AnswerForm::Schema(schema), |key| Key::any(&key)),
            None if !is_text => (AnswerForm::Schema(Arc::new(Value::Null)), |key| {
                Key::any(&key)
            }),
            _ => (
                AnswerForm::Schema(Arc::new(json!({"type": "string"}))),
                Key::typed::<String>,
            ),
        };
        let by = fields.text("by", &mut self.faults).map(|by| match by {
            "other" => AnsweredBy::Other,
            role => AnsweredBy::Role(role.to_owned()),
        });
        if matches!(&by, Some(AnsweredBy::Role(role)) if role.is_empty()) {
            let fact = "a role has a name, and this one is empty; help: write the role that may \
                answer, or `other`";
            self.fault(Check::Syntax, fields.place_of("by"), fact);
        }
        let timeout = timeout(&mut fields, &mut self.faults);
        let default = fields.value("default").cloned();
        if let Some(default) = &default {
            let place = fields.place_of("default");
            if fields.value("timeout").is_none() {
                let fact = "a `default` counts when the `timeout` has passed, and this \
                    `AwaitAgent` has none; help: give it a `timeout`, as in `\"72h\"`, or remove \
                    it";
                self.fault(Check::Syntax, &*place, fact);
            }
            if let Err(why) = form.read(default) {
                let fact = format!(
                    "the default of `{name}` is no answer to it: {why}; help: see its \
                     `output_schema`"
                );
                self.fault(Check::Syntax, place, &fact);
            }
        }
        fields.finish("an `AwaitAgent`", &mut self.faults);
        match key {
            Some(key) => await_form(
                name,
                key_of(key.to_owned()),
                question,
                form,
                by,
                (timeout, default),
            )
            .into_agent(),
            // The written key of an agent without a readable key is unknown.
            None => super::agent::stub_agent(&name),
        }
    }
}

/// Reads a duration, in the syntax of `workflow!`.
fn timeout(fields: &mut ConfigFields<'_>, faults: &mut Vec<Diagnostic>) -> Option<Duration> {
    let text = fields.text("timeout", faults)?;
    let help = "help: write a number and `ms`, `s`, `m` or `h`, as in `\"72h\"`";
    let fact = match millis(text) {
        Some(0) => format!("the timeout is zero; {help}"),
        Some(millis) => return Some(Duration::from_millis(millis)),
        None => format!("{text:?} is no length of time; {help}"),
    };
    faults.push(fault(Check::Syntax, fields.place_of("timeout"), &fact));
    None
}
