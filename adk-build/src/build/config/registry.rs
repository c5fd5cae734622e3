//! [`Registry`]: the values that a config refers to by name.

use crate::build::item::{IntoAgent, SubAgent};
use crate::build::llm::OutputType;
use adk_core::callback::{AgentCallbacks, ModelCallbacks, ToolCallbacks};
use adk_core::llm::provider::{code_execution, google_search, url_context, web_search};
use adk_core::model::ModelRef;
use adk_core::tool::{DeclaredToolset, DynTool};
use adk_core::tools::{exit_loop, load_artifacts, load_memory, preload_memory};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The values that a config refers to by name: tools, agents, models, and other configs.
///
/// ```
/// # use adk_build as adk;
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
    pub(super) toolsets: BTreeMap<String, DeclaredToolset>,
    pub(super) agents: BTreeMap<String, SubAgent>,
    pub(super) models: BTreeMap<String, ModelRef>,
    pub(super) documents: BTreeMap<String, Value>,
    pub(super) callbacks: BTreeMap<String, Callbacks>,
    pub(super) outputs: BTreeMap<String, OutputType>,
}

/// The callbacks with one name.
#[derive(Clone, Default)]
pub(super) struct Callbacks {
    pub(super) agent: AgentCallbacks,
    pub(super) model: ModelCallbacks,
    pub(super) tool: ToolCallbacks,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Creates a registry with the built-in tools `exit_loop`, `load_artifacts`, `load_memory` and
    /// `preload_memory`, and with the [tools of providers](adk_core::llm::provider).
    pub fn new() -> Self {
        let (tools, toolsets, agents, models, documents, callbacks, outputs) = Default::default();
        let registry = Self {
            tools,
            toolsets,
            agents,
            models,
            documents,
            callbacks,
            outputs,
        };
        let registry = registry
            .tool(exit_loop::default())
            .tool(load_artifacts::default());
        let registry = registry
            .tool(load_memory::default())
            .tool(preload_memory::default());
        let registry = registry
            .tool(google_search::default())
            .tool(code_execution::default());
        registry
            .tool(url_context::default())
            .tool(web_search::default())
    }

    /// Adds a tool under its own name. The tool replaces an earlier tool with that name.
    #[must_use]
    pub fn tool(mut self, tool: impl DynTool) -> Self {
        self.tools
            .insert(tool.meta().name.to_owned(), Arc::new(tool));
        self
    }

    /// Adds a toolset under its own name, for the `tools` of agents. Its labels and its file are
    /// those of the program: a config cannot change them. The toolset replaces an earlier toolset
    /// with that name; a tool with the name comes first.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::build::{Registry, Tree};
    /// use adk::spec::Labels;
    /// use adk::tool::DeclaredToolset;
    /// # use adk::{BoxFuture, DynTool, ReadonlyContext, Result, Toolset};
    /// # struct Mails;
    /// # impl Toolset for Mails {
    /// #     fn name(&self) -> &str { "mails" }
    /// #     fn tools<'a>(&'a self, _: &'a ReadonlyContext)
    /// #         -> BoxFuture<'a, Result<Vec<std::sync::Arc<dyn DynTool>>>> {
    /// #         Box::pin(async { Ok(Vec::new()) })
    /// #     }
    /// # }
    /// use serde_json::json;
    ///
    /// let mails = DeclaredToolset::new(Mails).labels(Labels::ACTS);
    /// let registry = Registry::new().toolset(mails);
    /// let config = json!({
    ///     "name": "clerk",
    ///     "instruction": "Answer.",
    ///     "tools": ["mails"],
    ///     "guards": {"untrusted": ["user"]},
    /// });
    /// let error = Tree::from_config(&config, &registry).unwrap_err().to_string();
    /// assert!(error.contains("untrusted-action: agent `clerk` may call a tool"), "{error}");
    /// ```
    #[must_use]
    pub fn toolset(mut self, toolset: impl Into<DeclaredToolset>) -> Self {
        let toolset = toolset.into();
        self.toolsets.insert(toolset.name().to_owned(), toolset);
        self
    }

    /// Adds an agent of any kind under its own name.
    #[must_use]
    pub fn agent<M>(mut self, agent: impl IntoAgent<M>) -> Self {
        let agent = agent.into_agent();
        self.agents.insert(agent.name().to_owned(), agent);
        self
    }

    /// Adds a model by value, or another name for a model. The runner looks up names that the
    /// registry does not have.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl Into<ModelRef>) -> Self {
        self.models.insert(name.into(), model.into());
        self
    }

    /// Adds callbacks of agents and blocks for `before_agent_callbacks` and
    /// `after_agent_callbacks`.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::build::{Registry, Tree};
    /// use adk::callback::{AgentCallbacks, CallbackContext};
    /// use serde_json::json;
    ///
    /// let mut once = AgentCallbacks::default();
    /// once.before(|cx: &mut CallbackContext| {
    ///     (cx.iteration() > Some(0)).then_some("once is enough")
    /// });
    /// let registry = Registry::new().agent_callbacks("once", once);
    /// let config = json!({"name": "a", "before_agent_callbacks": [{"name": "once"}]});
    /// assert!(Tree::from_config(&config, &registry).is_ok());
    /// let config = json!({"name": "a", "after_agent_callbacks": ["once"]});
    /// assert_eq!(
    ///     Tree::from_config(&config, &registry).unwrap_err().to_string(),
    ///     "after_agent_callbacks[0]: field-unknown: `once` has no callback for \
    ///      `after_agent_callbacks`; help: add one to it where it is registered"
    /// );
    /// ```
    #[must_use]
    pub fn agent_callbacks(mut self, name: impl Into<String>, callbacks: AgentCallbacks) -> Self {
        self.callbacks.entry(name.into()).or_default().agent = callbacks;
        self
    }

    /// Adds callbacks of model calls for `before_model_callbacks`, `after_model_callbacks` and
    /// `on_model_error_callbacks`.
    #[must_use]
    pub fn model_callbacks(mut self, name: impl Into<String>, callbacks: ModelCallbacks) -> Self {
        self.callbacks.entry(name.into()).or_default().model = callbacks;
        self
    }

    /// Adds callbacks of tool calls for `before_tool_callbacks`, `after_tool_callbacks` and
    /// `on_tool_error_callbacks`.
    #[must_use]
    pub fn tool_callbacks(mut self, name: impl Into<String>, callbacks: ToolCallbacks) -> Self {
        self.callbacks.entry(name.into()).or_default().tool = callbacks;
        self
    }

    /// Adds a type of answers for `output_schema`.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::build::{Registry, Tree};
    /// use serde_json::json;
    ///
    /// let registry = Registry::new().output_type::<Vec<String>>("Titles");
    /// let config = json!({
    ///     "name": "titles",
    ///     "output_key": "titles",
    ///     "output_schema": {"name": "Titles"},
    /// });
    /// assert!(Tree::from_config(&config, &registry).is_ok());
    /// ```
    #[must_use]
    pub fn output_type<T>(mut self, name: impl Into<String>) -> Self
    where
        T: JsonSchema + Serialize + DeserializeOwned + 'static,
    {
        self.outputs
            .insert(name.into(), OutputType::from_type::<T>());
        self
    }

    /// Adds a JSON schema of answers for `output_schema`.
    #[must_use]
    pub fn output_schema(mut self, name: impl Into<String>, schema: Value) -> Self {
        self.outputs
            .insert(name.into(), OutputType::Schema(Arc::new(schema)));
        self
    }

    /// Adds another config for `config_path`.
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
            .field("toolsets", &self.toolsets.keys())
            .field("agents", &self.agents.keys())
            .field("models", &self.models.keys())
            .field("documents", &self.documents.keys())
            .field("callbacks", &self.callbacks.keys())
            .field("outputs", &self.outputs.keys())
            .finish()
    }
}
