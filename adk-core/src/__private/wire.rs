//! What the output of `workflow!` calls. Not for users: it changes without notice.

mod instruction;
mod limit;
mod select;
mod supplied;
mod toolset;
mod value;

pub use instruction::{InstructionOf, IsInstruction, NoInstruction};
pub use limit::{
    Bound, Max, MaxAttempts, MaxConcurrency, MaxElements, attempts, bound, max, max_concurrency, max_elements,
};
pub use select::{MatchReader, Matched, ReadNothing, ReadPlain};
pub use supplied::check_supplied;
pub use toolset::{count_tools, require_toolset, toolset, with_file_tools, with_toolsets};
pub use value::*;

pub use crate::__private::awaits::{AwaitDecl, Awaitable, Awaited, Awaits};
use crate::__private::resources::DeclaresNeeds;
use crate::__private::typed::TypeKind;
use crate::agents::agent_tool::AgentTool;
pub use crate::agents::llm::Instruction;
use crate::agents::llm::{ANSWER_ATTEMPTS, OutputKey};
use crate::runtime::agent::{Agent, DynAgent};
use crate::runtime::tool::function::schema_of;
use crate::runtime::tool::{DynTool, Tool};
pub use crate::runtime::workflow::{BlockField, LiveIf};
use crate::runtime::workflow::{Form, Keys, MakeSchema, Values};
use crate::spec::{AgentMeta, Spec, ToolMeta};
use crate::{Name, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::sync::Arc;

/// Facts about types as consts: an inherent associated const wins over one of a trait.
#[derive(Debug)]
pub struct ItemFacts<T: ?Sized>(PhantomData<T>);

/// What holds where nothing else is said.
pub trait ItemFactDefaults {
    /// It is an agent.
    const AGENT: bool = false;
    /// It is a tool.
    const TOOL: bool = false;
    /// It is what a name means that has no type.
    const NO_ITEM: bool = false;
    /// It is an agent that may be known at run time only.
    const DYN: bool = false;
    /// It says what it needs.
    const NEEDS: bool = false;
    /// It is a `String`.
    const TEXT: bool = false;
    /// The description of an agent. A path such as `<<T as StepAgent<..>>::Agent as Agent>::META` would say the same, but
    /// rust-analyzer 1.95 panics when it evaluates one.
    const AGENT_META: AgentMeta<'static> = NO_AGENT;
    /// A reference to it.
    const AGENT_META_REF: &'static AgentMeta<'static> = &NO_AGENT;
    /// What makes the schema of a type that has one.
    const SCHEMA: Option<MakeSchema> = None;
    /// The description of a tool. One that is none may do anything, so that nothing more is reported.
    const TOOL_META: ToolMeta<'static> = ToolMeta::new("", "").may_exit(true);
}

impl<T: ?Sized> ItemFactDefaults for ItemFacts<T> {}

impl<T: Agent> ItemFacts<T> {
    /// It is an agent.
    pub const AGENT: bool = true;
    /// Its description.
    pub const AGENT_META: AgentMeta<'static> = T::META;
    /// A reference to it. Agents of several macro calls that are tools of each other are a cycle of constants, which rustc reports
    /// before any check runs. It shows the next line first, so the remedy is on it.
    pub const AGENT_META_REF: &'static AgentMeta<'static> = T::META_REF; // help: take one out of `tools`
}

/// What a name means that has no type.
#[derive(Debug)]
pub struct NoItem;

impl ItemFacts<NoItem> {
    /// It is.
    pub const NO_ITEM: bool = true;
}

impl<T: DeserializeOwned + schemars::JsonSchema> ItemFacts<T> {
    /// What makes its schema.
    pub const SCHEMA: Option<MakeSchema> = Some(schema_of::<T>);
}

impl<T: Tool> ItemFacts<T> {
    /// It is a tool.
    pub const TOOL: bool = true;
    /// Its description.
    pub const TOOL_META: ToolMeta<'static> = T::META;
}

impl<T: DeclaresNeeds> ItemFacts<T> {
    /// It says what it needs.
    pub const NEEDS: bool = true;
}

impl<T: DynAgent> ItemFacts<T> {
    /// It is an agent that may be known at run time only.
    pub const DYN: bool = true;
}

impl ItemFacts<String> {
    /// It is a `String`.
    pub const TEXT: bool = true;
}

// The bounds of this module are on blanket impls, and paths ask for them, such as `<T as IsAgent>::YES`. When one does
// not hold, rustc says so under the type that the user wrote, in the words of the trait, and without a note about a
// function of ours that asked.

/// The one place where a step has to be an agent, so that one that is none is reported once.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` is not an agent",
    label = "cannot be a step of a workflow",
    note = "put `#[agent]` on the function, declare it with `agent NAME {{ ... }}`, or implement `Agent`; a `#[tool]` is no step, and belongs in the `tools: [...]` of an agent"
)]
pub trait IsAgent {
    /// It is one.
    const YES: () = ();
    /// As what the walk runs.
    fn as_dyn(&self) -> Option<&dyn DynAgent>;
}

#[diagnostic::do_not_recommend]
impl<T: Agent> IsAgent for T {
    fn as_dyn(&self) -> Option<&dyn DynAgent> {
        Some(self)
    }
}

/// The one place where a tool has to be one.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` is not a tool",
    label = "cannot be in `tools`",
    note = "put `#[tool]` on the function, or implement `Tool`; an agent as a tool is written `agent(NAME)`"
)]
pub trait IsTool {
    /// It is one.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Tool> IsTool for T {}

/// The agent of a step; nothing for a type that is none, which [`IsAgent`] reports.
pub trait StepAgent<K> {
    /// As what the walk runs.
    fn as_dyn(&self) -> Option<&dyn DynAgent>;
}

/// A stub for a step that is no agent.
pub const NO_AGENT: AgentMeta<'static> = adk_spec::__private::stub_if(true, AgentMeta::custom(""));

/// An agent that a workflow makes by itself.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` has no `Default`, so this workflow cannot make it",
    label = "give it to the workflow: declare `agent NAME: {Self};` and run `NAME`",
    note = "the workflow then has `new(NAME)`; or implement `Default` for `{Self}`"
)]
pub trait Make<K>: Sized {
    /// Makes it.
    fn make() -> Self;
}

macro_rules! kinds {
    ($($agent:literal $none:literal)*) => {$(
        impl<T: Agent> StepAgent<TypeKind<$agent>> for T {
            fn as_dyn(&self) -> Option<&dyn DynAgent> {
                Some(self)
            }
        }

        impl<T> StepAgent<TypeKind<$none>> for T {
            fn as_dyn(&self) -> Option<&dyn DynAgent> {
                None
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Default> Make<TypeKind<$agent>> for T {
            fn make() -> Self {
                Self::default()
            }
        }

        impl<T> Make<TypeKind<$none>> for T {
            fn make() -> Self {
                unreachable!("a step that is no agent does not compile")
            }
        }
    )*};
}

// Those that are agents, and those that are none.
kinds! { 1 0 3 2 }

/// A tool of a declared agent; nothing for a type that is none, which [`IsTool`] reports.
pub trait Tooling<const TOOL: bool> {
    /// Makes it.
    fn make() -> Option<Arc<dyn DynTool>>;
}

impl<T: Tool + Default> Tooling<true> for T {
    fn make() -> Option<Arc<dyn DynTool>> {
        Some(Arc::new(T::default()))
    }
}

impl<T> Tooling<false> for T {
    fn make() -> Option<Arc<dyn DynTool>> {
        None
    }
}

/// An agent that a declaration names as a tool; nothing for a type that is none, which is reported elsewhere.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` has no `Default`, so this workflow cannot make it",
    label = "cannot be in `tools`",
    note = "write `tools: [..]` and add it as a value: `workflow.NAME.add_tool(AgentTool::new(...))`; or implement `Default` for `{Self}`"
)]
pub trait AgentTooling<const AGENT: bool> {
    /// Makes it.
    fn make() -> Option<Arc<dyn DynTool>>;
}

#[diagnostic::do_not_recommend]
impl<T: Agent + Default + 'static> AgentTooling<true> for T {
    fn make() -> Option<Arc<dyn DynTool>> {
        Some(Arc::new(AgentTool::new(T::default())))
    }
}

#[diagnostic::do_not_recommend]
impl<T> AgentTooling<false> for T {
    fn make() -> Option<Arc<dyn DynTool>> {
        None
    }
}

/// The tools of an agent.
pub fn tools<const N: usize>(tools: [Option<Arc<dyn DynTool>>; N]) -> Vec<Arc<dyn DynTool>> {
    tools.into_iter().flatten().collect()
}

/// A value of a type that rustc is to hold a user's expression to.
#[derive(Debug)]
pub struct Exactly<T> {
    /// The value.
    pub value: T,
}

/// The most model calls of one turn of an agent without tools: what it declares, one for text, and for another type as often
/// as an answer may not fit.
pub const fn max_turns(is_text: bool, declared: Option<u32>) -> Option<u32> {
    match declared {
        None if is_text => Some(1),
        None => Some(ANSWER_ATTEMPTS),
        declared => declared,
    }
}

/// What the value of a key may be.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be the type of a key",
    label = "cannot be stored in the state",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize` and `Deserialize`"
)]
pub trait KeyValue: Sized {
    /// It may.
    const YES: bool = true;
    /// Adds it as an input.
    fn input(&self, keys: &mut Keys, key: &'static str) -> Result<()>;
    /// Adds it as the initial value of a key.
    fn set(&self, keys: &mut Keys, key: &'static str) -> Result<()>;
    /// The value of a key.
    fn get(values: &Values<'_>, key: &str) -> Result<Self>;
    /// The value of an input, see [`Form::input`].
    fn read(
        form: &mut Form,
        key: &'static str,
        description: &str,
        schema: Option<MakeSchema>,
        default: Option<fn() -> Self>,
    ) -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> KeyValue for T {
    fn input(&self, keys: &mut Keys, key: &'static str) -> Result<()> {
        keys.input(key, self)
    }

    fn set(&self, keys: &mut Keys, key: &'static str) -> Result<()> {
        keys.set(key, self)
    }

    fn get(values: &Values<'_>, key: &str) -> Result<T> {
        values.get(key)
    }

    fn read(
        form: &mut Form,
        key: &'static str,
        description: &str,
        schema: Option<MakeSchema>,
        default: Option<fn() -> T>,
    ) -> Option<T> {
        form.input(key, description, schema, default)
    }
}

/// What a model may answer with.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be the answer of a model",
    label = "has no JSON schema",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize`, `Deserialize` and `JsonSchema`; a `Secret` is written by functions and tools"
)]
pub trait AnswerType {
    /// It may.
    const YES: bool = true;
    /// How it is asked for and read, under a key without a name.
    const JSON: OutputKey;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + schemars::JsonSchema> AnswerType for T {
    const JSON: OutputKey = OutputKey::json::<T>("");
}

/// The key that an answer is written to.
pub const fn output(key: &'static str, is_text: bool, json: OutputKey) -> OutputKey {
    if is_text { OutputKey::text(key) } else { OutputKey { key, ..json } }
}

/// The name of a step, without a copy.
pub fn name(spec: &Spec<'static>, step: usize) -> Name {
    spec.steps.get(step).map_or_else(Name::default, |step| Name::literal(step.name))
}

/// Where the callbacks of a block are declared, as those of an agent are in its settings.
#[derive(Debug)]
pub struct Declaring<'a> {
    /// Those before and after it.
    pub callbacks: &'a mut crate::runtime::callback::AgentCallbacks,
}

/// The field of a block with the callbacks that were declared.
pub fn block<B: BlockField>(declare: impl FnOnce(&mut Declaring<'_>)) -> B {
    let mut block = B::default();
    declare(&mut Declaring { callbacks: block.callbacks_mut() });
    block
}
