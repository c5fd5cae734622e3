//! [`AgentDescription`]: the description of an agent. Macros write an [`AgentMeta`] as a constant.
//! For an agent that is built at run time, this module keeps an [`AgentMeta`] together with the
//! values that it borrows.

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "only `adk-build` uses these items from outside; the fields are those of `AgentMeta`"
)]

use crate::runtime::agent::{AnnouncedKeys, DynAgent};
use crate::runtime::tool::{DeclaredToolset, DynTool};
use crate::spec::guards::OwnedGuards;
use crate::spec::{
    Accepts, AgentKind, AgentMeta, AnsweredBy, Conversation, Key, KeySpec, Labels, ToolMeta,
    ValueSchema,
};
use self_cell::self_cell;
use std::fmt;
use std::sync::Arc;

/// The owned values of a description.
pub struct DescriptionParts {
    pub kind: AgentKind,
    pub name: String,
    pub definition: String,
    pub description: String,
    pub prompts: Vec<String>,
    pub writes: Vec<Key>,
    pub tools: DescribedTools,
    pub guards: Option<OwnedGuards>,
    pub context: DescribedContext,
    pub transfer: Vec<Arc<dyn DynAgent>>,
    pub max_turns: Option<u32>,
    pub answer: DescribedAnswer,
}

/// The tools of an agent that is built at run time.
#[derive(Clone, Default)]
pub struct DescribedTools {
    pub own: Vec<Arc<dyn DynTool>>,
    pub sets: Vec<DeclaredToolset>,
}

impl DescribedTools {
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.sets.is_empty()
    }
}

/// What an agent sees.
#[derive(Default)]
pub struct DescribedContext {
    pub compacts: bool,
    pub conversation: Conversation,
    pub labels: Labels,
}

/// The value that an agent writes, from a model or from an answer to an `await`.
#[derive(Default)]
pub struct DescribedAnswer {
    /// Permitted answerers of an `await`; `None` for the user who started the run.
    pub by: Option<AnsweredBy>,
    /// Check of an answer to an `await`, which returns the reason why the answer does not fit.
    pub accepts: Option<Accepts>,
    pub schema: Option<ValueSchema>,
    /// Whether an `await` has a default.
    pub has_default: bool,
}

impl DescriptionParts {
    pub fn new(kind: AgentKind, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            kind,
            definition: name.clone(),
            name,
            description: String::new(),
            prompts: Vec::new(),
            writes: Vec::new(),
            tools: DescribedTools::default(),
            guards: None,
            context: DescribedContext::default(),
            transfer: Vec::new(),
            max_turns: None,
            answer: DescribedAnswer::default(),
        }
    }
}

/// The lists that a description borrows.
struct DescriptionLists<'a> {
    prompts: Vec<&'a str>,
    writes: Vec<KeySpec<'a>>,
    tools: Vec<ToolMeta<'a>>,
    transfer: Vec<&'a AgentMeta<'a>>,
}

self_cell!(
    struct PartsWithLists {
        owner: DescriptionParts,
        #[covariant]
        dependent: DescriptionLists,
    }
);

self_cell!(
    struct OwnedMeta {
        owner: PartsWithLists,
        #[covariant]
        dependent: AgentMeta,
    }
);

/// A description: a constant of a macro, or a description that is built at run time.
pub struct AgentDescription {
    repr: DescriptionRepr,
    announced: AnnouncedKeys,
}

enum DescriptionRepr {
    Const(&'static AgentMeta<'static>, Vec<Arc<dyn DynAgent>>),
    Owned(Box<OwnedMeta>),
}

impl AgentDescription {
    /// Creates the description that a macro declares, of an agent that holds `sub_agents`.
    pub const fn from_const(
        meta: &'static AgentMeta<'static>,
        sub_agents: Vec<Arc<dyn DynAgent>>,
    ) -> Self {
        Self {
            repr: DescriptionRepr::Const(meta, sub_agents),
            announced: AnnouncedKeys::constant(meta),
        }
    }

    /// Creates the description of an agent that is built at run time.
    pub fn from_parts(parts: DescriptionParts) -> Self {
        let listed = PartsWithLists::new(parts, |parts| DescriptionLists {
            prompts: parts.prompts.iter().map(String::as_str).collect(),
            writes: parts.writes.iter().map(Key::spec).collect(),
            tools: parts
                .tools
                .own
                .iter()
                .map(|tool| *tool.meta())
                .chain(
                    parts
                        .tools
                        .sets
                        .iter()
                        .flat_map(DeclaredToolset::known_tools),
                )
                .collect(),
            transfer: parts.transfer.iter().map(|agent| agent.meta()).collect(),
        });
        let made = OwnedMeta::new(listed, |listed| {
            let (parts, lists) = (listed.borrow_owner(), listed.borrow_dependent());
            let unknown = DeclaredToolset::unknown_labels(&parts.tools.sets);
            let meta = AgentMeta::new(parts.kind, &parts.name)
                .definition(&parts.definition)
                .description(&parts.description)
                .prompts(&lists.prompts)
                .writes(&lists.writes)
                .may_exit(lists.tools.iter().any(|tool| tool.may_exit))
                .tools(&lists.tools)
                .more_tools(unknown.is_some())
                .compacts(parts.context.compacts)
                .conversation(parts.context.conversation)
                .labels(parts.context.labels.and(unknown.unwrap_or_default()))
                .transfer(&lists.transfer)
                .guards(parts.guards.as_ref().map(OwnedGuards::get));
            let mut meta = meta.max_turns(parts.max_turns.or(meta.max_turns));
            (meta.accepts, meta.schema) = (parts.answer.accepts, parts.answer.schema);
            if parts.answer.has_default {
                // No arm is known to exclude the default.
                meta.default = "?";
            }
            meta.by = parts.answer.by.as_ref().map(AnsweredBy::as_deref);
            meta
        });
        let announced = AnnouncedKeys::of(made.borrow_dependent());
        Self {
            repr: DescriptionRepr::Owned(Box::new(made)),
            announced,
        }
    }

    pub fn meta(&self) -> &AgentMeta<'_> {
        match &self.repr {
            DescriptionRepr::Const(meta, _) => meta,
            DescriptionRepr::Owned(made) => made.borrow_dependent(),
        }
    }

    /// Returns the sub-agents that the agent holds, in the order of [`AgentMeta::transfer`]. Empty
    /// for an agent of `workflow!`: the workflow holds them.
    pub fn sub_agents(&self) -> &[Arc<dyn DynAgent>] {
        match &self.repr {
            DescriptionRepr::Const(_, sub_agents) => sub_agents,
            DescriptionRepr::Owned(made) => &made.borrow_owner().borrow_owner().transfer,
        }
    }

    /// Returns whether a macro declares the agent.
    pub fn is_const(&self) -> bool {
        matches!(self.repr, DescriptionRepr::Const(..))
    }

    /// Returns the keys that the agent may write.
    pub fn announced(&self) -> AnnouncedKeys {
        self.announced.clone()
    }
}

impl fmt::Debug for AgentDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.meta().fmt(f)
    }
}
