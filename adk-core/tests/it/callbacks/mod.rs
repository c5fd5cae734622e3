//! Callbacks and plugins: their order, what they replace and write, and how they end a loop.

mod adk;
mod agents;
mod durable;
mod models;
mod plugins;
mod tools;

use crate::support::Tree;
use adk_build::callback::CallbackContext;
use adk_build::llm::{Declared, Declares, LlmDecl, OutputKey};
use adk_build::model::ToolDeclaration;
use adk_build::runner::RunnerBuilder;
use adk_build::testing::ScriptedModel;
use adk_build::tool::ToolArgs;
use adk_build::{
    AgentKind, AgentMeta, BoxFuture, DynTool, Event, KeySpec, RunConfig, Runner, ToolContext,
    ToolError, ToolMeta,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Names of the called hooks, in order.
#[derive(Clone, Default)]
pub struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Returns a callback that only adds to the trace.
    pub fn called(
        &self,
        what: &'static str,
    ) -> impl Fn(&mut CallbackContext) + Send + Sync + 'static {
        let trace = self.clone();
        move |cx| trace.add(format!("{what} {}", cx.agent_name()))
    }
}

/// Formats an event in short: author, text, writes, requested actions.
pub fn short(event: &Event) -> String {
    let mut all = format!("{}: {}", event.author, event.text());
    for (key, value) in event.actions.state_delta.iter() {
        all.push_str(&format!(" {key}={value}"));
    }
    for call in event.function_calls() {
        all.push_str(&format!(
            " {}({})",
            call.name,
            Value::Object(call.args.clone())
        ));
    }
    for response in event.function_responses() {
        all.push_str(&format!(
            " {}->{}",
            response.name,
            Value::Object(response.response.clone())
        ));
    }
    if event.actions.escalates() {
        all.push_str(" escalate");
    }
    all
}

/// Returns all events but the user's in short, and the error at the end.
pub async fn drive(
    builder: RunnerBuilder<adk_build::model::NoProvider>,
    tree: &Tree,
) -> Vec<String> {
    let runner: Runner = builder.build().unwrap();
    let mut stream = runner.run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) if event.author == "user" => {}
            Ok(event) => all.push(short(&event)),
            Err(error) => all.push(error.to_string()),
        }
    }
    all
}

/// Lets callbacks set any key. Other tests cover the announcement of writes.
pub fn any_key() -> RunConfig {
    RunConfig::new().require_announced_writes(false)
}

pub async fn events(tree: &Tree) -> Vec<String> {
    drive(Runner::builder().config(any_key()), tree).await
}

/// Runs under `RunConfig::adk()`.
pub async fn adk_events(tree: &Tree) -> Vec<String> {
    drive(Runner::builder().config(RunConfig::adk()), tree).await
}

/// An LLM agent `a` that writes its answer to `o`.
pub struct A;
impl Declares<0> for A {
    const DECL: LlmDecl = LlmDecl::new(
        AgentMeta::new(AgentKind::Llm, "a")
            .may_exit(true)
            .more_tools(true)
            .writes(&[KeySpec::new("o", "String")]),
    )
    .instruction("Base.")
    .output(OutputKey::text("o"));
}

pub fn llm() -> Declared<A> {
    Declared::default()
}

pub fn modelled(model: &ScriptedModel) -> RunnerBuilder<adk_build::model::NoProvider> {
    Runner::builder().model(model.clone()).config(any_key())
}

type Body = Box<
    dyn for<'a> Fn(ToolArgs, &'a mut ToolContext) -> BoxFuture<'a, Result<Value, ToolError>>
        + Send
        + Sync,
>;

/// A hand-written tool.
pub struct ByTool {
    declaration: ToolDeclaration,
    body: Body,
}

pub fn tool<F>(name: &'static str, body: F) -> ByTool
where
    F: for<'a> Fn(ToolArgs, &'a mut ToolContext) -> BoxFuture<'a, Result<Value, ToolError>>
        + Send
        + Sync
        + 'static,
{
    let declaration = ToolDeclaration::new(name, "", json!({"type": "object"}));
    ByTool {
        declaration,
        body: Box::new(body),
    }
}

/// Makes a tool that adds `a` and `b`.
pub fn add(trace: &Trace) -> ByTool {
    let trace = trace.clone();
    tool("add", move |args, _| {
        trace.add("tool add");
        let number = |name: &str| args.get(name).and_then(Value::as_i64).unwrap_or_default();
        let sum = number("a") + number("b");
        Box::pin(async move { Ok(json!(sum)) })
    })
}

/// Makes a tool that writes and then fails.
pub fn fails() -> ByTool {
    tool("fails", |_, cx| {
        let set = cx.state().set("half", true);
        Box::pin(async move {
            set.map_err(ToolError::from)?;
            Err(ToolError::failed("no luck"))
        })
    })
}

impl DynTool for ByTool {
    fn meta(&self) -> &ToolMeta<'_> {
        const { &ToolMeta::new("", "") }
    }
    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.declaration
    }
    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        (self.body)(args, cx)
    }
}
