//! A workflow for the runtime, with agents that follow their plans.

use super::actor::{Actor, asks};
use super::desk::desk;
use super::plan;
use crate::marks::parrot::Parrot;
use crate::spec::{Store, of_agent, of_flow, spec};
use crate::tree::{Agent, Flow, Nested, Node};
use adk_build::__private::workflow::{self, Form, Keys, StepTable, Values};
use adk_build::Workflow;
use adk_build::callback::{AgentCallbacks, CallbackContext};
use adk_build::spec::{AgentMeta, Spec, StepKind};
use adk_build::{BoxFuture, Content, Context, DynAgent, Flow as Ended, Prepare, Result};
use serde_json::Value;
use std::sync::Arc;

/// Data that all parts of a workflow share.
#[derive(Clone, Copy)]
pub struct Builder {
    pub store: &'static Store<'static>,
    pub seed: u64,
    /// The observer of hostile models.
    pub parrot: Option<&'static Parrot>,
}

impl Builder {
    pub fn leaked(&self, text: String) -> &'static str {
        Box::leak(text.into_boxed_str())
    }

    /// Builds an agent without its surroundings.
    pub fn agent(&self, agent: &'static Agent, handled: bool) -> Arc<dyn DynAgent> {
        if let Some(parrot) = self.parrot.filter(|_| agent.patience.is_none()) {
            return parrot.agent(agent, self, handled);
        }
        if agent.model {
            return Arc::new(desk(agent, self));
        }
        if agent.patience.is_some() {
            return Arc::new(asks(agent));
        }
        Arc::new(Actor {
            agent,
            meta: of_agent(agent, self.store),
            seed: self.seed,
            handled,
        })
    }
}

pub struct Tree {
    flow: &'static Flow,
    spec: Spec<'static>,
    meta: &'static AgentMeta<'static>,
    agents: Vec<Option<Arc<dyn DynAgent>>>,
    callbacks: Vec<Option<AgentCallbacks>>,
    seed: u64,
    parrot: Option<&'static Parrot>,
}

impl Tree {
    /// Builds the running workflow.
    pub fn root(flow: &'static Flow, build: &Builder) -> Self {
        Self::build(flow, build, false)
    }

    /// Builds a nested workflow.
    pub fn new(nested: &'static Nested, build: &Builder, handled: bool) -> Self {
        Self::build(&nested.flow, build, handled)
    }

    fn build(flow: &'static Flow, build: &Builder, handled: bool) -> Self {
        let spec = spec(flow, build.store);
        let mut placed = Vec::new();
        place(&flow.body, handled, build, &mut placed);
        let mut placed = placed.into_iter();
        let agents = spec.steps.iter().map(|step| match step.kind {
            StepKind::Agent { .. } => placed.next(),
            _ => None,
        });
        let agents = agents.collect();
        let callbacks = spec
            .steps
            .iter()
            .map(|step| step.skippable.then(|| skipping(build.seed)))
            .collect();
        Self {
            flow,
            spec,
            meta: of_flow(flow, build.store),
            agents,
            callbacks,
            seed: build.seed,
            parrot: build.parrot,
        }
    }
}

/// Adds the agents in the order of the steps.
fn place(
    nodes: &'static [Node],
    handled: bool,
    build: &Builder,
    placed: &mut Vec<Arc<dyn DynAgent>>,
) {
    for node in nodes {
        match node {
            Node::Run(agent) => placed.push(build.agent(agent, handled)),
            Node::Nested(nested) => placed.push(Arc::new(Tree::new(nested, build, handled))),
            Node::Break(_) | Node::Nothing => {}
            Node::Block(block) => place(
                &block.inside,
                handled || plan::takes_errors(block),
                build,
                placed,
            ),
        }
    }
}

/// Returns callbacks that sometimes replace their block.
fn skipping(seed: u64) -> AgentCallbacks {
    let mut callbacks = AgentCallbacks::default();
    callbacks.before(move |cx: &mut CallbackContext| -> Result<Option<Content>> {
        Ok(plan::skips(seed, &cx.path().to_string()).then(|| Content::from("skipped")))
    });
    callbacks
}

impl StepTable for Tree {
    fn spec(&self) -> &Spec<'_> {
        &self.spec
    }
    fn agent(&self, step: usize) -> Option<&dyn DynAgent> {
        self.agents.get(step)?.as_deref()
    }
    fn callbacks(&self, step: usize) -> Option<&AgentCallbacks> {
        self.callbacks.get(step)?.as_ref()
    }
    fn max(&self, step: usize) -> Option<u32> {
        if let Some(parrot) = self.parrot {
            return parrot.gives_up().then_some(1);
        }
        matches!(self.spec.steps[step].kind, StepKind::Loop { max: None, .. })
            .then_some(plan::ROUNDS)
    }
    fn select(&self, step: usize, value: &Value) -> Result<usize> {
        let (mut arms, mut at) = (0, step + 1);
        while at < self.spec.steps[step].end {
            (arms, at) = (arms + 1, self.spec.steps[at].end + 1);
        }
        Ok(plan::arm(value, arms))
    }
    fn lets(&self, keys: &mut Keys) -> Result<()> {
        let place = format!("{} let", self.flow.name);
        self.flow
            .lets
            .iter()
            .try_for_each(|key| keys.set(key, &plan::value(self.seed, &place, key)))
    }
    fn form(&self, form: &mut Form) {
        let place = format!("{} default", self.flow.name);
        for (key, _) in self
            .flow
            .inputs
            .iter()
            .filter(|(_, has_default)| *has_default)
        {
            form.default_value(key, || plan::value(self.seed, &place, key));
        }
    }
}

impl DynAgent for Tree {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Ended>> {
        Box::pin(workflow::run(self, cx))
    }
    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        workflow::prepare(self, prepare);
    }
}

impl<R: ?Sized> adk_build::Needs<R> for Tree {}

impl Workflow for Tree {
    type Input = ();
    type Output = ();

    fn as_agent(&self) -> &dyn DynAgent {
        self
    }
    fn begin(&self, (): (), keys: &mut Keys) -> Result<()> {
        let value = |key| match self.parrot {
            Some(parrot) => parrot.value(parrot.guard(key), "input", key),
            None => plan::value(self.seed, "input", key),
        };
        self.flow
            .inputs
            .iter()
            .try_for_each(|(key, _)| keys.input(key, &value(key)))?;
        self.lets(keys)
    }
    fn finish(&self, values: &Values<'_>) -> Result<()> {
        let mut sure = self.flow.outputs.iter();
        sure.try_for_each(|key| values.get::<Value>(key).map(drop))
    }
    fn form(&self, _: &mut Form) -> Option<()> {
        Some(())
    }
}
