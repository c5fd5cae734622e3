//! LLM agents in a runner, on trees wired by hand.

mod agent_tools;
mod answers;
mod calls;
mod compact;
mod contents;
mod fallback;
mod ids;
mod instances;
mod journal;
mod later;
mod limits;
mod memory;
mod no_answer;
mod parallel;
mod provider;
mod rehearsal;
mod repair;
mod respond;
mod routing;
pub mod tools;
mod toolsets;
mod transfer;
mod usage;

use crate::support::{self, Tree};
use adk_build::llm::{Declared, Declares, LlmDecl};
use adk_build::model::ToolDeclaration;
use adk_build::testing::ScriptedModel;
use adk_build::tool::ToolArgs;
use adk_build::{
    AgentKind, AgentMeta, BoxFuture, DynTool, Error, Event, KeySpec, Result, RunConfig, RunStream,
    Runner, ToolContext, ToolError, ToolMeta,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Declares an agent like the macro: a type whose const is the declaration.
macro_rules! agent {
    ($name:ident = $decl:expr) => {
        pub struct $name;
        impl adk_build::llm::Declares<0> for $name {
            const DECL: adk_build::llm::LlmDecl = $decl;
        }
    };
}
pub(crate) use agent;

pub const fn meta(name: &'static str) -> AgentMeta<'static> {
    AgentMeta::new(AgentKind::Llm, name).more_tools(true)
}

pub const fn decl(name: &'static str) -> LlmDecl {
    LlmDecl::new(meta(name))
}

pub fn llm<W: Declares<0>>() -> Declared<W> {
    Declared::default()
}

pub fn runner(model: &ScriptedModel) -> Runner {
    Runner::builder()
        .model(model.clone())
        .config(config())
        .build()
        .unwrap()
}

/// Config for tools that are added at run time and write undeclared keys.
pub fn config() -> RunConfig {
    RunConfig::new().require_announced_writes(false)
}

pub fn streaming(model: &ScriptedModel) -> Runner {
    let config = config().streaming(true);
    Runner::builder()
        .model(model.clone())
        .config(config)
        .build()
        .unwrap()
}

/// Returns all events but the user's, and the error of the run, if any.
pub async fn drive(runner: &Runner, tree: &Tree) -> (Vec<Arc<Event>>, Option<Error>) {
    let mut stream = runner.run(tree, "go").stream();
    collect(&mut stream).await
}

pub async fn collect(stream: &mut RunStream<'_, ()>) -> (Vec<Arc<Event>>, Option<Error>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) if event.author == "user" => {}
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Returns the events of a run that succeeds.
pub async fn events(model: &ScriptedModel, tree: &Tree) -> Vec<Arc<Event>> {
    match drive(&runner(model), tree).await {
        (events, None) => events,
        (_, Some(error)) => panic!("{error}"),
    }
}

/// Returns the error of a run that fails.
pub async fn failure(model: &ScriptedModel, tree: &Tree) -> Error {
    drive(&runner(model), tree).await.1.expect("the run fails")
}

pub fn delta(event: &Event) -> Value {
    event
        .actions
        .state_delta
        .iter()
        .map(|(key, value)| (key.to_string(), Value::clone(value)))
        .collect()
}

type Call = dyn for<'a> Fn(ToolArgs, &'a mut ToolContext) -> BoxFuture<'a, Result<Value, ToolError>>
    + Send
    + Sync;

/// A hand-written tool.
pub struct ByTool {
    meta: ToolMeta<'static>,
    declaration: ToolDeclaration,
    call: Box<Call>,
}

pub fn tool<F>(name: &'static str, call: F) -> ByTool
where
    F: for<'a> Fn(ToolArgs, &'a mut ToolContext) -> BoxFuture<'a, Result<Value, ToolError>>
        + Send
        + Sync
        + 'static,
{
    let declaration = ToolDeclaration::new(
        name,
        "Serves a test.",
        json!({"type": "object", "properties": {}}),
    );
    let meta = ToolMeta::new(name, "Serves a test.");
    ByTool {
        meta,
        declaration,
        call: Box::new(call),
    }
}

impl ByTool {
    /// Declares the keys that the tool reads and writes.
    pub fn keys(
        mut self,
        reads: &'static [KeySpec<'static>],
        writes: &'static [KeySpec<'static>],
    ) -> Self {
        self.meta = self.meta.reads(reads).writes(writes);
        self
    }
}

/// Makes a tool that ends the loop and skips the summary.
pub fn exit_loop() -> ByTool {
    let mut exit = tool("exit_loop", |_, cx| {
        cx.actions.escalate = true;
        cx.actions.skip_summarization = true;
        Box::pin(async { Ok(Value::Null) })
    });
    exit.declaration.escalates = true;
    exit
}

/// Makes a tool that returns a value.
pub fn gives(name: &'static str, value: Value) -> ByTool {
    tool(name, move |_, _| {
        let value = value.clone();
        Box::pin(async move { Ok(value) })
    })
}

impl DynTool for ByTool {
    fn meta(&self) -> &ToolMeta<'_> {
        &self.meta
    }
    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.declaration
    }
    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        (self.call)(args, cx)
    }
}
