//! An agent that calls a model, with tools, a toolset, transfer targets, and agents and workflows
//! as tools.

use super::plan;
use super::wired::{Builder, Tree};
use crate::spec::tool_of;
use crate::tree::{Agent, Key, type_of};
use adk_build::llm::LlmAgent;
use adk_build::model::{Model, ModelRequest, ModelStream, ToolDeclaration};
use adk_build::spec::{KeySpec, ToolMeta};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::{
    AgentTool, BoxFuture, DynTool, ReadonlyContext, Result, ToolArgs, ToolContext, ToolError,
    Toolset,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Builds the agent.
pub fn desk(agent: &'static Agent, build: &Builder) -> LlmAgent {
    let key = agent.writes.first();
    let mut made = LlmAgent::builder(&*agent.name)
        .description("Helps.")
        .instruction(plan::prompt(agent))
        .model(Brain::new(agent, build.seed));
    if let Some(write) = key {
        made = made.output_key(write.own());
        made = match type_of(write.key) {
            "bool" => made.output_type::<bool>(),
            "String" => made,
            _ => made.output_type::<Vec<String>>(),
        };
    }
    if !agent.tools.is_empty() {
        made = made.tool(ByPlan::new(agent, build));
    }
    if agent.exit {
        made = made.tool(Leaves::default());
    }
    if agent.toolset {
        made = made.toolset(Looks(KeySpec::new(
            build.leaked(format!("user:{}", agent.name)),
            "String",
        )));
    }
    for helper in &agent.helpers {
        made = made.tool(AgentTool::shared(build.agent(helper, true)));
    }
    for nested in &agent.flows {
        made = made.tool(AgentTool::new(Tree::new(nested, build, true)));
    }
    for target in &agent.targets {
        made = made.sub_agent(desk(target, build));
    }
    made.build().unwrap()
}

/// The model of an agent.
struct Brain {
    seed: u64,
    key: Option<Key>,
    /// Agents and workflows that one reply must not call twice, because their runs could not be
    /// distinguished.
    once: BTreeSet<String>,
}

impl Brain {
    fn new(agent: &Agent, seed: u64) -> Self {
        let called = agent.helpers.iter().map(|helper| helper.name.clone());
        let once = called
            .chain(agent.flows.iter().map(|nested| nested.name.clone()))
            .collect();
        Self {
            seed,
            key: agent.writes.first().map(|write| write.key),
            once,
        }
    }
}

const TRANSFER: &str = "transfer_to_agent";

impl Model for Brain {
    fn name(&self) -> &str {
        "brain"
    }
    fn answers_in_schema_beside_tools(&self) -> bool {
        true
    }
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let (path, turn) = (request.info.path.to_string(), request.info.turn);
        let prompt = prompt_part(&request.system_instruction);
        let mut random = plan::random_at(self.seed, &format!("{path} {turn} reply"));
        let tools: Vec<_> = request
            .tools
            .iter()
            .filter(|tool| tool.name != TRANSFER)
            .collect();
        let others = request.tools.iter().find(|tool| tool.name == TRANSFER);
        // Calls decrease with depth, because nested agents multiply them.
        let is_tired = turn >= 3 || random.below(12) < path.split('/').count() as u64;
        if turn < 3
            && let Some(others) = others.filter(|_| random.one_in(2))
        {
            let names = others.parameters["properties"]["agent_name"]["enum"]
                .as_array()
                .unwrap();
            let args = json!({"agent_name": random.choose(names)});
            return to_stream(Reply::new().call(TRANSFER, args), request);
        }
        if is_tired || tools.is_empty() {
            let (text, _) = plan::last_words(self.seed, &path, prompt, self.key);
            return to_stream(Reply::new().text(text), request);
        }
        let (mut reply, mut called) = (Reply::new(), BTreeSet::new());
        for _ in 0..1 + random.below(3) {
            let name = &random.choose(&tools).name;
            if !self.once.contains(name.as_str()) || called.insert(name.clone()) {
                let number = random.below(1 << 20).to_string();
                let args = json!({"request": number, "seen": plan::prompt_id(prompt)});
                reply = reply.call(name.as_str(), args);
            }
        }
        to_stream(reply, request)
    }
}

fn to_stream(reply: Reply, request: Arc<ModelRequest>) -> ModelStream {
    ScriptedModel::new().reply(reply).generate(request)
}

/// Returns the part of a system instruction that comes from the prompt.
pub fn prompt_part(instruction: &str) -> &str {
    instruction
        .rfind(">;")
        .map_or("", |end| &instruction[..end + 2])
}

fn declaration(name: &str) -> ToolDeclaration {
    let parameters = json!({"type": "object", "properties": {"request": {"type": "string"}}});
    ToolDeclaration::new(name.to_owned(), "Helps.", parameters)
}

/// The tool that reads and writes keys.
struct ByPlan {
    agent: &'static Agent,
    meta: ToolMeta<'static>,
    declaration: ToolDeclaration,
    seed: u64,
}

impl ByPlan {
    fn new(agent: &'static Agent, build: &Builder) -> Self {
        Self {
            agent,
            meta: tool_of(agent, build.store),
            declaration: declaration("tool"),
            seed: build.seed,
        }
    }
}

impl DynTool for ByPlan {
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
        Box::pin(async move {
            let mut saw = Map::new();
            for read in self.agent.reads.iter().filter(|read| read.tool) {
                let found = cx.state().value(read.own());
                saw.insert(
                    read.own().to_owned(),
                    found.as_deref().cloned().unwrap_or_default(),
                );
            }
            let seen: Map<_, _> = saw
                .iter()
                .map(|(key, value)| (key.clone(), plan::to_result(value)))
                .collect();
            let number = args["request"].as_str().unwrap_or_default();
            tokio::task::yield_now().await;
            for (write, value) in plan::writes(self.seed, number, &self.agent.tools) {
                let value = match saw.get(write.own()) {
                    Some(earlier) => plan::next_value(number, write.key, Some(earlier)),
                    None => value,
                };
                cx.state().set(write.own(), value)?;
            }
            Ok(json!({ "saw": seen }))
        })
    }
}

/// The tool that ends the loop.
struct Leaves(ToolDeclaration);

impl Default for Leaves {
    fn default() -> Self {
        Self(declaration("leave").escalates(true))
    }
}

impl DynTool for Leaves {
    fn meta(&self) -> &ToolMeta<'_> {
        const { &ToolMeta::new("leave", "Leaves.").may_exit(true) }
    }
    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.0
    }
    fn call_dyn<'a>(
        &'a self,
        _: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        cx.actions.escalate = true;
        Box::pin(std::future::ready(Ok(json!({"left": true}))))
    }
}

/// A toolset with one tool, which writes a `user:` key that no agent reads.
#[derive(Clone, Copy)]
struct Looks(KeySpec<'static>);

impl Toolset for Looks {
    fn name(&self) -> &str {
        "looks"
    }
    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        let tool = Look {
            key: [self.0],
            declaration: declaration("look"),
        };
        Box::pin(std::future::ready(Ok(
            vec![Arc::new(tool.described()) as _],
        )))
    }
}

struct Look {
    key: [KeySpec<'static>; 1],
    declaration: ToolDeclaration,
}

impl Look {
    fn described(self) -> Described {
        let keys: &'static [KeySpec<'static>] = Box::leak(Box::new(self.key));
        Described {
            meta: ToolMeta::new("look", "Looks.").writes(keys),
            declaration: self.declaration,
        }
    }
}

struct Described {
    meta: ToolMeta<'static>,
    declaration: ToolDeclaration,
}

impl DynTool for Described {
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
        Box::pin(async move {
            // Elements would race for the key, and no check covers that.
            if !cx.path().to_string().contains('[') {
                cx.state().set(self.meta.writes[0].name, &args["request"])?;
            }
            Ok(json!({"looked": true}))
        })
    }
}
