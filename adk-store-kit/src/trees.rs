//! [`Tree`]: workflows that are wired by hand like those of `workflow!`, without the macros. The
//! promises run them, and so do the tests of the runtime.

use adk_build::__private::workflow::{self, Form, Keys, StepTable, Values};
use adk_build::Workflow;
use adk_build::callback::AgentCallbacks;
use adk_build::model::Usage;
use adk_build::spec::{
    AgentKind, AgentMeta, Attempts, Guards, InputSpec, KeySpec, Limits, OnError, Over, Renames,
    SkipLimit, Spec, Step, StepKind, ToolMeta,
};
use adk_build::{
    AnnouncedKeys, BoxFuture, Context, DynAgent, Error, ErrorKind, Event, Flow, Name, Outcome,
    Prepare, Result, Runner,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// The work of a hand-written agent.
pub type Body = Box<dyn for<'a> Fn(&'a mut Context) -> BoxFuture<'a, Result<Flow>> + Send + Sync>;

/// A hand-written agent.
pub struct By {
    /// Its description.
    pub meta: AgentMeta<'static>,
    body: Body,
}

/// Makes an agent from a closure. It may end a loop.
pub fn by<F>(name: &'static str, body: F) -> By
where
    F: for<'a> Fn(&'a mut Context) -> BoxFuture<'a, Result<Flow>> + Send + Sync + 'static,
{
    By {
        meta: AgentMeta::custom(name).may_exit(true),
        body: Box::new(body),
    }
}

/// Makes an agent that emits its name.
pub fn say(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text(name)).await?;
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent that emits its name and ends the loop.
pub fn exit(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text(name)).await?;
            Ok(Flow::Exit)
        })
    })
}

/// Makes an agent that writes a computed value to the key that it declares.
pub fn put<T, F>(name: &'static str, key: &'static str, value: F) -> By
where
    T: Into<Value> + Send,
    F: Fn(&mut Context) -> T + Send + Sync + 'static,
{
    let mut agent = by(name, move |cx| {
        let event = Event::new().with_state(key, value(cx));
        Box::pin(async move { cx.emit(event).await.map(|_| Flow::Continue) })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(key, "Value")])));
    agent
}

/// Returns the events of a run, except the user's: paths with written keys; the error at the end.
pub async fn trace(tree: &Tree) -> Vec<String> {
    let runner: Runner = Runner::builder().build().unwrap();
    let mut stream = runner.run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) if event.author == "user" => {}
            Ok(event) => {
                let keys = event
                    .actions
                    .state_delta
                    .iter()
                    .map(|(key, value)| format!(" {key}={value}"));
                all.push(event.path.to_string() + &keys.collect::<String>());
            }
            Err(error) => all.push(error.to_string()),
        }
    }
    all
}

/// Returns the usage of each agent of a run.
///
/// # Errors
/// When the usage of the agents does not add up to the usage of the run.
pub fn usage_of_agents<T>(outcome: &Outcome<T>) -> Result<BTreeMap<Name, Usage>, String> {
    let agents = outcome.cost_by_agent();
    let mut sum = Usage::default();
    agents.values().for_each(|usage| sum += *usage);
    if sum == outcome.usage {
        return Ok(agents);
    }
    Err(format!(
        "the run has used {:?}, its agents {agents:?}",
        outcome.usage
    ))
}

impl DynAgent for By {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        (self.body)(cx)
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
    /// The closure of a test may set any key.
    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::anything()
    }
}

/// A step of a tree.
pub enum Node {
    /// An agent under a name, with other names for its keys.
    Run(&'static str, Box<dyn DynAgent>, Renames<'static>),
    /// A block with its steps.
    Block(&'static str, StepKind<'static>, Vec<Node>),
    /// A match whose arm `n` is for the number `n`.
    Match(&'static str, &'static str, Vec<Vec<Node>>),
    /// Ends the innermost loop, or the loop of that name.
    Break(Option<&'static str>),
}

/// Runs an agent under its own name.
pub fn run(agent: impl DynAgent + 'static) -> Node {
    let name: &'static str = Box::leak(agent.meta().name.to_owned().into_boxed_str());
    named(name, agent)
}

/// Runs an agent under this name.
pub fn named(name: &'static str, agent: impl DynAgent + 'static) -> Node {
    Node::Run(name, Box::new(agent), Renames::NONE)
}

/// Wraps an instance with other keys: the keys that it reads, and the keys that it writes in the
/// order of its description.
pub fn renamed(
    name: &'static str,
    agent: impl DynAgent + 'static,
    reads: &'static [(&'static str, &'static str)],
    writes: &'static [&'static str],
) -> Node {
    Node::Run(name, Box::new(agent), Renames::new(reads, writes))
}

/// Runs steps in order.
pub fn sequence(name: &'static str, inside: Vec<Node>) -> Node {
    Node::Block(name, StepKind::Sequence, inside)
}

/// Repeats steps, at most `max` times.
pub fn repeat(name: &'static str, max: Option<u32>, inside: Vec<Node>) -> Node {
    Node::Block(name, StepKind::Loop { max, until: None }, inside)
}

/// Repeats steps until a key is true.
pub fn until(name: &'static str, key: &'static str, inside: Vec<Node>) -> Node {
    Node::Block(
        name,
        StepKind::Loop {
            max: None,
            until: Some(key),
        },
        inside,
    )
}

/// Runs steps concurrently.
pub fn parallel(name: &'static str, inside: Vec<Node>) -> Node {
    Node::Block(
        name,
        StepKind::Parallel {
            max_concurrency: None,
            first: false,
        },
        inside,
    )
}

/// Runs at most `limit` steps concurrently.
pub fn limited(name: &'static str, limit: u32, inside: Vec<Node>) -> Node {
    Node::Block(
        name,
        StepKind::Parallel {
            max_concurrency: Some(limit),
            first: false,
        },
        inside,
    )
}

/// Runs the arm whose number a key holds.
pub fn select(name: &'static str, key: &'static str, arms: Vec<Vec<Node>>) -> Node {
    Node::Match(name, key, arms)
}

/// Runs steps for each element of a list.
pub fn each(name: &'static str, item: &'static str, list: &'static str, inside: Vec<Node>) -> Node {
    Node::Block(
        name,
        StepKind::Each {
            item,
            list,
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        },
        inside,
    )
}

/// Makes a `try`, with its `else` unless that is empty.
pub fn attempts(
    name: &'static str,
    limits: Attempts,
    body: Vec<Node>,
    otherwise: Vec<Node>,
) -> Node {
    let mut inside = body;
    if !otherwise.is_empty() {
        inside.push(Node::Block("", StepKind::Else, otherwise));
    }
    Node::Block(name, StepKind::Try(limits), inside)
}

/// Runs steps concurrently until the first ends.
pub fn first(name: &'static str, inside: Vec<Node>) -> Node {
    Node::Block(
        name,
        StepKind::Parallel {
            max_concurrency: None,
            first: true,
        },
        inside,
    )
}

type Value0 = (&'static str, Value);

/// A workflow whose input is one `String` key `topic`, and whose output is the whole state.
pub struct Tree {
    spec: Spec<'static>,
    meta: AgentMeta<'static>,
    agents: Vec<Option<Box<dyn DynAgent>>>,
    targets: Vec<Box<dyn DynAgent>>,
    lets: Vec<Value0>,
    defaults: Vec<Value0>,
    panics: bool,
    blocks: Vec<(&'static str, AgentCallbacks)>,
    unchecked: bool,
}

impl Tree {
    /// Creates a workflow with the input `topic`.
    pub fn new(name: &'static str, body: Vec<Node>) -> Self {
        Self::with_keys(
            name,
            const { &[InputSpec::new("topic", "String", false)] },
            &[],
            body,
        )
    }

    /// Creates a workflow with these inputs and outputs.
    pub fn with_keys(
        name: &'static str,
        inputs: &'static [InputSpec<'static>],
        outputs: &'static [KeySpec<'static>],
        body: Vec<Node>,
    ) -> Self {
        let (mut steps, mut agents) = (Vec::new(), Vec::new());
        flatten(body, &mut steps, &mut agents);
        let steps: &'static [Step<'static>] = Box::leak(steps.into_boxed_slice());
        let reads: Vec<_> = inputs
            .iter()
            .map(|i| KeySpec::new(i.name, i.ty).optional(i.has_default))
            .collect();
        let meta = AgentMeta::new(AgentKind::Workflow, name)
            .description("Serves a test.")
            .reads(Box::leak(reads.into_boxed_slice()))
            .writes(outputs)
            .steps(steps);
        let spec = Spec::new(name, "", steps).inputs(inputs).outputs(outputs);
        Self {
            spec,
            meta,
            agents,
            targets: Vec::new(),
            lets: Vec::new(),
            defaults: Vec::new(),
            panics: false,
            blocks: Vec::new(),
            unchecked: false,
        }
    }

    /// Adds a transfer target.
    pub fn target(mut self, agent: impl DynAgent + 'static) -> Self {
        self.targets.push(Box::new(agent));
        self
    }

    /// Sets the initial value of a key.
    pub fn lets(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.lets.push((key, value.into()));
        self
    }

    /// Declares keys of the session.
    pub fn states(mut self, keys: &'static [KeySpec<'static>]) -> Self {
        self.meta.states = keys;
        self.spec = self.spec.states(keys);
        self
    }

    /// Sets the guards.
    pub fn guards(mut self, guards: &'static Guards<'static>) -> Self {
        self.meta.guards = Some(guards);
        self.spec = self.spec.guards(Some(guards));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.spec = self.spec.limits(limits);
        self
    }

    /// Adds a `let` whose expression panics.
    pub fn panics(mut self) -> Self {
        self.panics = true;
        self
    }

    /// Sets callbacks of a block.
    pub fn on(mut self, block: &'static str, set: impl FnOnce(&mut AgentCallbacks)) -> Self {
        let mut callbacks = AgentCallbacks::default();
        set(&mut callbacks);
        self.blocks.push((block, callbacks));
        self
    }

    /// Disables flow checks.
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// Sets the default of an input in its form.
    pub fn default_of(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.defaults.push((key, value.into()));
        self
    }
}

/// The prefix of the names of blocks that skip failed parts.
pub const SKIP: &str = "skip";

/// The prefix of the names of `each` blocks that skip one failed element.
pub const SKIP_ONE: &str = "skip_one";

fn flatten(
    nodes: Vec<Node>,
    steps: &mut Vec<Step<'static>>,
    agents: &mut Vec<Option<Box<dyn DynAgent>>>,
) {
    for node in nodes {
        let at = steps.len();
        match node {
            Node::Run(name, agent, renames) => {
                let meta = copied(agent.meta());
                let step = Step::new(
                    name,
                    StepKind::Agent {
                        meta,
                        instance: false,
                    },
                    at,
                );
                steps.push(step.renames(renames));
                agents.push(Some(agent));
            }
            Node::Match(name, key, arms) => {
                steps.push(Step::new(name, StepKind::Match { key }, at).skippable(true));
                agents.push(None);
                for arm in arms {
                    flatten(
                        vec![Node::Block("", StepKind::Arm { pattern: "_" }, arm)],
                        steps,
                        agents,
                    );
                }
                steps[at].end = steps.len();
                steps.push(Step::new("", StepKind::End, steps.len()));
                agents.push(None);
            }
            Node::Break(target) => {
                steps.push(Step::new("", StepKind::Break { target }, at));
                agents.push(None);
            }
            Node::Block(name, kind, inside) => {
                // The flow of these trees is not checked, so any block may be skipped.
                let on_error = if name.starts_with(SKIP_ONE) {
                    OnError::SkipAtMost(SkipLimit::Elements(1))
                } else if name.starts_with(SKIP) {
                    OnError::Skip
                } else {
                    OnError::Fail
                };
                steps.push(Step::new(name, kind, at).skippable(true).on_error(on_error));
                agents.push(None);
                let branches = matches!(kind, StepKind::Parallel { .. });
                for node in inside {
                    let open = steps.len();
                    if branches {
                        steps.push(Step::new("", StepKind::Branch, open));
                        agents.push(None);
                    }
                    flatten(vec![node], steps, agents);
                    if branches {
                        steps[open].end = steps.len();
                        steps.push(Step::new("", StepKind::End, steps.len()));
                        agents.push(None);
                    }
                }
                steps[at].end = steps.len();
                steps.push(Step::new("", StepKind::End, steps.len()));
                agents.push(None);
            }
        }
    }
}

/// Copies a description and leaks it for the test.
fn copied(own: &AgentMeta<'_>) -> &'static AgentMeta<'static> {
    fn text(text: &str) -> &'static str {
        Box::leak(text.to_owned().into_boxed_str())
    }
    fn keys(keys: &[KeySpec<'_>]) -> &'static [KeySpec<'static>] {
        let keys = keys
            .iter()
            .map(|key| KeySpec::new(text(key.name), text(key.ty)).optional(key.optional));
        Box::leak(keys.collect())
    }
    let tools = own.tools.iter().map(|tool| match tool.agent {
        Some(agent) => ToolMeta::of_agent(copied(agent)),
        None => ToolMeta::new(text(tool.name), "").writes(keys(tool.writes)),
    });
    let meta = AgentMeta::new(own.kind, text(own.name))
        .reads(keys(own.reads))
        .writes(keys(own.writes));
    let mut meta = own.accepts.into_iter().fold(meta, AgentMeta::accepts);
    meta.schema = own.schema;
    Box::leak(Box::new(meta.tools(Box::leak(tools.collect()))))
}

impl StepTable for Tree {
    fn spec(&self) -> &Spec<'_> {
        &self.spec
    }
    fn name(&self, step: usize) -> adk_build::Name {
        adk_build::Name::literal(self.spec.steps[step].name)
    }
    fn agent(&self, step: usize) -> Option<&dyn DynAgent> {
        self.agents.get(step)?.as_deref()
    }
    fn target(&self, name: &str) -> Option<&dyn DynAgent> {
        self.targets
            .iter()
            .map(|agent| &**agent)
            .find(|agent| agent.meta().name == name)
    }
    fn callbacks(&self, step: usize) -> Option<&AgentCallbacks> {
        let name = self.spec.steps[step].name;
        self.blocks
            .iter()
            .find(|(block, _)| *block == name)
            .map(|(_, callbacks)| callbacks)
    }
    fn is_unchecked(&self) -> bool {
        self.unchecked
    }
    fn lets(&self, keys: &mut Keys) -> Result<()> {
        assert!(!self.panics, "the test requests a panic");
        self.lets
            .iter()
            .try_for_each(|(key, value)| keys.set(key, value))
    }
    fn select(&self, _: usize, value: &Value) -> Result<usize> {
        let number = value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| {
            Error::new(
                ErrorKind::KeyType,
                format!("expected a number, got {value}"),
            )
        })
    }
    fn form(&self, form: &mut Form) {
        for (key, value) in &self.defaults {
            form.default_value(key, || value.clone());
        }
    }
}

impl DynAgent for Tree {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(workflow::run(self, cx))
    }
    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        workflow::prepare(self, prepare);
    }
}

/// The tree is known only at run time.
impl adk_build::workflow::Live for Tree {}

impl<R: ?Sized> adk_build::Needs<R> for Tree {}

impl Workflow for Tree {
    type Input = String;
    type Output = ();

    fn as_agent(&self) -> &dyn DynAgent {
        self
    }
    fn begin(&self, input: String, keys: &mut Keys) -> Result<()> {
        if !self.spec.inputs.is_empty() {
            keys.input("topic", &input)?;
        }
        self.lets(keys)
    }
    fn finish(&self, _: &Values<'_>) -> Result<()> {
        Ok(())
    }
    fn form(&self, form: &mut Form) -> Option<String> {
        form.input("topic", "", None, Some(String::new))
    }
}
