//! ADK's workflow agents and their builders.

use super::error::BuildError;
use super::item::{Block, BlockKind, DEEPEST, IntoAgent, IntoAgents, Item, SubAgent};
use super::tree::{Tree, TreeOptions};
use crate::check::{Check, Fault};
use crate::encode::to_json;
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::{AfterAgent, AgentCallbacks, BeforeAgent, setters};
use crate::runtime::resources::Needs;
use crate::runtime::run::{Context, Prepare};
use crate::runtime::workflow::LiveIf;
use crate::runtime::workflow::{Form, Keys, Values, Workflow};
use crate::spec::{AgentMeta, Key, Spec};
use crate::{BoxFuture, Content, Flow, Name, Result};
use serde::Serialize;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// What every block has.
#[derive(Clone, Default)]
pub(super) struct Common {
    pub(super) name: Name,
    pub(super) description: String,
    pub(super) sub_agents: Vec<SubAgent>,
    pub(super) options: TreeOptions,
    pub(super) callbacks: AgentCallbacks,
}

/// A kind of block.
pub trait Kind: Sized {
    /// Of what is built.
    type Agent;
    fn wrap(tree: Tree) -> Self::Agent;
}

/// Builds a workflow agent: [`LoopAgent::builder`], [`SequentialAgent::builder`], [`ParallelAgent::builder`].
///
/// A builder can be placed in another as it is. Then it is checked with the whole: what it reads may be written around it.
pub struct BlockBuilder<K> {
    common: Common,
    kind: BlockKind,
    of: PhantomData<fn() -> K>,
}

impl<K: Kind> BlockBuilder<K> {
    fn new(name: Name, kind: BlockKind) -> Self {
        Self { common: Common { name, ..Common::default() }, kind, of: PhantomData }
    }

    /// What it is for; models see it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.common.description = description.into();
        self
    }

    /// Adds an agent: of any kind, by value or shared, built or not.
    #[must_use]
    pub fn sub_agent(mut self, agent: impl IntoAgent) -> Self {
        self.common.sub_agents.push(agent.into_agent());
        self
    }

    /// Adds agents: a list of one type, or a tuple of any types.
    #[must_use]
    pub fn sub_agents(mut self, agents: impl IntoAgents) -> Self {
        self.common.sub_agents.extend(agents.into_agents());
        self
    }

    setters! {
        [#[must_use]] (mut self) -> Self, (self.common);
        before_agent(impl BeforeAgent<M>), after_agent(impl AfterAgent<M>)
    }

    /// The callbacks that a config names.
    pub(super) fn callbacks(mut self, callbacks: AgentCallbacks) -> Self {
        self.common.callbacks = callbacks;
        self
    }

    /// Whether faults of the flow of keys and exits are refused, for the tree whose root this is. Default `true`.
    ///
    /// A tree that comes from a file cannot know what its session holds. Without these checks an agent may also end a
    /// loop without having announced it, and a loop may be without end; [`check`](Self::check) tells these faults
    /// nevertheless.
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.common.options.flow_checks = yes;
        self
    }

    /// Says that the session holds a key of that type when a run starts; for the tree whose root this is.
    #[must_use]
    pub fn state_key<T: 'static>(mut self, key: impl Into<String>) -> Self {
        self.common.options.states.push(Key::typed::<T>(key));
        self
    }

    /// A key with its initial value at the start of each run; for the tree whose root this is. A tree with a value that
    /// has no form in JSON is refused.
    #[must_use]
    pub fn initial_state<T: Serialize + 'static>(mut self, key: impl Into<String>, value: T) -> Self {
        let key = key.into();
        let options = &mut self.common.options;
        let value = to_json(&value).unwrap_or_else(|error| {
            let fact = format!("the initial value of state key `{key}` {error}; help: {}", error.help());
            options.faults.push(Fault::new(Check::Syntax, &*self.common.name, fact));
            Value::Null
        });
        options.lets.push((Key::typed::<T>(key), Arc::new(value)));
        self
    }

    /// All that is wrong with the tree, whether it is checked or not, and what follows from it.
    pub fn check(&self) -> Vec<Fault> {
        self.tree().check()
    }

    /// The tree.
    ///
    /// # Errors
    /// When something is wrong with it: all of that.
    pub fn build(self) -> Result<K::Agent, BuildError> {
        self.tree().accepted().map(K::wrap)
    }

    fn tree(&self) -> Tree {
        Tree::new(self.part_ref().0, self.common.options.clone())
    }

    fn part_ref(&self) -> SubAgent {
        let Common { name, description, sub_agents, callbacks, .. } = self.common.clone();
        let depth = 1 + sub_agents.iter().map(SubAgent::depth).max().unwrap_or_default();
        // Only what is too deep is left out; the depth stays, so that it is seen and refused.
        let kept = sub_agents.into_iter().filter(|part| part.depth() < DEEPEST);
        let items = kept.map(|part| part.0).collect();
        let place = "".into();
        let kind = self.kind;
        SubAgent(Item::Block(Arc::new(Block { name, description, kind, callbacks, items, depth, place })))
    }

    pub(super) fn part(self) -> SubAgent {
        self.part_ref()
    }
}

impl<K> fmt::Debug for BlockBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockBuilder")
            .field("name", &self.common.name)
            .field("kind", &self.kind)
            .field("sub_agents", &self.common.sub_agents)
            .finish_non_exhaustive()
    }
}

macro_rules! block {
    ($(#[$docs:meta])* $agent:ident, $builder:ident, $kind:expr) => {
        $(#[$docs])*
        ///
        /// Cheap to clone.
        ///
        /// # How it runs is fixed
        ///
        /// ADK Go lets one write a run function for a workflow agent, and refuses it when the agent is made. Here it cannot
        /// be written: the builder takes none, and the type has its implementation.
        ///
        /// ```compile_fail,E0599
        /// # use adk_core as adk;
        #[doc = concat!("adk::", stringify!($agent), "::builder(\"mine\").run(|_| Ok(adk::Flow::Continue));")]
        /// ```
        ///
        /// ```compile_fail,E0117
        /// # use adk_core as adk;
        #[doc = concat!("impl adk::DynAgent for adk::", stringify!($agent), " {")]
        /// #     fn meta(&self) -> &adk::AgentMeta<'_> { const { &adk::AgentMeta::custom("mine") } }
        ///     fn run_dyn<'a>(&'a self, cx: &'a mut adk::Context) -> adk::BoxFuture<'a, adk::Result<adk::Flow>> {
        ///         Box::pin(async { Ok(adk::Flow::Continue) })
        ///     }
        /// #     fn prepare_dyn(&self, prepare: &mut adk::Prepare<'_>) {}
        /// }
        /// ```
        ///
        /// What runs in another way is an agent of its own: [`Agent`](crate::Agent) by hand, or `#[agent]` on a function.
        #[derive(Clone, Debug)]
        pub struct $agent(Tree);

        #[doc = concat!("Builds a [`", stringify!($agent), "`].")]
        pub type $builder = BlockBuilder<$agent>;

        impl $agent {
            /// Begins one of that name.
            pub fn builder(name: impl Into<Name>) -> $builder {
                BlockBuilder::new(name.into(), $kind)
            }

            /// The tree as data.
            pub fn spec(&self) -> &Spec<'_> {
                self.0.spec()
            }

            /// All that is wrong with it, faults of the flow included, whether they were checked or not, and what follows from it.
            pub fn check(&self) -> Vec<Fault> {
                self.0.check()
            }
        }

        impl Kind for $agent {
            type Agent = Self;
            fn wrap(tree: Tree) -> Self {
                Self(tree)
            }
        }

        impl From<$agent> for Tree {
            fn from(agent: $agent) -> Self {
                agent.0
            }
        }

        impl DynAgent for $agent {
            fn meta(&self) -> &AgentMeta<'_> {
                self.0.meta()
            }

            fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
                self.0.run_dyn(cx)
            }

            fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
                self.0.prepare_dyn(prepare);
            }

            fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
                self.0.callbacks_dyn()
            }

            fn announced_dyn(&self) -> $crate::runtime::agent::AnnouncedKeys {
                self.0.announced_dyn()
            }

            fn as_any(&self) -> Option<&dyn Any> {
                Some(&self.0)
            }
        }

        impl<R: ?Sized> Needs<R> for $agent {}

        impl Workflow for $agent {
            type Input = Content;
            type Output = ();

            fn as_agent(&self) -> &dyn DynAgent {
                &self.0
            }

            fn is_closed(&self) -> bool {
                false
            }

            fn begin(&self, input: Content, keys: &mut Keys) -> Result<()> {
                self.0.begin(input, keys)
            }

            fn finish(&self, values: &Values<'_>) -> Result<()> {
                self.0.finish(values)
            }

            fn form(&self, form: &mut Form) -> Option<Content> {
                self.0.form(form)
            }
        }
    };
}

block!(
    /// Runs its agents one after the other, round by round, until `max_iterations` or until one of them ends it: ADK's
    /// `LoopAgent`.
    LoopAgent,
    LoopAgentBuilder,
    BlockKind::Loop { max: None }
);
block!(
    /// Runs its agents one after the other: ADK's `SequentialAgent`.
    SequentialAgent,
    SequentialAgentBuilder,
    BlockKind::Sequence
);
block!(
    /// Runs its agents at the same time: ADK's `ParallelAgent`.
    ParallelAgent,
    ParallelAgentBuilder,
    BlockKind::Parallel { max_concurrency: None }
);

/// Of the workflow agents only this one can run live; its children are known at run time.
impl LiveIf<true> for SequentialAgent {}

impl LoopAgentBuilder {
    /// The most rounds, 1 or more. Without it, the loop goes on until an agent in it ends it; when none can, that is a
    /// fault of the flow.
    #[must_use]
    pub fn max_iterations(mut self, rounds: u32) -> Self {
        self.kind = BlockKind::Loop { max: Some(rounds) };
        self
    }
}

impl ParallelAgentBuilder {
    /// The most agents that run at a time, 1 or more. Without it, all do.
    #[must_use]
    pub fn max_concurrency(mut self, agents: u32) -> Self {
        self.kind = BlockKind::Parallel { max_concurrency: Some(agents) };
        self
    }
}
