//! Items that the expansion of `workflow!` calls. They are not for users and change without notice.

mod instruction;
mod limit;
mod select;
mod supplied;
mod toolset;
mod value;

pub use instruction::{InstructionOf, IsInstruction, NoInstruction};
pub use limit::{
    Bound, Max, MaxAttempts, MaxConcurrency, MaxElements, attempts, bound, max, max_concurrency,
    max_elements,
};
pub use select::{MatchReader, MatchedType, ReadNothing, ReadPlain};
pub use supplied::check_supplied;
pub use toolset::{
    ToolFile, raise_tool_file, require_toolset, toolset, with_file_tools, with_toolsets,
};
pub use value::*;

pub use crate::__private::awaits::{AwaitDecl, Awaitable, Awaited, Awaits};
use crate::__private::resources::DeclaresNeeds;
use crate::__private::typed::TypeKind;
use crate::agents::agent_tool::AgentTool;
pub use crate::agents::llm::Instruction;
use crate::agents::llm::OutputKey;
use crate::agents::llm::agent::declare::ANSWER_ATTEMPTS;
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

/// Facts about the items that a workflow names, as consts. An inherent associated const wins over a
/// const of a trait.
#[derive(Debug)]
pub struct ItemFacts<T: ?Sized>(PhantomData<T>);

/// The facts about all other types.
pub trait ItemFactDefaults {
    /// Whether the type is an agent.
    const AGENT: bool = false;
    /// Whether the type is a tool.
    const TOOL: bool = false;
    /// Whether the type is [`NoItem`].
    const NO_ITEM: bool = false;
    /// Whether the type is an agent that may be known at run time only.
    const DYN: bool = false;
    /// Whether the type declares its resources.
    const NEEDS: bool = false;
    /// Whether the type is a `String`.
    const TEXT: bool = false;
    /// The description of an agent. A path such as `<<T as StepAgent<..>>::Agent as Agent>::META`
    /// would be equal, but rust-analyzer 1.95 panics when it evaluates such a path.
    const AGENT_META: AgentMeta<'static> = NO_AGENT;
    /// A reference to the description of an agent.
    const AGENT_META_REF: &'static AgentMeta<'static> = &NO_AGENT;
    /// The function that makes the JSON schema of the type.
    const SCHEMA: Option<MakeSchema> = None;
    /// The description of a tool. For a type that is not a tool, which [`IsTool`] reports, it
    /// allows exits, so that no second error about an endless loop follows.
    const TOOL_META: ToolMeta<'static> = ToolMeta::new("", "").may_exit(true);
}

impl<T: ?Sized> ItemFactDefaults for ItemFacts<T> {}

impl<T: Agent> ItemFacts<T> {
    /// `true` for an agent.
    pub const AGENT: bool = true;
    /// The description of the agent.
    pub const AGENT_META: AgentMeta<'static> = T::META;
    /// A reference to the description of the agent. Agents of several macro calls that are tools or
    /// targets of each other form a cycle of constants, which rustc reports before any check runs.
    /// rustc shows the next line first, so the remedy is on that line.
    pub const AGENT_META_REF: &'static AgentMeta<'static> = T::META_REF; // help: take one out of `tools` or `transfer`
}

/// The type of a name that has no type of its own, such as a function.
#[derive(Debug)]
pub struct NoItem;

impl ItemFacts<NoItem> {
    /// `true` for [`NoItem`].
    pub const NO_ITEM: bool = true;
}

impl<T: DeserializeOwned + schemars::JsonSchema> ItemFacts<T> {
    /// The function that makes the JSON schema of the type.
    pub const SCHEMA: Option<MakeSchema> = Some(schema_of::<T>);
}

impl<T: Tool> ItemFacts<T> {
    /// `true` for a tool.
    pub const TOOL: bool = true;
    /// The description of the tool.
    pub const TOOL_META: ToolMeta<'static> = T::META;
}

impl<T: DeclaresNeeds> ItemFacts<T> {
    /// `true` for a type that declares its resources.
    pub const NEEDS: bool = true;
}

impl<T: DynAgent> ItemFacts<T> {
    /// `true` for an agent that may be known at run time only.
    pub const DYN: bool = true;
}

impl ItemFacts<String> {
    /// `true` for a `String`.
    pub const TEXT: bool = true;
}

// The bounds of this module are on blanket impls, and expansions require them by paths such as
// `<T as IsAgent>::YES`. rustc reports an unsatisfied bound under the type that the user wrote,
// with the message of the trait, and adds no note about a function of this crate.

/// An agent as a step. Only a path to [`IsAgent::YES`] requires a step to be an agent, so a wrong
/// type is reported once.
#[diagnostic::on_unimplemented(
    message = "agent-attribute: `{Self}` is not an agent",
    label = "cannot be a step of a workflow",
    note = "put `#[agent]` on the function, declare it with `agent NAME {{ ... }}`, or implement \
        `Agent`; a `#[tool]` is no step, and belongs in the `tools: [...]` of an agent"
)]
pub trait IsAgent {
    /// The unit value: an expansion names this constant to require the trait of a type.
    const YES: () = ();
    /// Returns the agent that runs the step.
    fn as_dyn(&self) -> Option<&dyn DynAgent>;
}

#[diagnostic::do_not_recommend]
impl<T: Agent> IsAgent for T {
    fn as_dyn(&self) -> Option<&dyn DynAgent> {
        Some(self)
    }
}

/// An agent of another module or crate in `transfer`. Only a path to [`IsTarget::YES`] requires
/// the trait, so a wrong type is reported once.
#[diagnostic::on_unimplemented(
    message = "transfer-target: `{Self}` is not an agent",
    label = "cannot be in `transfer`",
    note = "declare it with `llm::agent! {{ ... }}`, put `#[agent]` on the function, or implement \
        `Agent`; a `#[tool]` belongs in `tools: [...]`"
)]
pub trait IsTarget {
    /// The unit value: an expansion names this constant to require the trait of a type.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Agent> IsTarget for T {}

/// A tool in `tools`. Only a path to [`IsTool::YES`] requires the trait, so a wrong type is
/// reported once.
#[diagnostic::on_unimplemented(
    message = "tool-attribute: `{Self}` is not a tool",
    label = "cannot be in `tools`",
    note = "put `#[tool]` on the function, or implement `Tool`; an agent as a tool is written \
        `agent(NAME)`"
)]
pub trait IsTool {
    /// The unit value: an expansion names this constant to require the trait of a type.
    const YES: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Tool> IsTool for T {}

/// The agent of a step. A type that is not an agent, which [`IsAgent`] reports, has none.
pub trait StepAgent<K> {
    /// Returns the agent that runs the step.
    fn as_dyn(&self) -> Option<&dyn DynAgent>;
}

/// The stub for a step whose type is not an agent.
pub const NO_AGENT: AgentMeta<'static> = adk_spec::__private::stub_if(true, AgentMeta::custom(""));

/// An agent that a workflow creates by itself.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` has no `Default`, so this workflow cannot make it",
    label = "give it to the workflow: declare `agent NAME: {Self};` and run `NAME`",
    note = "the workflow then has `new(NAME)`; or implement `Default` for `{Self}`"
)]
pub trait Make<K>: Sized {
    /// Creates the agent.
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

// The first number of each pair is a kind with an agent, the second a kind without one.
kinds! { 1 0 3 2 }

/// A tool of a declared agent. A type that is not a tool, which [`IsTool`] reports, has none.
pub trait Tooling<const TOOL: bool> {
    /// Creates the tool.
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

/// An agent that a declaration names as a tool. A type that is not an agent, which [`IsAgent`]
/// reports, has none.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` has no `Default`, so this workflow cannot make it",
    label = "cannot be in `tools`",
    note = "write `tools: [..]` and add it as a value: \
        `workflow.NAME.add_tool(AgentTool::new(...))`; or implement `Default` for `{Self}`"
)]
pub trait AgentTooling<const AGENT: bool> {
    /// Creates the tool.
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

/// An agent that an agent outside of a workflow may hand over to. A type that is not an agent,
/// which [`IsTarget`] reports, has none.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` has no `Default`, so an agent of `llm::agent!` cannot make it",
    label = "cannot be in `transfer`",
    note = "implement `Default` for `{Self}`, or declare both in a workflow, the target as \
        `agent NAME: {Self};`"
)]
pub trait MakeTarget<const AGENT: bool> {
    /// Creates the agent.
    fn make() -> Option<Arc<dyn DynAgent>>;
}

#[diagnostic::do_not_recommend]
impl<T: Agent + Default + 'static> MakeTarget<true> for T {
    fn make() -> Option<Arc<dyn DynAgent>> {
        Some(Arc::new(T::default()))
    }
}

#[diagnostic::do_not_recommend]
impl<T> MakeTarget<false> for T {
    fn make() -> Option<Arc<dyn DynAgent>> {
        None
    }
}

/// Returns the targets of an agent, without those that could not be created.
pub fn targets<const N: usize>(all: [Option<Arc<dyn DynAgent>>; N]) -> Vec<Arc<dyn DynAgent>> {
    all.into_iter().flatten().collect()
}

/// Returns the tools of an agent, without those that could not be created.
pub fn tools<const N: usize>(tools: [Option<Arc<dyn DynTool>>; N]) -> Vec<Arc<dyn DynTool>> {
    tools.into_iter().flatten().collect()
}

/// A wrapper that makes rustc expect the type `T` for a user's expression.
#[derive(Debug)]
pub struct Exactly<T> {
    /// The value.
    pub value: T,
}

/// Returns the maximum number of model calls in one turn of an agent without tools: the declared
/// number, 1 for text, and the number of answer attempts for other types.
pub const fn max_turns(is_text: bool, declared: Option<u32>) -> Option<u32> {
    match declared {
        None if is_text => Some(1),
        None => Some(ANSWER_ATTEMPTS),
        declared => declared,
    }
}

/// A type that the value of a key may have.
#[diagnostic::on_unimplemented(
    message = "key-type: `{Self}` cannot be the type of a key",
    label = "cannot be stored in the state",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize` and `Deserialize`"
)]
pub trait KeyValue: Sized {
    /// Always `true`: an expansion names this constant to require the trait of a type.
    const YES: bool = true;
    /// Adds the value as an input.
    fn input(&self, keys: &mut Keys, key: &'static str) -> Result<()>;
    /// Adds the value as the initial value of a key.
    fn set(&self, keys: &mut Keys, key: &'static str) -> Result<()>;
    /// Returns the value of a key.
    fn get(values: &Values<'_>, key: &str) -> Result<Self>;
    /// Returns the value of an input; see [`Form::input`].
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

/// A type that a model may answer with.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be the answer of a model",
    label = "has no JSON schema",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize`, `Deserialize` and \
        `JsonSchema`; a `Secret` is written by functions and tools"
)]
pub trait AnswerType {
    /// Always `true`: an expansion names this constant to require the trait of a type.
    const YES: bool = true;
    /// The form in which the answer is requested and read. Its key name is empty; [`output`] sets
    /// the name.
    const JSON: OutputKey;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + schemars::JsonSchema> AnswerType for T {
    const JSON: OutputKey = OutputKey::json::<T>("");
}

/// Returns the key that receives an answer.
pub const fn output(key: &'static str, is_text: bool, json: OutputKey) -> OutputKey {
    if is_text {
        OutputKey::text(key)
    } else {
        OutputKey { key, ..json }
    }
}

/// Returns the name of a step without copying it.
pub fn name(spec: &Spec<'static>, step: usize) -> Name {
    spec.steps
        .get(step)
        .map_or_else(Name::default, |step| Name::literal(step.name))
}

/// The settings of a block. The field has the same name as in the settings of an agent, so that one
/// expansion adds callbacks to both.
#[derive(Debug)]
pub struct BlockDeclaration<'a> {
    /// The callbacks before and after the block.
    pub callbacks: &'a mut crate::runtime::callback::AgentCallbacks,
}

/// Creates the value of a block's field in the workflow struct, with the declared callbacks.
pub fn block<B: BlockField>(declare: impl FnOnce(&mut BlockDeclaration<'_>)) -> B {
    let mut block = B::default();
    declare(&mut BlockDeclaration {
        callbacks: block.callbacks_mut(),
    });
    block
}
