//! Builds an agent with its runner and its session.

use super::{AgentRunner, BuiltAgent};
use crate::agents::llm::LlmAgent;
use crate::builders::build::{
    BuildError, IntoAgent, IntoAgents, LlmAgentBuilder, LoopAgent, ParallelAgent, SequentialAgent, SubAgent,
    Tree, key_of,
};
use crate::check::{Check, Fault};
use crate::encode::to_json;
use crate::id::IdSeed;
use crate::models::model::{ModelProvider, ModelRef, NoProvider};
use crate::runtime::run::RunConfig;
use crate::runtime::runner::{Runner, RunnerBuilder, Store};
use crate::runtime::tool::DynTool;
use crate::store::session::{SessionStore, now_micros};
use crate::{ArtifactStore, Error, ErrorKind, Name, Result, StateDelta};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// @iqai/adk's `AgentBuilder`: an agent, its runner and its session in one chain.
///
/// ```
/// # use adk_core as adk;
/// # use adk::testing::ScriptedModel;
/// use adk::llm::LlmAgent;
/// # type AgentBuilder = adk::AgentBuilder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> adk::Result<()> {
/// # let model = ScriptedModel::new()
/// #     .on("analyzer").text("3 of 10").text("9 of 10")
/// #     .on("improver").text("better").text("best");
/// let analyzer = LlmAgent::builder("analyzer").instruction("How good is it?").output_key("quality_score");
/// let improver = LlmAgent::builder("improver").instruction("Improve it, it has {quality_score}.");
/// let app = AgentBuilder::create("improvement-loop")
///     .with_model(model)
///     .as_loop([analyzer, improver], 2)
///     .build()?;
/// assert_eq!(app.runner.ask("Improve this text: ...").await?, "best");
/// assert_eq!(app.agent.spec().name, "improvement_loop");
/// # Ok(())
/// # }
/// ```
pub struct AgentBuilder<P = NoProvider> {
    app: String,
    /// The app's name as that of an agent.
    name: String,
    agent: LlmAgentBuilder,
    /// What has been said of the agent itself, which a block does not have.
    said: Vec<&'static str>,
    description: String,
    shape: Shape,
    model: Option<ModelRef>,
    runner: RunnerBuilder<P>,
    state: Option<Result<Value>>,
    flow_checks: bool,
}

enum Shape {
    /// One LLM agent.
    Single,
    Sequence(Vec<SubAgent>),
    Parallel(Vec<SubAgent>),
    Loop(Vec<SubAgent>, Option<u32>),
    /// An agent that was made elsewhere.
    Given(SubAgent),
}

impl<P: ModelProvider + Default> AgentBuilder<P> {
    /// Begins an app of that name. The agent is called like it, with `-` as `_`; a name that is none even so is refused by
    /// [`build`](Self::build) (`name-invalid`).
    pub fn create(name: impl Into<String>) -> Self {
        let app = name.into();
        let name = app.replace('-', "_");
        Self {
            agent: LlmAgent::builder(name.clone()),
            runner: Runner::builder().app_name(&*app),
            app,
            name,
            said: Vec::new(),
            description: String::new(),
            shape: Shape::Single,
            model: None,
            state: None,
            flow_checks: true,
        }
    }

    /// The model of all agents that name none: by name, or by value.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<ModelRef>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// What the agent is for; models see it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The prompt of the agent, when it is a single one.
    #[must_use]
    pub fn with_instruction(self, prompt: impl Into<String>) -> Self {
        self.of_single("with_instruction", |agent| agent.instruction(Into::<String>::into(prompt)))
    }

    /// Adds tools to the agent, when it is a single one.
    #[must_use]
    pub fn with_tools(self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.of_single("with_tools", |agent| agent.tools(tools))
    }

    /// Adds a tool to the agent, when it is a single one.
    #[must_use]
    pub fn with_tool(self, tool: impl DynTool) -> Self {
        self.of_single("with_tool", |agent| agent.tool(tool))
    }

    /// The key that its answer is written to, when it is a single one.
    #[must_use]
    pub fn with_output_key(self, key: impl Into<Name>) -> Self {
        self.of_single("with_output_key", |agent| agent.output_key(key))
    }

    /// The JSON schema that its answer has to fit, when it is a single one.
    #[must_use]
    pub fn with_output_schema(self, schema: Value) -> Self {
        self.of_single("with_output_schema", |agent| agent.output_schema(schema))
    }

    /// The agents to which it may hand on, when it is a single one.
    #[must_use]
    pub fn with_sub_agents(self, agents: impl IntoAgents) -> Self {
        self.of_single("with_sub_agents", |agent| agent.sub_agents(agents))
    }

    fn of_single(
        mut self,
        word: &'static str,
        change: impl FnOnce(LlmAgentBuilder) -> LlmAgentBuilder,
    ) -> Self {
        self.agent = change(self.agent);
        self.said.push(word);
        self
    }

    /// Runs these agents one after the other.
    #[must_use]
    pub fn as_sequential(self, agents: impl IntoAgents) -> Self {
        self.shaped(Shape::Sequence(agents.into_agents()))
    }

    /// Runs these agents at the same time.
    #[must_use]
    pub fn as_parallel(self, agents: impl IntoAgents) -> Self {
        self.shaped(Shape::Parallel(agents.into_agents()))
    }

    /// Runs these agents round by round, at most that often; `None` is until one of them ends it.
    #[must_use]
    pub fn as_loop(self, agents: impl IntoAgents, max_iterations: impl Into<Option<u32>>) -> Self {
        self.shaped(Shape::Loop(agents.into_agents(), max_iterations.into()))
    }

    /// Runs an agent that was made elsewhere, under its own name.
    #[must_use]
    pub fn with_agent(self, agent: impl IntoAgent) -> Self {
        self.shaped(Shape::Given(agent.into_agent()))
    }

    fn shaped(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// The state that its session begins with: an object, `json!({"draft": ""})`, or a struct. Prompts may read its keys.
    #[must_use]
    pub fn with_quick_session(mut self, state: impl Serialize) -> Self {
        let state = to_json(&state);
        self.state = Some(
            state.map_err(|error| error.into_error(ErrorKind::NotJson, "the state of the quick session")),
        );
        self
    }

    /// The store of sessions, runs, waits, artifacts and memory, as [`RunnerBuilder::store`].
    #[must_use]
    pub fn with_store(mut self, store: impl Store) -> Self {
        self.runner = self.runner.store(store);
        self
    }

    /// Replaces the sessions of the store, as [`RunnerBuilder::session_store`].
    #[must_use]
    pub fn with_session_store(mut self, store: impl Into<Arc<dyn SessionStore>>) -> Self {
        self.runner = self.runner.session_store(store);
        self
    }

    /// Replaces the artifacts of the store, as [`RunnerBuilder::artifact_store`].
    #[must_use]
    pub fn with_artifact_store(mut self, store: impl Into<Arc<dyn ArtifactStore>>) -> Self {
        self.runner = self.runner.artifact_store(store);
        self
    }

    /// The settings of its runs.
    #[must_use]
    pub fn with_run_config(mut self, config: RunConfig) -> Self {
        self.runner = self.runner.config(config);
        self
    }

    /// Whether faults of the flow of keys and exits are refused. Default `true`; see
    /// [`BlockBuilder::flow_checks`](crate::builders::build::BlockBuilder::flow_checks).
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.flow_checks = yes;
        self
    }

    /// The agent with a runner and a session.
    ///
    /// # Errors
    /// When something is wrong with the agent, of kind `Config`, whose source is the [`BuildError`] with all faults; when
    /// the runner refuses the model or the app's name; when the state of the session is no object.
    pub fn build(mut self) -> Result<BuiltAgent<P>> {
        let state = self.take_state()?;
        let agent = self.tree(&state)?;
        let mut builder = self.runner;
        if let Some(model) = self.model {
            builder = builder.model(model);
        }
        let runner = builder.build()?;
        let session = runner.session("user", IdSeed::new().run(now_micros()).to_string());
        let runner = AgentRunner {
            runner,
            agent: agent.clone(),
            session: session.clone(),
            state,
            made: Arc::default(),
        };
        Ok(BuiltAgent { agent, runner, session })
    }

    fn take_state(&mut self) -> Result<StateDelta> {
        match self.state.take().transpose()? {
            None => Ok(StateDelta::default()),
            Some(Value::Object(state)) => Ok(state.into_iter().collect()),
            Some(_) => Err(Error::new(ErrorKind::Config, "the state of the quick session is no object")
                .with_help("give it keys with values, as in `with_quick_session(json!({\"draft\": \"\"}))`")),
        }
    }

    fn tree(&mut self, state: &StateDelta) -> Result<Tree, BuildError> {
        let name = std::mem::take(&mut self.name);
        let description = std::mem::take(&mut self.description);
        let shape = std::mem::replace(&mut self.shape, Shape::Single);
        let faults = match shape {
            Shape::Single => Vec::new(),
            _ => self.said.iter().map(|word| no_single(&name, word)).collect(),
        };
        let part = match shape {
            Shape::Single => std::mem::take(&mut self.agent).description(description).into_agent(),
            Shape::Given(agent) => agent,
            Shape::Sequence(agents) => {
                SequentialAgent::builder(name).description(description).sub_agents(agents).into_agent()
            }
            Shape::Parallel(agents) => {
                ParallelAgent::builder(name).description(description).sub_agents(agents).into_agent()
            }
            Shape::Loop(agents, max) => {
                let block = LoopAgent::builder(name).description(description).sub_agents(agents);
                match max {
                    Some(max) => block.max_iterations(max).into_agent(),
                    None => block.into_agent(),
                }
            }
        };
        let states = state.iter().map(|(key, value)| key_of(key, value)).collect();
        Tree::checked(part, states, self.flow_checks, faults)
    }
}

fn no_single(name: &str, word: &str) -> Fault {
    let fact = format!(
        "`{word}` is for a single agent, and `{name}` is made of several; help: say it of one of them"
    );
    Fault::new(Check::FieldUnknown, name, fact)
}

impl<P> fmt::Debug for AgentBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("app", &self.app).finish_non_exhaustive()
    }
}
