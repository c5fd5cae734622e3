//! What the output of `workflow!` calls. Not for users: it changes without notice.

mod value;

pub use value::*;

use super::{Keys, Values};
use crate::agent::{Agent, DynAgent};
use crate::flow::Flow;
use crate::llm::OutputKey;
use crate::run::Context;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentMeta, Spec, ToolMeta};
use crate::tool::{DynTool, Tool, ToolArgs, ToolContext, ToolError};
use crate::{Error, ErrorKind, Name, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;

/// Facts about types as consts: an inherent associated const wins over one of a trait.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<T>);

/// What holds where nothing else is said.
pub trait Otherwise {
    /// It is an agent.
    const AGENT: bool = false;
    /// It is a tool.
    const TOOL: bool = false;
    /// It is an agent that may be known at run time only.
    const DYN: bool = false;
    /// It is a `String`.
    const TEXT: bool = false;
}

impl<T: ?Sized> Otherwise for Probe<T> {}

impl<T: Agent> Probe<T> {
    /// It is an agent.
    pub const AGENT: bool = true;
}

impl<T: Tool> Probe<T> {
    /// It is a tool.
    pub const TOOL: bool = true;
}

impl<T: DynAgent> Probe<T> {
    /// It is an agent that may be known at run time only.
    pub const DYN: bool = true;
}

impl Probe<String> {
    /// It is a `String`.
    pub const TEXT: bool = true;
}

/// The one place where a step has to be an agent, so that one that is none is reported once.
pub const fn is_agent<T: Agent>() {}

/// The one place where a tool has to be one.
pub const fn is_tool<T: Tool>() {}

/// The agent of a step; `NoAgent` for a type that is none, which [`is_agent`] reports.
pub trait Placing<const AGENT: bool> {
    /// The type that has a description.
    type Agent: Agent;
    /// As what the walk runs.
    fn as_dyn(&self) -> Option<&dyn DynAgent>;
}

impl<T: Agent> Placing<true> for T {
    type Agent = T;
    fn as_dyn(&self) -> Option<&dyn DynAgent> {
        Some(self)
    }
}

impl<T> Placing<false> for T {
    type Agent = NoAgent;
    fn as_dyn(&self) -> Option<&dyn DynAgent> {
        None
    }
}

/// Stands for a step that is no agent.
#[derive(Debug)]
pub struct NoAgent;

impl Agent for NoAgent {
    // It may do anything, so that nothing more is reported.
    const META: AgentMeta<'static> = AgentMeta::custom("").may_exit(true);
    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// An agent that a workflow makes by itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `Default`, so this workflow cannot make it",
    label = "give it to the workflow: declare `agent NAME: {Self};` and run `NAME`",
    note = "the workflow then has `new(NAME)`; or implement `Default` for `{Self}`"
)]
pub trait Make<const AGENT: bool>: Sized {
    /// Makes it.
    fn make() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> Make<true> for T {
    fn make() -> Self {
        Self::default()
    }
}

impl<T> Make<false> for T {
    fn make() -> Self {
        unreachable!("a step that is no agent does not compile")
    }
}

/// Makes an agent.
pub fn make<T: Make<AGENT>, const AGENT: bool>() -> T {
    T::make()
}

/// A tool of a declared agent; `NoTool` for a type that is none, which [`is_tool`] reports.
pub trait Tooling<const TOOL: bool> {
    /// The type that has a description.
    type Tool: Tool;
    /// Makes it.
    fn make() -> Option<Arc<dyn DynTool>>;
}

impl<T: Tool + Default> Tooling<true> for T {
    type Tool = T;
    fn make() -> Option<Arc<dyn DynTool>> {
        Some(Arc::new(T::default()))
    }
}

impl<T> Tooling<false> for T {
    type Tool = NoTool;
    fn make() -> Option<Arc<dyn DynTool>> {
        None
    }
}

/// Stands for a tool that is none.
#[derive(Debug)]
pub struct NoTool;

impl Tool for NoTool {
    const META: ToolMeta<'static> = ToolMeta::new("", "").may_exit(true);
    fn declaration(&self) -> &crate::model::ToolDeclaration {
        unreachable!("a tool that is none does not compile")
    }
    async fn call(&self, _args: ToolArgs, _cx: &mut ToolContext) -> Result<Value, ToolError> {
        Ok(Value::Null)
    }
}

/// The tools of an agent.
pub fn tools<const N: usize>(tools: [Option<Arc<dyn DynTool>>; N]) -> Vec<Arc<dyn DynTool>> {
    tools.into_iter().flatten().collect()
}

/// A whole number of any type.
#[diagnostic::on_unimplemented(
    message = "loop-max: this is `{Self}`, and not a whole number",
    label = "expected a number of rounds, 1 or more"
)]
pub trait Whole: Copy {}

macro_rules! whole {
    ($($ty:ty),*) => { $(#[diagnostic::do_not_recommend] impl Whole for $ty {})* };
}
whole!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// The number itself.
pub const fn whole<T: Whole>(number: T) -> T {
    number
}

/// What the value of a key may be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a key",
    label = "cannot be stored in the state",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize` and `Deserialize`"
)]
pub trait KeyValue: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> KeyValue for T {}

/// Adds an input.
pub fn input<T: KeyValue>(keys: &mut Keys, key: &'static str, value: &T) -> Result<()> {
    keys.input(key, value)
}

/// Adds a key with its initial value.
pub fn set<T: KeyValue>(keys: &mut Keys, key: &'static str, value: &T) -> Result<()> {
    keys.set(key, value)
}

/// The value of a key.
pub fn get<T: KeyValue>(values: &Values<'_>, key: &str) -> Result<T> {
    values.get(key)
}

/// What a model may answer with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of a model",
    label = "has no JSON schema",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize`, `Deserialize` and `JsonSchema`"
)]
pub trait Answer: Serialize + DeserializeOwned + schemars::JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + schemars::JsonSchema> Answer for T {}

/// The key that an answer is written to.
pub const fn output<T: Answer>(key: &'static str, is_text: bool) -> OutputKey {
    if is_text { OutputKey::text(key) } else { OutputKey::json::<T>(key) }
}

/// The name of a step, without a copy.
pub fn name(spec: &Spec<'static>, step: usize) -> Name {
    spec.steps.get(step).map_or_else(Name::default, |step| Name::literal(step.name))
}

/// Refuses an agent that reads or writes other keys than the workflow was checked with.
pub fn agrees(declared: &AgentMeta<'_>, given: Option<&AgentMeta<'_>>) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    for (what, checked, has) in [
        ("reads", reads(declared), reads(given)),
        ("writes", keys(declared.writes), keys(given.writes)),
        ("may end the loops", exits(declared), exits(given)),
    ] {
        if checked != has {
            let list = |all: &BTreeSet<String>| match all.is_empty() {
                true => "nothing".to_owned(),
                false => all.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
            };
            let message = format!(
                "the agent given for `{}` {what} {}, but the workflow was checked with one that {what} {}",
                declared.name,
                list(&has),
                list(&checked),
            );
            let help = "declare it with the keys that it has, `agent NAME(reads) -> KEY: TYPE as TYPE;`";
            return Err(Error::new(ErrorKind::Config, message).with_help(help));
        }
    }
    Ok(())
}

fn keys(keys: &[crate::KeySpec<'_>]) -> BTreeSet<String> {
    let typed = keys.iter().map(|key| format!("{}: {}", key.name, key.ty.replace(' ', "")));
    typed.collect()
}

/// Names alone: a prompt has no types.
fn reads(meta: &AgentMeta<'_>) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = meta.reads.iter().map(|key| key.name.to_owned()).collect();
    for prompt in meta.prompts {
        let mut scan = Placeholders::new(prompt);
        while let Some(found) = scan.next() {
            if let Source::Key(key) = found.source {
                all.insert(key.to_owned());
            }
        }
    }
    all
}

fn exits(meta: &AgentMeta<'_>) -> BTreeSet<String> {
    let innermost = meta.may_exit.then(|| "innermost".to_owned());
    innermost.into_iter().chain(meta.exits.iter().map(|&name| name.to_owned())).collect()
}
