//! [`LoopAgent`], [`SequentialAgent`] and [`ParallelAgent`]: ADK's workflow agents, with their
//! builders.

use super::error::{BuildError, place_result};
use super::guards::TreeGuards;
use super::item::{AsPart, BlockKind, DEEPEST, IntoAgent, IntoAgents, Item, SubAgent, TreeBlock};
use super::tree::{Tree, TreeOptions};
use adk_core::__private::build::{Key, LiveIf, OwnedGuards, delegate_agent, setters, to_json};
use adk_core::callback::{AfterAgent, AgentCallbacks, BeforeAgent};
use adk_core::check::{Check, Diagnostic};
use adk_core::spec::{AgentMeta, Spec};
use adk_core::workflow::{Form, Keys, Values, Workflow};
use adk_core::{Content, DynAgent, Name, Needs, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The fields that every block has.
#[derive(Clone, Default)]
pub(super) struct Common {
    pub(super) name: Name,
    pub(super) description: String,
    pub(super) sub_agents: Vec<SubAgent>,
    pub(super) options: TreeOptions,
    pub(super) callbacks: AgentCallbacks,
}

/// A workflow agent that a [`BlockBuilder`] builds.
pub trait BlockAgent: Sized {
    /// The type of the built agent.
    type Agent;
    fn wrap(tree: Tree) -> Self::Agent;
}

/// Builds a workflow agent: [`LoopAgent::builder`], [`SequentialAgent::builder`],
/// [`ParallelAgent::builder`].
///
/// A builder can be placed in another builder before it is built. The whole tree is then checked
/// together, so an outer agent may write a key that an inner agent reads.
pub struct BlockBuilder<K> {
    common: Common,
    kind: BlockKind,
    agent: PhantomData<fn() -> K>,
}

impl<K: BlockAgent> BlockBuilder<K> {
    fn new(name: Name, kind: BlockKind) -> Self {
        Self {
            common: Common {
                name,
                ..Common::default()
            },
            kind,
            agent: PhantomData,
        }
    }

    /// Sets the description of the block, which models see.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.common.description = description.into();
        self
    }

    /// Adds an agent: of any kind, by value or shared, built or not.
    #[must_use]
    pub fn sub_agent<M>(mut self, agent: impl IntoAgent<M>) -> Self {
        self.common.sub_agents.push(agent.into_agent());
        self
    }

    /// Adds agents: a list of one type, or a tuple of any types.
    #[must_use]
    pub fn sub_agents<M>(mut self, agents: impl IntoAgents<M>) -> Self {
        self.common.sub_agents.extend(agents.into_agents());
        self
    }

    setters! {
        [#[must_use]] (mut self) -> Self, (self.common);
        before_agent(impl BeforeAgent<M>), after_agent(impl AfterAgent<M>)
    }

    /// Sets the callbacks of a config.
    pub(super) fn callbacks(mut self, callbacks: AgentCallbacks) -> Self {
        self.common.callbacks = callbacks;
        self
    }

    /// Sets whether the root of a tree rejects faults in the flow of keys and exits. Default:
    /// `true`.
    ///
    /// A tree from a file cannot know the content of its session. Without these checks, an agent
    /// may also end a loop without announcing it, and a loop may be endless. [`check`](Self::check)
    /// reports these faults anyway.
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.common.options.flow_checks = yes;
        self
    }

    /// Sets the rules of the tree about text that strangers wrote, [`TreeGuards`], or whether the
    /// root of a tree rejects text of strangers that may steer an action, and private data that may
    /// leave (`untrusted-action`, `lethal-trifecta`). Default: `true`, also with
    /// `flow_checks(false)`. Only tools and agents with labels have such faults, unless the rules
    /// are `strict`.
    #[must_use]
    pub fn guards(mut self, guards: impl Into<TreeGuards>) -> Self {
        self.common.options.guards = guards.into();
        self
    }

    /// Declares that the session holds a key of type `T` when a run starts. Only the root of a tree
    /// uses this key.
    #[must_use]
    pub fn state_key<T: 'static>(mut self, key: impl Into<String>) -> Self {
        self.common.options.states.push(Key::typed::<T>(key));
        self
    }

    /// Sets the initial value of a key at the start of each run. Only the root of a tree uses this
    /// key. A tree is rejected if the value has no form in JSON.
    #[must_use]
    pub fn initial_state<T: Serialize + 'static>(
        mut self,
        key: impl Into<String>,
        value: T,
    ) -> Self {
        let key = key.into();
        let options = &mut self.common.options;
        let value = to_json(&value).unwrap_or_else(|error| {
            let fact = format!(
                "the initial value of state key `{key}` {error}; help: {}",
                error.help()
            );
            options
                .faults
                .push(Diagnostic::new(Check::Syntax, &*self.common.name, fact));
            Value::Null
        });
        options.lets.push((Key::typed::<T>(key), Arc::new(value)));
        self
    }

    /// Returns all faults of the tree, also with `flow_checks(false)`.
    pub fn check(&self) -> Vec<Diagnostic> {
        self.tree().check()
    }

    /// Builds the agent.
    ///
    /// # Errors
    /// Returns all faults of the tree.
    pub fn build(self) -> Result<K::Agent, BuildError> {
        self.tree().accept().map(K::wrap)
    }

    fn tree(&self) -> Tree {
        Tree::new(self.part_ref().0, self.common.options.clone())
    }

    fn part_ref(&self) -> SubAgent {
        let Common {
            name,
            description,
            sub_agents,
            callbacks,
            options,
        } = self.common.clone();
        let depth = 1 + sub_agents
            .iter()
            .map(SubAgent::depth)
            .max()
            .unwrap_or_default();
        // Parts that are too deep are dropped. The depth keeps counting them, so the tree is
        // rejected.
        let kept = sub_agents.into_iter().filter(|part| part.depth() < DEEPEST);
        let items = kept.map(|part| part.0).collect();
        let place = "".into();
        let kind = self.kind;
        SubAgent(Item::Block(Arc::new(TreeBlock {
            name,
            description,
            kind,
            callbacks,
            items,
            guards: options.guards.rules.map(OwnedGuards::new).map(Arc::new),
            depth,
            place,
        })))
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
        /// # The run function is fixed
        ///
        /// ADK Go accepts a run function for a workflow agent and fails when the agent is created.
        /// Here such a function does not compile: the builder has no method for it, and the type
        /// implements the trait already.
        ///
        /// ```compile_fail,E0599
        /// # use adk_build as adk;
        #[doc = concat!("adk::", stringify!($agent), "::builder(\"mine\")")]
        ///     .run(|_| Ok(adk::Flow::Continue));
        /// ```
        ///
        /// ```compile_fail,E0117
        /// # use adk_build as adk;
        #[doc = concat!("impl adk::DynAgent for adk::", stringify!($agent), " {")]
        /// #     fn meta(&self) -> &adk::AgentMeta<'_> {
        /// #         const { &adk::AgentMeta::custom("mine") }
        /// #     }
        ///     fn run_dyn<'a>(
        ///         &'a self,
        ///         cx: &'a mut adk::Context,
        ///     ) -> adk::BoxFuture<'a, adk::Result<adk::Flow>> {
        ///         Box::pin(async { Ok(adk::Flow::Continue) })
        ///     }
        /// #     fn prepare_dyn(&self, prepare: &mut adk::Prepare<'_>) {}
        /// }
        /// ```
        ///
        /// For other control flow, implement [`Agent`](crate::Agent), or put `#[agent]` on a
        /// function.
        #[derive(Clone, Debug)]
        pub struct $agent(Tree);

        #[doc = concat!("Builds a [`", stringify!($agent), "`].")]
        pub type $builder = BlockBuilder<$agent>;

        impl $agent {
            /// Creates a builder with a name.
            pub fn builder(name: impl Into<Name>) -> $builder {
                BlockBuilder::new(name.into(), $kind)
            }

            /// Returns the tree as data.
            pub fn spec(&self) -> &Spec<'_> {
                self.0.spec()
            }

            /// Returns all faults of the agent, also with `flow_checks(false)`.
            pub fn check(&self) -> Vec<Diagnostic> {
                self.0.check()
            }
        }

        impl BlockAgent for $agent {
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

            delegate_agent!(self => self.0);
        }

        impl<R: ?Sized> Needs<R> for $agent {}

        place_result!($agent);

        impl Workflow for $agent {
            type Input = Content;
            type Output = ();

            fn as_agent(&self) -> &dyn DynAgent {
                &self.0
            }

            fn spec(&self) -> Spec<'_> {
                *self.spec()
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
    /// Runs its agents in order, round by round, up to `max_iterations` or until an agent ends the
    /// loop: ADK's `LoopAgent`.
    LoopAgent,
    LoopAgentBuilder,
    BlockKind::Loop { max: None }
);
block!(
    /// Runs its agents in order: ADK's `SequentialAgent`.
    SequentialAgent,
    SequentialAgentBuilder,
    BlockKind::Sequence
);
block!(
    /// Runs its agents concurrently: ADK's `ParallelAgent`.
    ParallelAgent,
    ParallelAgentBuilder,
    BlockKind::Parallel { max_concurrency: None }
);

/// Among the workflow agents only a sequence can run live. Its children are known at run time.
impl LiveIf<true> for SequentialAgent {}

impl LoopAgentBuilder {
    /// Sets the maximum number of rounds, 1 or more. Without a maximum, the loop runs until an
    /// agent ends it. If no agent in the loop can end it, the flow check reports a fault.
    #[must_use]
    pub fn max_iterations(mut self, rounds: u32) -> Self {
        self.kind = BlockKind::Loop { max: Some(rounds) };
        self
    }
}

impl ParallelAgentBuilder {
    /// Sets the maximum number of concurrent agents, 1 or more. Without a maximum, all agents run
    /// concurrently.
    #[must_use]
    pub fn max_concurrency(mut self, agents: u32) -> Self {
        self.kind = BlockKind::Parallel {
            max_concurrency: Some(agents),
        };
        self
    }
}

impl<K: BlockAgent> IntoAgent<AsPart> for BlockBuilder<K> {
    fn into_agent(self) -> SubAgent {
        self.part()
    }
}
