//! [`SubAgent`]: a part of a tree, which is an agent or a block of agents.

use adk_core::__private::build::{OwnedGuards, delegate_agent};
use adk_core::callback::AgentCallbacks;
use adk_core::check::{Check, Diagnostic};
use adk_core::spec::AgentMeta;
use adk_core::{DynAgent, Name};
use self_cell::self_cell;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value that can be placed in a tree: an agent of any kind, by value or as `Arc`, a block, an
/// unbuilt builder, or the result of a builder.
///
/// rustc finds `M` from the type of the value. It exists because an agent, an `Arc` and a `Result`
/// would otherwise be overlapping impls of one trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "cannot be placed in a tree",
    note = "a function with `#[agent]` is placed as `name::default()`; an agent by hand implements \
        `Agent` or `DynAgent`"
)]
pub trait IntoAgent<M> {
    /// Converts the value to a part of a tree.
    fn into_agent(self) -> SubAgent;
}

/// Marks the impl of [`IntoAgent`] for an agent by value.
#[derive(Debug)]
pub struct ByValue;

/// Marks the impl of [`IntoAgent`] for an agent as `Arc`.
#[derive(Debug)]
pub struct ByPointer;

/// Marks the impls of [`IntoAgent`] for unbuilt builders and for parts of a tree.
#[derive(Debug)]
pub struct AsPart;

/// Marks the impls of [`IntoAgent`] for results of builders.
#[derive(Debug)]
pub struct AsResult;

/// A part of a tree: an agent, or a block of agents.
#[derive(Clone)]
pub struct SubAgent(pub(super) Item);

#[derive(Clone)]
pub(super) enum Item {
    Agent(Placed),
    Block(Arc<TreeBlock>),
}

impl Item {
    /// Returns the callbacks before and after the part.
    pub(super) fn callbacks(&self) -> Option<&AgentCallbacks> {
        match self {
            Self::Agent(placed) => placed.agent.callbacks_dyn(),
            Self::Block(block) => Some(&block.callbacks),
        }
    }
}

/// A block with its parts.
#[derive(Clone)]
pub(super) struct TreeBlock {
    pub(super) name: Name,
    pub(super) description: String,
    pub(super) kind: BlockKind,
    pub(super) callbacks: AgentCallbacks,
    pub(super) items: Vec<Item>,
    pub(super) guards: Option<Arc<OwnedGuards>>,
    /// The nesting depth of blocks and agents, including this block.
    pub(super) depth: usize,
    /// The position in the config; empty without a config.
    pub(super) place: Arc<str>,
}

/// The maximum nesting depth. Deeper parts are rejected and not kept, because dropping them
/// recurses.
pub(super) const DEEPEST: usize = 128;

/// Returns the fault of a tree that is too deep.
pub(super) fn depth_fault(name: &str) -> Diagnostic {
    let fact = format!(
        "more than {DEEPEST} blocks and agents are nested, `{name}` the outermost; help: make the \
         tree flatter"
    );
    Diagnostic::new(Check::Syntax, name, fact)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Loop { max: Option<u32> },
    Sequence,
    Parallel { max_concurrency: Option<u32> },
}

/// An agent in a tree, with a description that identifies its definition. The check `agent-reused`
/// compares these definitions.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) agent: Arc<dyn DynAgent>,
    about: Arc<Identified>,
    /// Faults of the agent itself, which do not depend on the tree.
    pub(super) faults: Arc<[Diagnostic]>,
    depth: usize,
    /// The position in the config; empty without a config.
    pub(super) place: Arc<str>,
}

/// An agent, and the text that identifies its definition.
struct Owner {
    agent: Arc<dyn DynAgent>,
    definition: String,
}

self_cell!(
    struct Identified {
        owner: Owner,
        #[covariant]
        dependent: AgentMeta,
    }
);

impl Placed {
    pub(super) fn new(agent: Arc<dyn DynAgent>) -> Self {
        Self::with_faults(agent, Vec::new(), 1)
    }

    /// Wraps an agent with the faults that it has by itself. An agent that was described at run
    /// time has no definition, so the address of the value identifies it.
    pub(super) fn with_faults(
        agent: Arc<dyn DynAgent>,
        faults: Vec<Diagnostic>,
        depth: usize,
    ) -> Self {
        let meta = agent.meta();
        let definition = if meta.definition == meta.name {
            format!("{} at {:p}", meta.name, address(&agent))
        } else {
            meta.definition.to_owned()
        };
        let owner = Owner {
            agent: agent.clone(),
            definition,
        };
        let about = Identified::new(owner, |owner| {
            owner.agent.meta().definition(&owner.definition)
        });
        Self {
            agent,
            about: Arc::new(about),
            faults: faults.into(),
            depth,
            place: "".into(),
        }
    }
}

/// Behaves as the wrapped agent, except that the description identifies the definition.
impl DynAgent for Placed {
    fn meta(&self) -> &AgentMeta<'_> {
        self.about.borrow_dependent()
    }

    delegate_agent!(self => self.agent);
}

/// Returns the address of an agent. An `Arc` in an `Arc` is the same agent.
fn address(agent: &Arc<dyn DynAgent>) -> *const () {
    Arc::as_ptr(agent).cast()
}

impl SubAgent {
    /// Returns the name.
    pub fn name(&self) -> &str {
        match &self.0 {
            Item::Agent(placed) => placed.agent.meta().name,
            Item::Block(block) => &block.name,
        }
    }

    /// Returns the nesting depth of the part.
    pub(super) fn depth(&self) -> usize {
        match &self.0 {
            Item::Agent(placed) => placed.depth,
            Item::Block(block) => block.depth,
        }
    }

    /// Sets the position in the config.
    pub(super) fn at(mut self, place: &str) -> Self {
        match &mut self.0 {
            Item::Agent(placed) => placed.place = place.into(),
            Item::Block(block) => {
                let mut own = TreeBlock::clone(block);
                own.place = place.into();
                *block = Arc::new(own);
            }
        }
        self
    }

    /// Places an agent. A tree shows its root as [`Item`], so that its parts become parts of the
    /// tree around it.
    pub(super) fn from_agent(agent: Arc<dyn DynAgent>) -> Self {
        let item = agent
            .as_any()
            .and_then(|any| any.downcast_ref::<Item>())
            .cloned();
        Self(item.unwrap_or_else(|| Item::Agent(Placed::new(agent))))
    }
}

impl<A: DynAgent + 'static> IntoAgent<ByValue> for A {
    fn into_agent(self) -> SubAgent {
        // An `Arc` is not wrapped again, so that an agent that is used twice is recognized.
        match (&self as &dyn Any).downcast_ref::<Arc<dyn DynAgent>>() {
            Some(shared) => SubAgent::from_agent(shared.clone()),
            None => SubAgent::from_agent(Arc::new(self)),
        }
    }
}

impl<A: DynAgent + 'static> IntoAgent<ByPointer> for Arc<A> {
    fn into_agent(self) -> SubAgent {
        SubAgent::from_agent(self)
    }
}

/// A list of parts of a tree: agents of one type, or a tuple of agents of any types.
///
/// ```
/// # use adk_build as adk;
/// use adk::{LoopAgent, ParallelAgent, SequentialAgent, llm::LlmAgent};
/// let agent = |name: &'static str| LlmAgent::builder(name);
/// let both = ParallelAgent::builder("both").sub_agents([agent("left"), agent("right")]);
/// let tree = SequentialAgent::builder("all")
///     .sub_agents((agent("first"), both, agent("last").build()));
/// assert_eq!(tree.build()?.spec().nodes().len(), 7);
/// # Ok::<(), adk::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of agents",
    label = "expected an array, a `Vec`, or a tuple of agents"
)]
pub trait IntoAgents<M> {
    /// Converts the agents to parts of a tree, in order.
    fn into_agents(self) -> Vec<SubAgent>;
}

impl<M, A: IntoAgent<M>, const N: usize> IntoAgents<M> for [A; N] {
    fn into_agents(self) -> Vec<SubAgent> {
        self.into_iter().map(IntoAgent::into_agent).collect()
    }
}

impl<M, A: IntoAgent<M>> IntoAgents<M> for Vec<A> {
    fn into_agents(self) -> Vec<SubAgent> {
        self.into_iter().map(IntoAgent::into_agent).collect()
    }
}

macro_rules! tuples {
    ($(($($part:ident $mark:ident)*))*) => {$(
        impl<$($mark, $part: IntoAgent<$mark>),*> IntoAgents<($($mark,)*)> for ($($part,)*) {
            #[allow(non_snake_case, reason = "a name for each type and its value")]
            fn into_agents(self) -> Vec<SubAgent> {
                let ($($part,)*) = self;
                vec![$($part.into_agent()),*]
            }
        }
    )*};
}
tuples!(
    (A M)
    (A M B N)
    (A M B N C O)
    (A M B N C O D P)
    (A M B N C O D P E Q)
    (A M B N C O D P E Q F R)
    (A M B N C O D P E Q F R G S)
    (A M B N C O D P E Q F R G S H T)
);

impl IntoAgent<AsPart> for SubAgent {
    fn into_agent(self) -> SubAgent {
        self
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubAgent({})", self.name())
    }
}
