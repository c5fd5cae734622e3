//! [`AgentBuilder`]: builds an agent with its runner and its session.

use super::{AgentRunner, BuiltAgent};
use crate::build::{
    BuildError, IntoAgent, IntoAgents, LlmAgent, LlmAgentBuilder, LoopAgent, ParallelAgent,
    SequentialAgent, SubAgent, Tree, TreeGuards, key_of,
};
use adk_core::__private::build::{IdSeed, now_micros, to_json};
use adk_core::check::{Check, Diagnostic};
use adk_core::model::{ModelProvider, ModelRef, NoProvider};
use adk_core::runner::{Runner, RunnerBuilder};
use adk_core::session::SessionStore;
use adk_core::tool::DynTool;
use adk_core::{ArtifactStore, Error, ErrorKind, Name, Result, RunConfig, StateDelta, Store};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Builds an agent, its runner and its session in one chain, like the `AgentBuilder` of @iqai/adk.
///
/// ```
/// # use adk_build as adk;
/// # use adk::testing::ScriptedModel;
/// use adk::llm::LlmAgent;
/// # type AgentBuilder = adk::AgentBuilder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> adk::Result<()> {
/// # let model = ScriptedModel::new()
/// #     .on("analyzer").text("3 of 10").text("9 of 10")
/// #     .on("improver").text("better").text("best");
/// let analyzer = LlmAgent::builder("analyzer")
///     .instruction("How good is it?")
///     .output_key("quality_score");
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
    /// The name of the app as the name of an agent.
    name: String,
    agent: LlmAgentBuilder,
    /// The called methods that are for a single agent only.
    single_calls: Vec<&'static str>,
    description: String,
    shape: Shape,
    model: Option<ModelRef>,
    runner: RunnerBuilder<P>,
    state: Option<Result<Value>>,
    flow_checks: bool,
    guards: TreeGuards,
}

enum Shape {
    /// One LLM agent.
    Single,
    Sequence(Vec<SubAgent>),
    Parallel(Vec<SubAgent>),
    Loop(Vec<SubAgent>, Option<u32>),
    /// An agent from outside.
    Agent(SubAgent),
}

impl<P: ModelProvider + Default> AgentBuilder<P> {
    /// Creates a builder for an app. The agent gets the name of the app, with `_` for `-`. If the
    /// result is not a valid name, [`build`](Self::build) rejects it (`name-invalid`).
    pub fn create(name: impl Into<String>) -> Self {
        let app = name.into();
        let name = app.replace('-', "_");
        Self {
            agent: LlmAgent::builder(name.clone()),
            runner: Runner::builder().app_name(&*app),
            app,
            name,
            single_calls: Vec::new(),
            description: String::new(),
            shape: Shape::Single,
            model: None,
            state: None,
            flow_checks: true,
            guards: TreeGuards::default(),
        }
    }

    /// Sets the model of all agents that name no model: by name, or by value.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<ModelRef>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the description of the agent, which models see.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the prompt of a single agent.
    #[must_use]
    pub fn with_instruction(self, prompt: impl Into<String>) -> Self {
        self.change_single("with_instruction", |agent| {
            agent.instruction(Into::<String>::into(prompt))
        })
    }

    /// Adds tools to a single agent.
    #[must_use]
    pub fn with_tools(self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.change_single("with_tools", |agent| agent.tools(tools))
    }

    /// Adds a tool to a single agent.
    #[must_use]
    pub fn with_tool(self, tool: impl DynTool) -> Self {
        self.change_single("with_tool", |agent| agent.tool(tool))
    }

    /// Sets the key that receives the answer of a single agent.
    #[must_use]
    pub fn with_output_key(self, key: impl Into<Name>) -> Self {
        self.change_single("with_output_key", |agent| agent.output_key(key))
    }

    /// Sets the JSON schema of the answer of a single agent.
    #[must_use]
    pub fn with_output_schema(self, schema: Value) -> Self {
        self.change_single("with_output_schema", |agent| agent.output_schema(schema))
    }

    /// Adds agents to which a single agent may hand over.
    #[must_use]
    pub fn with_sub_agents<M>(self, agents: impl IntoAgents<M>) -> Self {
        self.change_single("with_sub_agents", |agent| agent.sub_agents(agents))
    }

    fn change_single(
        mut self,
        word: &'static str,
        change: impl FnOnce(LlmAgentBuilder) -> LlmAgentBuilder,
    ) -> Self {
        self.agent = change(self.agent);
        self.single_calls.push(word);
        self
    }

    /// Runs these agents in order.
    #[must_use]
    pub fn as_sequential<M>(self, agents: impl IntoAgents<M>) -> Self {
        self.with_shape(Shape::Sequence(agents.into_agents()))
    }

    /// Runs these agents concurrently.
    #[must_use]
    pub fn as_parallel<M>(self, agents: impl IntoAgents<M>) -> Self {
        self.with_shape(Shape::Parallel(agents.into_agents()))
    }

    /// Runs these agents round by round, at most `max_iterations` times. With `None`, the loop runs
    /// until an agent ends it.
    #[must_use]
    pub fn as_loop<M>(
        self,
        agents: impl IntoAgents<M>,
        max_iterations: impl Into<Option<u32>>,
    ) -> Self {
        self.with_shape(Shape::Loop(agents.into_agents(), max_iterations.into()))
    }

    /// Runs an existing agent under its own name.
    #[must_use]
    pub fn with_agent<M>(self, agent: impl IntoAgent<M>) -> Self {
        self.with_shape(Shape::Agent(agent.into_agent()))
    }

    fn with_shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the initial state of the session: an object, `json!({"draft": ""})`, or a struct.
    /// Prompts may read its keys.
    #[must_use]
    pub fn with_quick_session(mut self, state: impl Serialize) -> Self {
        let state = to_json(&state);
        self.state = Some(state.map_err(|error| {
            error.into_error(ErrorKind::NotJson, "the state of the quick session")
        }));
        self
    }

    /// Sets the store of sessions, runs, waits, artifacts and memory, as [`RunnerBuilder::store`]
    /// does.
    #[must_use]
    pub fn with_store(mut self, store: impl Store) -> Self {
        self.runner = self.runner.store(store);
        self
    }

    /// Replaces the session store, as [`RunnerBuilder::session_store`] does.
    #[must_use]
    pub fn with_session_store(mut self, store: impl Into<Arc<dyn SessionStore>>) -> Self {
        self.runner = self.runner.session_store(store);
        self
    }

    /// Replaces the artifact store, as [`RunnerBuilder::artifact_store`] does.
    #[must_use]
    pub fn with_artifact_store(mut self, store: impl Into<Arc<dyn ArtifactStore>>) -> Self {
        self.runner = self.runner.artifact_store(store);
        self
    }

    /// Sets the configuration of the runs.
    #[must_use]
    pub fn with_run_config(mut self, config: RunConfig) -> Self {
        self.runner = self.runner.config(config);
        self
    }

    /// Sets whether faults in the flow of keys and exits are rejected. Default: `true`; see
    /// [`BlockBuilder::flow_checks`](crate::build::BlockBuilder::flow_checks).
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.flow_checks = yes;
        self
    }

    /// Sets the rules about text that strangers wrote, [`TreeGuards`], or whether text of strangers
    /// that may steer an action is rejected. Default: `true`; see
    /// [`BlockBuilder::guards`](crate::build::BlockBuilder::guards).
    #[must_use]
    pub fn guards(mut self, guards: impl Into<TreeGuards>) -> Self {
        self.guards = guards.into();
        self
    }

    /// Builds the agent with a runner and a session.
    ///
    /// # Errors
    /// Fails if the agent has faults: the error is of kind `Config`, and its source is the
    /// [`BuildError`] with all faults. Fails too if the runner rejects the model or the name of the
    /// app, or if the state of the session is not an object.
    pub fn build(mut self) -> Result<BuiltAgent<P>> {
        let state = self.take_state()?;
        let agent = self.tree(&state)?;
        let mut builder = self.runner;
        if let Some(model) = self.model {
            builder = builder.model(model);
        }
        let runner = builder.build()?;
        let session = runner.session("user", IdSeed::random().run(now_micros()).to_string());
        let runner = AgentRunner {
            runner,
            agent: agent.clone(),
            session: session.clone(),
            state,
            made: Arc::default(),
        };
        Ok(BuiltAgent {
            agent,
            runner,
            session,
        })
    }

    fn take_state(&mut self) -> Result<StateDelta> {
        match self.state.take().transpose()? {
            None => Ok(StateDelta::default()),
            Some(Value::Object(state)) => Ok(state.into_iter().collect()),
            Some(_) => Err(Error::new(
                ErrorKind::Config,
                "the state of the quick session is no object",
            )
            .with_help(
                "give it keys with values, as in `with_quick_session(json!({\"draft\": \"\"}))`",
            )),
        }
    }

    fn tree(&mut self, state: &StateDelta) -> Result<Tree, BuildError> {
        let name = std::mem::take(&mut self.name);
        let description = std::mem::take(&mut self.description);
        let shape = std::mem::replace(&mut self.shape, Shape::Single);
        let guards = std::mem::take(&mut self.guards);
        let mut faults: Vec<_> = match shape {
            Shape::Single => Vec::new(),
            _ => self
                .single_calls
                .iter()
                .map(|word| single_agent_fault(&name, word))
                .collect(),
        };
        if matches!(shape, Shape::Agent(_)) && guards.has_rules() {
            faults.push(outer_guards_fault(&name));
        }
        let part = match shape {
            Shape::Single => std::mem::take(&mut self.agent)
                .description(description)
                .guards(guards.clone())
                .into_agent(),
            Shape::Agent(agent) => agent,
            Shape::Sequence(agents) => SequentialAgent::builder(name)
                .description(description)
                .sub_agents(agents)
                .into_agent(),
            Shape::Parallel(agents) => ParallelAgent::builder(name)
                .description(description)
                .sub_agents(agents)
                .into_agent(),
            Shape::Loop(agents, max) => {
                let block = LoopAgent::builder(name)
                    .description(description)
                    .sub_agents(agents);
                match max {
                    Some(max) => block.max_iterations(max).into_agent(),
                    None => block.into_agent(),
                }
            }
        };
        let states = state
            .iter()
            .map(|(key, value)| key_of(key, value))
            .collect();
        Tree::from_part(part, states, (self.flow_checks, guards), faults)
    }
}

fn single_agent_fault(name: &str, word: &str) -> Diagnostic {
    let fact = format!(
        "`{word}` is for a single agent, and `{name}` is made of several; help: set it on one of \
         them"
    );
    Diagnostic::new(Check::FieldUnknown, name, fact)
}

/// Returns the fault of rules for an agent that is built already: a run of an agent that hands over
/// starts at the agent, which does not know the rules.
fn outer_guards_fault(name: &str) -> Diagnostic {
    let fact = format!(
        "`guards` of `{name}` has rules for an agent that is built already; help: give them to the \
         builder of that agent"
    );
    Diagnostic::new(Check::FieldUnknown, name, fact)
}

impl<P> fmt::Debug for AgentBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("app", &self.app)
            .finish_non_exhaustive()
    }
}
