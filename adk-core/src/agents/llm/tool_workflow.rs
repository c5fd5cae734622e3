//! [`ToolWorkflow`]: a workflow that only calls a tool.

use super::agent::{LlmAgent, LlmDecl};
use super::answer::reply::mark_long_running;
use super::calls::{self, CallOutcome, CallRecord};
use super::request::OWN_ID;
use super::results::{self, response_event, response_part};
use super::toolbox::Toolbox;
use crate::Flow;
use crate::runtime::agent::{AnnouncedKeys, DynAgent};
use crate::runtime::resources::Needs;
use crate::runtime::run::{Context, Prepare};
use crate::runtime::tool::{Tool, ToolActions, ToolArgs};
use crate::runtime::workflow::{Form, Keys, Values, Workflow};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Error, ErrorKind, Event, Name, Result};
use crate::{Content, FunctionCall, Part, Role};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The key of the arguments.
const ARGUMENTS: &str = "arguments";

/// The key of the result.
const RESULT: &str = "result";

/// A tool as a workflow: the arguments are its inputs, the result is its output. The workflow calls
/// no model.
///
/// The call works like the call of an agent: it is recorded, has the `timeout` and `retry` of the
/// tool, waits for a confirmation if the tool has `confirm`, and gets a later response if the tool
/// is `long_running`. A failed call fails the run. The run stores arguments and result in the keys
/// `arguments` and `result`.
///
/// ```
/// # use adk_core as adk;
/// use adk::{Runner, ToolWorkflow, tools::load_artifacts};
/// let workflow = ToolWorkflow::new(load_artifacts::default());
/// let runner: Runner = Runner::builder().workflow(workflow).build()?;
/// assert_eq!(runner.workflows().next().expect("a workflow").name(), "load_artifacts");
/// # Ok::<(), adk::Error>(())
/// ```
pub struct ToolWorkflow<T> {
    /// An agent that has the tool and calls no model.
    agent: LlmAgent,
    tool: PhantomData<fn() -> T>,
}

impl<T: Tool> ToolWorkflow<T> {
    const META: AgentMeta<'static> = AgentMeta::custom(T::META.name)
        .description(T::META.description)
        .resources(T::META.resources)
        .labels(T::META.labels);
    const DECL: LlmDecl = LlmDecl::new(Self::META);

    /// Creates a workflow with the name and the description of the tool.
    pub fn new(tool: T) -> Self {
        let mut agent = LlmAgent::from_declaration(const { &Self::DECL });
        agent.settings.tools.0.push(Arc::new(tool));
        Self {
            agent,
            tool: PhantomData,
        }
    }
}

impl<T: Tool> DynAgent for ToolWorkflow<T> {
    fn meta(&self) -> &AgentMeta<'_> {
        const { &Self::META }
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let ran = run(&self.agent, cx).await;
            ran.map(|()| Flow::Continue)
                .map_err(|error| error.at(cx.path()))
        })
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        prepare.needs_resources(T::META.resources);
    }

    /// Allows all keys, because the context of the tool checks the writes of the tool.
    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::anything()
    }
}

/// Calls the tool.
async fn run(agent: &LlmAgent, cx: &mut Context) -> Result<()> {
    // The agent has only one tool.
    let name: String = agent
        .tools()
        .map(|tool| tool.declaration_dyn().name.as_str())
        .collect();
    let args = match cx.run.get(ARGUMENTS).as_deref() {
        Some(Value::Object(args)) => args.clone(),
        _ => ToolArgs::new(),
    };
    // Derived from the position in the run, so that a resumed run generates the same id.
    let id = format!("{OWN_ID}{:x}-{}", cx.run_id().as_u128(), cx.path());
    let call = Arc::new(FunctionCall {
        id,
        name: name.clone(),
        args,
        ..FunctionCall::default()
    });
    let part = Part::FunctionCall(call.clone());
    let mut event = Event::new().with_content(Content::new(Role::Model, vec![part]));
    let (tools, calls) = (Toolbox::with_own_tools(agent), vec![call]);
    let open = mark_long_running(&mut event, &calls, &tools, cx);
    cx.emit(event).await?;
    let called = calls::make(&tools, &calls, cx).await?.all;
    let (mut actions, mut result) = (ToolActions::default(), CallOutcome::Value(Value::Null));
    for called in called {
        let CallRecord {
            result: given,
            left,
            ..
        } = called?;
        results::take_record(left, None, &[], &mut actions, cx);
        result = given;
    }
    cx.check_limits()?;
    let responses = calls.iter().map(|call| response_part(call, result.clone()));
    let mut event =
        response_event(&actions).with_content(Content::new(Role::User, responses.collect()));
    if let (CallOutcome::Value(value), true) = (&result, open.is_empty()) {
        event = event.with_state(RESULT, value.clone());
    }
    cx.emit(event).await?;
    if let CallOutcome::Error(error) = result {
        return Err(Error::new(
            ErrorKind::Agent,
            format!("tool `{name}`: {error}"),
        ));
    }
    if !open.is_empty() {
        let values = results::wait_for_responses(open, cx).await?;
        cx.emit(Event::new().with_state(RESULT, values.into_iter().next().unwrap_or_default()))
            .await?;
    }
    Ok(())
}

/// A run checks the tool's resources when it starts.
impl<T, R: ?Sized> Needs<R> for ToolWorkflow<T> {}

impl<T: Tool> Workflow for ToolWorkflow<T> {
    type Input = ToolArgs;
    type Output = Value;

    fn as_agent(&self) -> &dyn DynAgent {
        self
    }

    /// As a tool of an agent, the workflow uses the state of the session.
    fn is_closed(&self) -> bool {
        false
    }

    fn begin(&self, input: ToolArgs, keys: &mut Keys) -> Result<()> {
        keys.message(Content::user(Value::Object(input.clone()).to_string()));
        keys.set_shared(Name::literal(ARGUMENTS), Arc::new(Value::Object(input)));
        Ok(())
    }

    fn finish(&self, values: &Values<'_>) -> Result<Value> {
        values.get(RESULT)
    }

    fn form(&self, form: &mut Form) -> Option<ToolArgs> {
        form.output(RESULT, "", None);
        let tool = self.agent.tools().next()?;
        form.arguments(&tool.declaration_dyn().parameters)
    }
}

impl<T: Tool> fmt::Debug for ToolWorkflow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolWorkflow({})", T::META.name)
    }
}
