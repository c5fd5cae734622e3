//! Trees from a config with the fields of ADK's agent configs, in any format that serde reads.

mod agent;
mod awaits;
mod callbacks;
mod fields;
mod registry;

pub use registry::Registry;

use super::error::BuildError;
use super::guards::TreeGuards;
use super::tree::{Tree, TreeOptions};
use adk_core::__private::build::Key;
use agent::ConfigReader;
use fields::ConfigFields;
use serde_json::Value;
use std::sync::Arc;

impl Tree {
    /// Creates a tree from a config: an agent with ADK's fields that contains its sub-agents.
    ///
    /// - `agent_class`: `LlmAgent` (the default), `LoopAgent`, `SequentialAgent`, `ParallelAgent`,
    ///   and `AwaitAgent`, which ADK does not have
    /// - `name`, `description`, `sub_agents` (an `AwaitAgent` has only `name`): an agent in
    ///   `sub_agents` is a config, `{config_path: NAME}` for a document of the registry,
    ///   `{code: NAME}` for an agent of the registry, or only the name of either
    /// - `max_iterations` (`LoopAgent`): 1 or more
    /// - `max_concurrency` (`ParallelAgent`): 1 or more; ADK does not have this field
    /// - `model`, `instruction`, `global_instruction`, `tools`, `output_key`, `output_schema`,
    ///   `include_contents`, `generate_content_config`, `disallow_transfer_to_parent`,
    ///   `disallow_transfer_to_peers` (`LlmAgent`): a tool is a name or `{name: NAME}`; the schema
    ///   is a JSON schema, or `{name: NAME}` for a type or schema of the registry
    /// - `question`, `output_key`, `output_schema`, `by`, `timeout`, `default` (`AwaitAgent`): an
    ///   [`Await`](crate::Await): the question may have placeholders; the default of the name is
    ///   the key; without a schema the answer is text; `by` is the role that may answer, or `other`
    ///   for every user except the one who began the run; the timeout is a text such as `"72h"`, in
    ///   `ms`, `s`, `m` or `h`, and a default needs one
    /// - `before_agent_callbacks`, `after_agent_callbacks` (all except `AwaitAgent`): a callback is
    ///   a name or `{name: NAME}`
    /// - `before_model_callbacks`, `after_model_callbacks`, `on_model_error_callbacks`, and the
    ///   three for `tool` (`LlmAgent`): a callback is a name or `{name: NAME}`
    /// - `tools` may also name toolsets of the registry, with the labels that they have there
    /// - `max_turns`, `answer_attempts` (`LlmAgent`): 1 or more; ADK does not have this field
    /// - `flow_checks`, `state` (the root): whether keys and exits are checked, and keys with their
    ///   initial values; ADK does not have these fields
    /// - `guards` (the root): the rules about text that strangers wrote, [`TreeGuards`], as an
    ///   object with `untrusted` and `private` (lists of keys), `fresh` and `strict`, or `false`
    ///   for no checks of labels; ADK does not have this field
    ///
    /// For a format other than JSON, parse the text into a [`Value`] with the crate of the format.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::build::{Registry, Tree};
    ///
    /// let config = serde_json::json!({
    ///     "agent_class": "LoopAgent",
    ///     "name": "refinement",
    ///     "max_iterations": 3,
    ///     "state": {"draft": ""},
    ///     "sub_agents": [
    ///         {"name": "writer", "instruction": "Improve: {draft}", "output_key": "draft"},
    ///         {
    ///             "name": "critic",
    ///             "instruction": "Call `exit_loop` if this is good: {draft}",
    ///             "tools": ["exit_loop"],
    ///         },
    ///     ],
    /// });
    /// let tree = Tree::from_config(&config, &Registry::new())?;
    /// assert_eq!(tree.spec().nodes().len(), 4);
    /// # Ok::<(), adk::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Returns all faults of the config, each with its place. The flow of keys and exits is checked
    /// only if every agent is readable:
    ///
    /// ```
    /// # use adk_build as adk;
    /// # use adk::build::{Registry, Tree};
    /// let config = serde_json::json!({
    ///     "agent_class": "SequentialAgent",
    ///     "name": "root",
    ///     "sub_agents": [
    ///         {"name": "writer", "instrution": "Write."},
    ///         {
    ///             "agent_class": "LoopAgent",
    ///             "name": "again",
    ///             "max_iterations": -1,
    ///             "sub_agents": [{"name": "writer"}],
    ///         },
    ///     ],
    /// });
    /// let error = Tree::from_config(&config, &Registry::new()).unwrap_err();
    /// let faults = error.faults().iter();
    /// let places: Vec<_> = faults.map(|fault| (&*fault.place, fault.check.name())).collect();
    /// assert_eq!(places, [
    ///     ("sub_agents[0].instrution", "field-unknown"),
    ///     ("sub_agents[1].max_iterations", "loop-max"),
    ///     ("sub_agents[1].sub_agents[0].name", "name-duplicate"),
    /// ]);
    /// ```
    pub fn from_config(config: &Value, registry: &Registry) -> Result<Self, BuildError> {
        let mut reader = ConfigReader::new(registry);
        let mut options = TreeOptions::default();
        let root = match config {
            Value::Object(fields) => {
                let mut fields = ConfigFields::new(fields, "");
                options.flow_checks = fields
                    .boolean("flow_checks", &mut reader.faults)
                    .unwrap_or(true);
                options.lets = state(&mut fields, &mut reader);
                options.guards = guards(&mut fields, &mut reader);
                reader.guards = options.guards.clone();
                reader.fields(fields, 1)
            }
            other => reader.agent(other, "", 1),
        };
        let faults = std::mem::take(&mut reader.faults);
        let tree = Self::new(root.0, options);
        tree.accept_with(faults)
    }
}

/// Reads the keys with initial values.
fn state(fields: &mut ConfigFields<'_>, reader: &mut ConfigReader<'_>) -> Vec<(Key, Arc<Value>)> {
    let all = fields
        .object("state", &mut reader.faults)
        .into_iter()
        .flatten();
    all.map(|(key, value)| (key_of(key, value), Arc::new(value.clone())))
        .collect()
}

/// Reads the rules about text that strangers wrote: an object, or whether labels are checked.
fn guards(fields: &mut ConfigFields<'_>, reader: &mut ConfigReader<'_>) -> TreeGuards {
    let faults = &mut reader.faults;
    if matches!(fields.value("guards"), Some(Value::Bool(_))) {
        return fields.boolean("guards", faults).unwrap_or(true).into();
    }
    let Some(rules) = fields.object("guards", faults) else {
        return TreeGuards::default();
    };
    let mut rules = ConfigFields::new(rules, fields.place_of("guards"));
    let mut guards = TreeGuards::new();
    for key in rules.texts("untrusted", faults) {
        guards = guards.untrusted(key);
    }
    for key in rules.texts("private", faults) {
        guards = guards.private(key);
    }
    guards = guards.fresh(rules.boolean("fresh", faults).unwrap_or(false));
    guards = guards.strict(rules.boolean("strict", faults).unwrap_or(false));
    rules.finish("`guards`", faults);
    guards
}

/// Returns a key with the type of its initial value, if the JSON determines the type.
pub(crate) fn key_of(key: &str, value: &Value) -> Key {
    match value {
        Value::String(_) => Key::typed::<String>(key),
        Value::Bool(_) => Key::typed::<bool>(key),
        _ => Key::any(key),
    }
}
