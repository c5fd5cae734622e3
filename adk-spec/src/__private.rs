//! Functions that expansions of the macros and `adk-workflow-core` call. Not for users: the module
//! changes without notice.

#![doc(hidden)]

pub use crate::bounds::Cost;
pub use crate::check::bounds::raise_bounds;
pub use crate::check::facts::{Facts, Sizes, all, facts, sizes};
pub use crate::check::flow::{Pair, READS, WRITES};
pub use crate::check::is_live;
pub use crate::check::keys::raise_keys;
pub use crate::check::labels::{answers_closed, chooses_cleaned_arm, raise_guard};
pub use crate::check::limits::{bound, limit, limit_diagnostic, raise_bound, raise_limit};
pub use crate::check::live::{LIVE_HELP, describe_live, describe_live_block};
pub use crate::check::tool_file::{FileTools, ToolFile, raise_tool_file};
pub use crate::check::tools::{raise_function, raise_tool, wait_in_tool};
pub use crate::text::{join, join_len};

use crate::hash::hash;
use crate::spec::{AgentKind, AgentMeta, KeySpec, Labels, OPENED, PromptKey, layout};
use std::any::TypeId;

// Each function below makes a description in one call, because every call in const evaluation costs
// time in the user's crate.

/// Creates a key of a known type.
///
/// `hash` is the hash of the name, and `number` is the number of the type (see [`crate::number`]).
/// `place` is the index of the type among the agent's types in the runtime's trait `typed::Typed`;
/// it includes the flag `OPENED` if `ty` is the inner type of an `Option`.
#[allow(clippy::too_many_arguments)]
pub const fn key<'a, T: 'static>(
    name: &'a str,
    hash: u64,
    prefix: bool,
    ty: &'a str,
    optional: bool,
    any: bool,
    number: u64,
    place: u8,
) -> KeySpec<'a> {
    KeySpec {
        name,
        ty,
        optional,
        id: Some(TypeId::of::<T>),
        any,
        hash,
        prefix,
        number,
        layout: layout::<T>(),
        perhaps: optional,
        opened: place & OPENED != 0,
        place: place & !OPENED,
        accepts: None,
    }
}

/// Creates the description of an LLM agent.
#[allow(clippy::too_many_arguments)]
pub const fn llm_meta<'a>(
    name: &'a str,
    definition: &'a str,
    origin: u64,
    description: &'a str,
    prompts: &'a [&'a str],
    sources: &'a [&'a str],
    prompt_keys: Option<&'a [PromptKey<'a>]>,
    writes: &'a [KeySpec<'a>],
    max_turns: Option<u32>,
) -> AgentMeta<'a> {
    AgentMeta {
        definition,
        module: ("", origin),
        description,
        prompts,
        sources,
        writes,
        max_turns,
        identity: hash(definition),
        prompt_keys,
        ..AgentMeta::new(AgentKind::Llm, name)
    }
}

/// Creates the description of a function.
pub const fn function_meta<'a>(
    name: &'a str,
    definition: &'a str,
    origin: u64,
    description: &'a str,
    reads: &'a [KeySpec<'a>],
    writes: &'a [KeySpec<'a>],
    may_exit: bool,
) -> AgentMeta<'a> {
    let agent = AgentMeta::new(AgentKind::Function, name);
    let module = ("", origin);
    let identity = hash(definition);
    AgentMeta {
        definition,
        module,
        identity,
        description,
        reads,
        writes,
        may_exit,
        ..agent
    }
}

/// The label of a tool that shows artifacts.
pub const SHOWS_ARTIFACTS: Labels = Labels::LOCAL.and(Labels::CONTEXT);
/// The label of a tool that shows the memory of other sessions.
pub const SHOWS_MEMORY: Labels = Labels::LOCAL.and(SEES_MEMORY);
/// The mark of a tool that shows the memory of other sessions, beside other labels.
pub const SEES_MEMORY: Labels = Labels::MEMORY;
/// The label of an agent whose instruction is a function.
pub const SEES_ALL: Labels = Labels::CONTEXT;

/// Returns the labels that count, in a workflow with `strict` for something without labels too.
pub const fn counted(labels: Labels, strict: bool) -> Labels {
    if strict && !labels.is_known() {
        labels.and(Labels::ALL)
    } else {
        labels
    }
}

/// Marks an agent as one that may read each key and the conversation.
pub const fn sees_all<'a>(mut agent: AgentMeta<'a>, yes: bool) -> AgentMeta<'a> {
    if yes {
        agent.labels = agent.labels.and(Labels::CONTEXT);
    }
    agent
}

/// Returns the description as a stub if the agent was rejected. A stub has no definition. A
/// workflow with a stub is not checked for the flow of its keys.
pub const fn stub_if<'a>(refused: bool, meta: AgentMeta<'a>) -> AgentMeta<'a> {
    if refused { meta.definition("") } else { meta }
}

/// Generates setters from rows of the form `METHOD(PARAMETER: TYPE) = VALUE;` after `[const]` or
/// `[]`. Each setter sets the field of its name and returns `self`.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    (
        @one [$($const:ident)?]
        $(#[$doc:meta])* $name:ident($parameter:ident: $type:ty) = $value:expr
    ) => {
        $(#[$doc])*
        #[must_use]
        pub $($const)? fn $name(mut self, $parameter: $type) -> Self {
            self.$name = $value;
            self
        }
    };
    ($const:tt $($(#[$doc:meta])* $name:ident($parameter:ident: $type:ty) = $value:expr;)+) => {
        $($crate::setters!(@one $const $(#[$doc])* $name($parameter: $type) = $value);)+
    };
}
