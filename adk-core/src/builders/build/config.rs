//! Trees from a config: data in ADK's agent-config fields, from any format that serde reads.

mod agent;
mod awaits;
mod callbacks;
mod fields;
mod registry;

pub use registry::Registry;

use super::error::BuildError;
use super::tree::{Tree, TreeOptions};
use crate::spec::Key;
use agent::Reader;
use fields::Fields;
use serde_json::Value;
use std::sync::Arc;

impl Tree {
    /// A tree from a config: an agent with ADK's fields, its agents inside of it.
    ///
    /// | field | of | |
    /// |---|---|---|
    /// | `agent_class` | all | `LlmAgent` (the default), `LoopAgent`, `SequentialAgent`, `ParallelAgent`, and `AwaitAgent`, which is not of ADK |
    /// | `name`, `description`, `sub_agents` | all; of an `AwaitAgent` only `name` | an agent in `sub_agents` is a config, `{config_path: NAME}` of a document of the registry, `{code: NAME}` of an agent of it, or either by its name alone |
    /// | `max_iterations` | `LoopAgent` | 1 or more |
    /// | `max_concurrency` | `ParallelAgent` | 1 or more; not of ADK |
    /// | `model`, `instruction`, `global_instruction`, `tools`, `output_key`, `output_schema`, `include_contents`, `generate_content_config`, `disallow_transfer_to_parent`, `disallow_transfer_to_peers` | `LlmAgent` | tools by name, or as `{name: NAME}`; the schema is a JSON schema, or `{name: NAME}` of a type or schema of the registry |
    /// | `question`, `output_key`, `output_schema`, `by`, `timeout`, `default` | `AwaitAgent` | an [`Await`](crate::Await): the question may have placeholders; the name is by default the key; without a schema the answer is text; `by` is the role that may answer, or `other` for each user but the one who began the run; the timeout is a text such as `"72h"`, in `ms`, `s`, `m` or `h`, and a default needs one |
    /// | `before_agent_callbacks`, `after_agent_callbacks` | all but `AwaitAgent` | by name, or as `{name: NAME}` |
    /// | `before_model_callbacks`, `after_model_callbacks`, `on_model_error_callbacks`, and those of `tool` | `LlmAgent` | the same |
    /// | `max_turns`, `answer_attempts` | `LlmAgent` | 1 or more; not of ADK |
    /// | `flow_checks`, `state` | the root | whether keys and exits are checked, and keys with their initial values; not of ADK |
    ///
    /// A format other than JSON is read into a [`Value`] by its own crate.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::build::{Registry, Tree};
    ///
    /// let config = serde_json::json!({
    ///     "agent_class": "LoopAgent",
    ///     "name": "refinement",
    ///     "max_iterations": 3,
    ///     "state": {"draft": ""},
    ///     "sub_agents": [
    ///         {"name": "writer", "instruction": "Improve: {draft}", "output_key": "draft"},
    ///         {"name": "critic", "instruction": "Call `exit_loop` if this is good: {draft}", "tools": ["exit_loop"]},
    ///     ],
    /// });
    /// let tree = Tree::from_config(&config, &Registry::new())?;
    /// assert_eq!(tree.spec().nodes().len(), 4);
    /// # Ok::<(), adk::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// All that is wrong with it, each fault with its place. The flow of keys and exits is checked only if every agent could be read:
    ///
    /// ```
    /// # use adk_core as adk;
    /// # use adk::build::{Registry, Tree};
    /// let config = serde_json::json!({
    ///     "agent_class": "SequentialAgent",
    ///     "name": "root",
    ///     "sub_agents": [
    ///         {"name": "writer", "instrution": "Write."},
    ///         {"agent_class": "LoopAgent", "name": "again", "max_iterations": -1, "sub_agents": [{"name": "writer"}]},
    ///     ],
    /// });
    /// let error = Tree::from_config(&config, &Registry::new()).unwrap_err();
    /// let places: Vec<_> = error.faults().iter().map(|fault| (&*fault.place, fault.check.name())).collect();
    /// assert_eq!(places, [
    ///     ("sub_agents[0].instrution", "field-unknown"),
    ///     ("sub_agents[1].max_iterations", "loop-max"),
    ///     ("sub_agents[1].sub_agents[0].name", "name-duplicate"),
    /// ]);
    /// ```
    pub fn from_config(config: &Value, registry: &Registry) -> Result<Self, BuildError> {
        let mut reader = Reader::new(registry);
        let mut options = TreeOptions::default();
        let root = match config {
            Value::Object(fields) => {
                let mut fields = Fields::new(fields, "");
                options.flow_checks = fields.boolean("flow_checks", &mut reader.faults).unwrap_or(true);
                options.lets = state(&mut fields, &mut reader);
                reader.fields(fields, 1)
            }
            other => reader.agent(other, "", 1),
        };
        let faults = std::mem::take(&mut reader.faults);
        let tree = Self::new(root.0, options);
        tree.accepted_with(faults)
    }
}

/// The keys with initial values.
fn state(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Vec<(Key, Arc<Value>)> {
    let all = fields.object("state", &mut reader.faults).into_iter().flatten();
    all.map(|(key, value)| (key_of(key, value), Arc::new(value.clone()))).collect()
}

/// A key whose type is that of its first value, where that says it.
pub(crate) fn key_of(key: &str, value: &Value) -> Key {
    match value {
        Value::String(_) => Key::typed::<String>(key),
        Value::Bool(_) => Key::typed::<bool>(key),
        _ => Key::any(key),
    }
}
