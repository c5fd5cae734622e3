//! A workflow for the runtime.

use super::Wrong;
use super::agent::{Member, Scripted};
use super::person::Asking;
use super::stage::Stage;
use crate::reference::{SESSION, Scope, Storage};
use crate::spec::{Store, spec};
use crate::tree::{Agent, Block, Flow, Kind, Nested, Node};
use adk_build::__private::workflow::{self, Form, Keys, StepTable, Values};
use adk_build::Workflow;
use adk_build::callback::{AgentCallbacks, CallbackContext};
use adk_build::spec::{AgentMeta, Spec, StepKind};
use adk_build::{BoxFuture, Content, Context, DynAgent, Flow as Ended, Prepare, Result};
use serde_json::Value;

pub struct Tree<'a> {
    flow: &'a Flow,
    spec: Spec<'a>,
    meta: &'a AgentMeta<'a>,
    agents: Vec<Option<Box<dyn DynAgent + 'a>>>,
    callbacks: Vec<Option<AgentCallbacks>>,
    stage: Stage,
}

impl<'a> Tree<'a> {
    /// Builds the running workflow.
    pub fn root(flow: &'a Flow, stage: &Stage, store: &'a Store<'a>) -> Self {
        Self::new(flow, SESSION, stage, &mut Storage::new(), store)
    }

    fn new(
        flow: &'a Flow,
        scope: Scope,
        stage: &Stage,
        storage: &mut Storage,
        store: &'a Store<'a>,
    ) -> Self {
        let spec = spec(flow, store);
        let mut placed = Vec::new();
        place(&flow.body, scope, storage, &mut placed);
        let mut placed = placed.into_iter();
        let mut agents: Vec<Option<Box<dyn DynAgent + 'a>>> = Vec::new();
        for step in spec.steps {
            let StepKind::Agent { meta, .. } = step.kind else {
                agents.push(None);
                continue;
            };
            let agent: Option<Box<dyn DynAgent + 'a>> = placed.next().map(|placed| match placed {
                Placed::Agent(agent, scope) => {
                    let mut member =
                        |agent| Member::new(agent, &mut |key| storage.stored(scope, key));
                    let own = member(agent);
                    let below = agent.below().into_iter().map(member).collect();
                    let stage = stage.clone();
                    match agent.patience {
                        Some(_) => {
                            Box::new(Asking::new(agent, meta, stage, own.reads, own.writes)) as _
                        }
                        None => Box::new(Scripted {
                            own,
                            below,
                            meta,
                            stage,
                        }) as _,
                    }
                }
                Placed::Nested(nested, scope) => {
                    let inside = storage.nested(nested, scope);
                    let tree = Self::new(&nested.flow, inside, stage, storage, store);
                    Box::new(Self { meta, ..tree }) as _
                }
            });
            agents.push(agent);
        }
        let meta = crate::spec::of_flow(flow, store);
        let callbacks = spec
            .steps
            .iter()
            .map(|step| step.skippable.then(|| skipping(stage)))
            .collect();
        Self {
            flow,
            spec,
            meta,
            agents,
            callbacks,
            stage: stage.clone(),
        }
    }
}

/// Returns callbacks that sometimes replace their block.
fn skipping(stage: &Stage) -> AgentCallbacks {
    let (mut callbacks, stage) = (AgentCallbacks::default(), stage.clone());
    callbacks.before(move |_: &mut CallbackContext| -> Result<Option<Content>> {
        let skips = !stage.is_tired() && stage.choose(2) == 1;
        Ok(skips.then(|| Content::from("skipped")))
    });
    callbacks
}

enum Placed<'a> {
    Agent(&'a Agent, Scope),
    Nested(&'a Nested, Scope),
}

/// Adds the agents in the order of the steps, each with its scope.
fn place<'a>(nodes: &'a [Node], scope: Scope, storage: &mut Storage, placed: &mut Vec<Placed<'a>>) {
    for node in nodes {
        match node {
            Node::Run(agent) => placed.push(Placed::Agent(agent, scope)),
            Node::Nested(nested) => placed.push(Placed::Nested(nested, scope)),
            Node::Break(_) | Node::Nothing => {}
            Node::Block(block) => {
                let inside = inside(block, scope, storage);
                place(&block.inside, inside, storage, placed);
            }
        }
    }
}

fn inside(block: &Block, scope: Scope, storage: &mut Storage) -> Scope {
    match block.kind {
        Kind::Each { item, .. } => storage.element(block, item, scope),
        Kind::Else => storage.otherwise(&block.name, scope),
        _ => scope,
    }
}

impl StepTable for Tree<'_> {
    fn spec(&self) -> &Spec<'_> {
        &self.spec
    }
    fn agent(&self, step: usize) -> Option<&dyn DynAgent> {
        self.agents.get(step)?.as_deref()
    }
    fn callbacks(&self, step: usize) -> Option<&AgentCallbacks> {
        self.callbacks.get(step)?.as_ref()
    }
    /// Returns the limit of rounds. The runtime calls it at the end of each round.
    fn max(&self, step: usize) -> Option<u32> {
        let step = &self.spec.steps[step];
        match step.kind {
            // The test does not know whether the key is ever true.
            StepKind::Loop {
                max: None,
                until: Some(_),
            } => self.stage.rounds(step.name, 5).then_some(1),
            StepKind::Loop {
                max: None,
                until: None,
            } => {
                let given_up = self.stage.rounds(step.name, 2_000);
                if given_up {
                    self.stage.give_up(step.name);
                }
                given_up.then_some(1)
            }
            _ => None,
        }
    }
    fn select(&self, step: usize, _: &Value) -> Result<usize> {
        let (mut arms, mut at) = (0, step + 1);
        while at < self.spec.steps[step].end {
            (arms, at) = (arms + 1, self.spec.steps[at].end + 1);
        }
        Ok(self.stage.choose(arms))
    }
    fn lets(&self, keys: &mut Keys) -> Result<()> {
        self.flow
            .lets
            .iter()
            .try_for_each(|key| keys.set(key, &self.stage.value(key)))
    }
    fn form(&self, form: &mut Form) {
        for (key, _) in self
            .flow
            .inputs
            .iter()
            .filter(|(_, has_default)| *has_default)
        {
            form.default_value(key, || self.stage.value(key));
        }
    }
}

impl DynAgent for Tree<'_> {
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

impl<R: ?Sized> adk_build::Needs<R> for Tree<'_> {}

impl Workflow for Tree<'_> {
    type Input = ();
    type Output = ();

    fn as_agent(&self) -> &dyn DynAgent {
        self
    }
    fn begin(&self, (): (), keys: &mut Keys) -> Result<()> {
        self.flow
            .inputs
            .iter()
            .try_for_each(|(key, _)| keys.input(key, &self.stage.value(key)))?;
        self.lets(keys)
    }
    fn finish(&self, values: &Values<'_>) -> Result<()> {
        for key in &self.flow.outputs {
            if values.get::<Value>(key).is_err() {
                self.stage.wrong(Wrong::Output {
                    key: (*key).to_owned(),
                });
            }
        }
        Ok(())
    }
    fn form(&self, _: &mut Form) -> Option<()> {
        Some(())
    }
}
