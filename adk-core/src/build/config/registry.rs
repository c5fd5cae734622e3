//! What a config refers to by name.

use crate::build::item::{IntoAgent, SubAgent};
use crate::model::ModelRef;
use crate::tool::DynTool;
use crate::tools::exit_loop;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a config refers to by name: tools, agents, models, and other configs.
///
/// ```
/// # use adk_core as adk;
/// use adk::build::Registry;
/// use adk::testing::ScriptedModel;
/// use adk::tool::FunctionTool;
/// use serde_json::json;
///
/// let registry = Registry::new()
///     .tool(FunctionTool::new("now", "The time of day.", |(), _| "noon"))
///     .model("scripted", ScriptedModel::new())
///     .document("critic.json", json!({"name": "critic", "instruction": "Review it."}));
/// ```
#[derive(Clone)]
pub struct Registry {
    pub(super) tools: BTreeMap<String, Arc<dyn DynTool>>,
    pub(super) agents: BTreeMap<String, SubAgent>,
    pub(super) models: BTreeMap<String, ModelRef>,
    pub(super) documents: BTreeMap<String, Value>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry of the built-in tool `exit_loop`.
    pub fn new() -> Self {
        let (tools, agents, models, documents) = Default::default();
        Self { tools, agents, models, documents }.tool(exit_loop::default())
    }

    /// A tool under its own name; one of that name that was there is replaced.
    #[must_use]
    pub fn tool(mut self, tool: impl DynTool) -> Self {
        self.tools.insert(tool.meta().name.to_owned(), Arc::new(tool));
        self
    }

    /// An agent of any kind under its own name.
    #[must_use]
    pub fn agent(mut self, agent: impl IntoAgent) -> Self {
        let agent = agent.into_agent();
        self.agents.insert(agent.name().to_owned(), agent);
        self
    }

    /// A model by value, or another name for one. A name that is not here is looked up by the runner.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl Into<ModelRef>) -> Self {
        self.models.insert(name.into(), model.into());
        self
    }

    /// Another config, which `config_path` names.
    #[must_use]
    pub fn document(mut self, path: impl Into<String>, config: Value) -> Self {
        self.documents.insert(path.into(), config);
        self
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("tools", &self.tools.keys())
            .field("agents", &self.agents.keys())
            .field("models", &self.models.keys())
            .field("documents", &self.documents.keys())
            .finish()
    }
}
