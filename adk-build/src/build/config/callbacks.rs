//! Callbacks in a config.

use super::agent::ConfigReader;
use super::fields::{ConfigFields, join_place, unresolved_fact};
use super::registry::Callbacks;
use adk_core::check::Check;
use serde_json::Value;

/// The callback fields of every agent.
pub(super) const AGENT_CALLBACKS: [&str; 2] = ["before_agent_callbacks", "after_agent_callbacks"];

/// The additional callback fields of an LLM agent.
pub(super) const LLM_CALLBACKS: [&str; 6] = [
    "before_model_callbacks",
    "after_model_callbacks",
    "on_model_error_callbacks",
    "before_tool_callbacks",
    "after_tool_callbacks",
    "on_tool_error_callbacks",
];

impl Callbacks {
    /// Adds the callbacks of one kind from a registry entry. Returns whether the entry has any.
    fn add(&mut self, from: &Self, kind: &str) -> bool {
        self.agent.add(&from.agent, kind)
            || self.model.add(&from.model, kind)
            || self.tool.add(&from.tool, kind)
    }
}

impl ConfigReader<'_> {
    /// Reads the callbacks of an agent, in the order of their lists.
    pub(super) fn callbacks(
        &mut self,
        kinds: &[&'static str],
        into: &mut Callbacks,
        fields: &mut ConfigFields<'_>,
    ) {
        for field in kinds {
            let kind = field.trim_end_matches("_callbacks");
            let list = fields.place_of(field);
            for (at, value) in fields
                .list(field, &mut self.faults)
                .into_iter()
                .flatten()
                .enumerate()
            {
                let Some((name, place)) =
                    self.reference(value, join_place(&list, &format!("[{at}]")), "callback")
                else {
                    continue;
                };
                let registered = &self.registry.callbacks;
                match registered.get(name) {
                    Some(from) if into.add(from, kind) => {}
                    Some(_) => {
                        let fact = format!(
                            "`{name}` has no callback for `{field}`; help: add one to it where it \
                             is registered"
                        );
                        self.fault(Check::FieldUnknown, place, &fact);
                    }
                    None => {
                        let fact = format!("the registry has no callback `{name}`");
                        let fact =
                            unresolved_fact(&fact, name, registered.keys().map(String::as_str));
                        self.fault(Check::FieldUnknown, place, &fact);
                    }
                }
            }
        }
    }

    /// Reads a name, or an object that contains one, and returns it with its place.
    pub(super) fn reference<'v>(
        &mut self,
        value: &'v Value,
        place: String,
        what: &str,
    ) -> Option<(&'v str, String)> {
        match value {
            Value::String(name) => Some((name, place)),
            Value::Object(all) => {
                let mut fields = ConfigFields::new(all, place);
                let place = fields.place_of("name");
                let name = fields.text("name", &mut self.faults);
                if all.get("name").is_none() {
                    let fact =
                        format!("a {what} has no name; help: write one, as in `{{name: NAME}}`");
                    self.fault(Check::Syntax, &*place, &fact);
                }
                fields.finish(&format!("a reference to a {what}"), &mut self.faults);
                name.map(|name| (name, place))
            }
            other => {
                let fact = format!(
                    "a {what} is {}; help: write its name",
                    adk_core::__private::build::describe_value(other)
                );
                self.fault(Check::Syntax, place, &fact);
                None
            }
        }
    }
}
