//! [`Tree`]: a tree of agents that can run.

use super::error::{BuildError, place_result};
use super::flat::{DescribedTree, Flat, describe};
use super::guards::{TreeGuards, rules_of};
use super::item::{DEEPEST, IntoAgent, Item, SubAgent, depth_fault};
use adk_core::__private::build::{Key, LiveIf, form_message, has_members, set_key};
use adk_core::__private::workflow::{self, StepTable};
use adk_core::callback::AgentCallbacks;
use adk_core::check::{self, Check, Diagnostic};
use adk_core::spec::{AgentMeta, Spec};
use adk_core::workflow::{Form, Keys, Values, Workflow};
use adk_core::{
    AnnouncedKeys, BoxFuture, Content, Context, DynAgent, Event, Flow, Name, Needs, Prepare, Result,
};
use serde_json::Value;
use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A tree of agents that was built at run time. Cheap to clone.
///
/// A tree runs like a workflow of `workflow!`, from one flat list of steps. The blocks of the tree
/// are steps of that list at any depth. A run takes a [`Content`] and returns `()`;
/// [`Outcome::get`](crate::Outcome::get) returns the value of a written key.
#[derive(Clone)]
pub struct Tree(Arc<TreeInner>);

struct TreeInner {
    root: Item,
    described: DescribedTree,
    options: TreeOptions,
}

/// Fields of a config to which faults are assigned by hand, because [`part_of`] cannot derive them
/// from the check.
pub(super) const OUTPUT_KEY: &str = "output_key";
pub(super) const SUB_AGENTS: &str = "sub_agents";

/// Returns the field of a config that a fault of this check belongs to; empty if that depends on
/// the fault.
fn part_of(check: Check) -> &'static str {
    match check {
        Check::LoopMax => "max_iterations",
        Check::BlockEmpty => "sub_agents",
        Check::NameInvalid | Check::NameReserved | Check::NameDuplicate => "name",
        Check::ToolDuplicate
        | Check::ToolReserved
        | Check::ToolUndocumented
        | Check::ToolArgument => "tools",
        _ => "",
    }
}

/// Options of a whole tree.
#[derive(Clone)]
pub(super) struct TreeOptions {
    pub(super) flow_checks: bool,
    /// The rules about text that strangers wrote.
    pub(super) guards: TreeGuards,
    /// Keys that the session holds when a run starts.
    pub(super) states: Vec<Key>,
    /// Keys with an initial value.
    pub(super) lets: Vec<(Key, Arc<Value>)>,
    /// Faults of initial values.
    pub(super) faults: Vec<Diagnostic>,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            flow_checks: true,
            guards: TreeGuards::default(),
            states: Vec::new(),
            lets: Vec::new(),
            faults: Vec::new(),
        }
    }
}

impl Tree {
    /// Creates a tree of one agent, of any kind.
    ///
    /// # Errors
    /// Returns all faults of the agent.
    pub fn of<M>(agent: impl IntoAgent<M>) -> Result<Self, BuildError> {
        Self::from_item(agent.into_agent().0).accept()
    }

    /// Creates a tree with known session keys and faults.
    pub(crate) fn from_part(
        part: SubAgent,
        states: Vec<Key>,
        (flow_checks, guards): (bool, TreeGuards),
        faults: Vec<Diagnostic>,
    ) -> Result<Self, BuildError> {
        let options = TreeOptions {
            flow_checks,
            guards,
            states,
            ..TreeOptions::default()
        };
        Self::new(part.0, options).accept_with(faults)
    }

    pub(super) fn from_item(root: Item) -> Self {
        Self::new(root, TreeOptions::default())
    }

    pub(super) fn new(root: Item, options: TreeOptions) -> Self {
        let lets = options.lets.iter().map(|(key, _)| key.clone()).collect();
        let rules = rules_of(options.guards.rules.as_ref(), &root);
        let described = describe(Flat::new(&root, options.states.clone(), lets, rules));
        Self(Arc::new(TreeInner {
            root,
            described,
            options,
        }))
    }

    /// Returns the tree if its checks find no fault.
    pub(super) fn accept(self) -> Result<Self, BuildError> {
        self.accept_with(Vec::new())
    }

    /// Returns the tree if its checks find no fault and `faults` is empty.
    pub(super) fn accept_with(self, mut faults: Vec<Diagnostic>) -> Result<Self, BuildError> {
        faults.extend(self.faults(self.spec()));
        if !self.0.options.flow_checks {
            faults.retain(|fault| !fault.is_of_flow());
        }
        if !self.0.options.guards.checks {
            faults.retain(|fault| !fault.is_of_guards());
        }
        if faults.is_empty() {
            Ok(self)
        } else {
            Err(BuildError::new(faults, SubAgent(self.0.root.clone())))
        }
    }

    fn flat(&self) -> &Flat {
        self.0.described.borrow_owner().borrow_owner()
    }

    /// Returns the tree as data.
    pub fn spec(&self) -> &Spec<'_> {
        &self.0.described.borrow_dependent().spec
    }

    /// Returns all faults of the tree, also with `flow_checks(false)` and `guards(false)`.
    pub fn check(&self) -> Vec<Diagnostic> {
        self.faults(self.spec())
    }

    fn faults(&self, spec: &Spec<'_>) -> Vec<Diagnostic> {
        if SubAgent(self.0.root.clone()).depth() > DEEPEST {
            // Parts that are too deep were dropped, so the rest cannot be checked.
            return vec![depth_fault(self.spec().name)];
        }
        let (flat, mut faults) = (self.flat(), check::faults(spec));
        faults.extend(self.0.options.faults.iter().cloned());
        for at in 0..flat.steps.len() {
            let own = flat
                .placed(at)
                .into_iter()
                .flat_map(|placed| placed.faults.iter().cloned());
            faults.extend(own.map(|mut fault| {
                fault.step = Some(at);
                fault
            }));
        }
        self.reused_blocks(&mut faults);
        faults.sort_by_key(|fault| fault.step.unwrap_or(usize::MAX));
        for fault in &mut faults {
            let place = fault.step.map_or("", |at| flat.place(at));
            let named = [OUTPUT_KEY, SUB_AGENTS]
                .into_iter()
                .find(|field| fault.place == *field);
            let part = named.unwrap_or_else(|| part_of(fault.check));
            fault.place = match place {
                "" if named.is_some() => String::new(),
                "" => continue,
                // `.` is the position of the root.
                "." => part.to_owned(),
                _ if part.is_empty() => place.trim_end_matches([':', ' ']).to_owned(),
                _ if place.ends_with(' ') => format!("{place}{part}"),
                _ => format!("{place}.{part}"),
            };
        }
        faults
    }

    /// Reports a block that is used twice as one fault, instead of one fault per name in the block.
    fn reused_blocks(&self, faults: &mut Vec<Diagnostic>) {
        let (flat, mut seen, mut at) = (self.flat(), HashSet::new(), 0);
        while at < flat.steps.len() {
            if let Some(block) = flat.block(at)
                && !seen.insert(Arc::as_ptr(block))
            {
                let inside = at..=flat.end(at);
                faults.retain(|fault| fault.step.is_none_or(|step| !inside.contains(&step)));
                let fact = format!(
                    "`{}` is the same block as one before it; help: build a second one, with a \
                     name of its own",
                    block.name
                );
                let mut fault = Diagnostic::new(Check::AgentReused, &*block.name, fact);
                fault.step = Some(at);
                faults.push(fault);
                at = flat.end(at);
            }
            at += 1;
        }
    }
}

impl SubAgent {
    /// Returns the part as an agent.
    pub(super) fn to_agent(&self) -> Arc<dyn DynAgent> {
        match &self.0 {
            Item::Agent(placed) => Arc::new(placed.clone()),
            Item::Block(_) => Arc::new(Tree::from_item(self.0.clone())),
        }
    }
}

place_result!(Tree);

impl StepTable for Tree {
    fn spec(&self) -> &Spec<'_> {
        Tree::spec(self)
    }

    fn name(&self, step: usize) -> Name {
        self.flat()
            .steps
            .get(step)
            .map_or_else(Name::default, |step| step.name.clone())
    }

    fn agent(&self, step: usize) -> Option<&dyn DynAgent> {
        self.flat().placed(step).map(|placed| &*placed.agent)
    }

    fn callbacks(&self, step: usize) -> Option<&AgentCallbacks> {
        self.flat().callbacks(step)
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn root(&self) -> Option<usize> {
        Some(0)
    }

    fn is_unchecked(&self) -> bool {
        !self.0.options.flow_checks
    }
}

impl DynAgent for Tree {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.0.described.borrow_dependent().meta
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        workflow::run(self, cx)
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        workflow::prepare(self, prepare);
    }

    fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
        self.0.root.callbacks()
    }

    fn stand_in_dyn(&self, content: Content) -> Result<Event> {
        match &self.0.root {
            Item::Agent(placed) => placed.agent.stand_in_dyn(content),
            Item::Block(_) => Ok(Event::new().with_content(content)),
        }
    }

    fn announced_dyn(&self) -> AnnouncedKeys {
        if self.is_unchecked() {
            AnnouncedKeys::anything()
        } else {
            AnnouncedKeys::of(self.meta())
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(&self.0.root)
    }
}

impl<R: ?Sized> Needs<R> for Tree {}

impl Workflow for Tree {
    type Input = Content;
    type Output = ();

    /// A root that may hand over runs as an agent, because another agent may take the message.
    fn as_agent(&self) -> &dyn DynAgent {
        match &self.0.root {
            Item::Agent(placed) if has_members(&*placed.agent) => &*placed.agent,
            _ => self,
        }
    }

    fn spec(&self) -> Spec<'_> {
        *self.spec()
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn begin(&self, input: Content, keys: &mut Keys) -> Result<()> {
        keys.message(input);
        for (key, value) in &self.0.options.lets {
            set_key(keys, Name::shared(&key.name), value.clone());
        }
        Ok(())
    }

    fn finish(&self, _: &Values<'_>) -> Result<()> {
        Ok(())
    }

    fn form(&self, form: &mut Form) -> Option<Content> {
        form_message(form)
    }
}

/// The content of a tree is known at run time, so a live run checks it when it begins.
impl LiveIf<true> for Tree {}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({})", self.spec().name)
    }
}
