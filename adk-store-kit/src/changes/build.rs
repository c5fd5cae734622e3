//! Builds workflows from programs: agents, tools and models whose calls the [`Stage`] counts.

use super::program::{AgentVersion, Confirm, Hooks, Program, ProgramStep, ToolVersion, Version};
use super::stage::Stage;
use crate::trees::{self, Tree};
use adk_build::llm::{Compaction, Instruction, LlmAgent};
use adk_build::model::{Model, ModelErrorKind, ModelRequest, ModelResponse, ModelStream};
use adk_build::spec::{Attempts, Guards, Labels, Over, StepKind};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::tools::preload_memory;
use adk_build::{
    AnsweredBy, Await, BoxFuture, CallbackContext, Content, DynTool, Error, ErrorKind, Event, Flow,
    FunctionCall, Plugin, ReadonlyContext, Result, ToolContext, Toolset,
};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex};

/// The prefix of errors that the script requests.
pub const FAILURE: &str = "as the script says";

const ATTEMPTS: Attempts = {
    let mut attempts = Attempts::new(Some(2));
    attempts.all = true;
    attempts
};

/// Builds the workflow of a version.
pub fn tree(program: &Program, version: &Version, stage: &Stage) -> Tree {
    named("w", program, version, stage)
}

/// Builds the workflow under another name.
pub fn named(workflow: &str, program: &Program, version: &Version, stage: &Stage) -> Tree {
    let maker = Maker {
        program,
        version,
        stage,
    };
    let tree = Tree::new(name(workflow.to_owned()), maker.nodes(&program.body))
        .lets("items", json!(["a", "b", "c"]));
    if version.guards {
        tree.guards(&GUARDS)
    } else {
        tree
    }
}

const GUARDS: Guards<'static> = Guards::NONE.untrusted(&["user"]);

/// Leaks a text once for all programs.
fn name(text: String) -> &'static str {
    static ALL: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut all = ALL.lock().unwrap();
    match all.get(&*text) {
        Some(text) => text,
        None => {
            let text: &'static str = Box::leak(text.into_boxed_str());
            all.insert(text);
            text
        }
    }
}

struct Maker<'a> {
    program: &'a Program,
    version: &'a Version,
    stage: &'a Stage,
}

impl Maker<'_> {
    fn nodes(&self, nodes: &[ProgramStep]) -> Vec<trees::Node> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn node(&self, node: &ProgramStep) -> trees::Node {
        let limit = |number: usize| self.version.limits.get(number).copied();
        match node {
            ProgramStep::Llm(number) => trees::run(self.agent(*number)),
            ProgramStep::Work {
                number,
                steps,
                fails,
            } => trees::run(self.work(*number, *steps, *fails)),
            ProgramStep::Ask(number) => {
                let question = format!("Go on? {}", self.version.question);
                let key = name(format!("yes_{number}"));
                let mut ask = Await::builder::<bool>(key).question(question);
                if let Some(by) = self.by() {
                    ask = ask.by(by);
                }
                trees::run(ask.build())
            }
            ProgramStep::Loop(number, inside) => trees::repeat(
                name(format!("loop_{number}")),
                limit(*number),
                self.nodes(inside),
            ),
            ProgramStep::Each(number, inside) => {
                let kind = StepKind::Each {
                    item: "item",
                    list: "items",
                    max: limit(*number),
                    over: Over::Cut,
                    max_concurrency: self.version.concurrency,
                };
                trees::Node::Block(name(format!("each_{number}")), kind, self.nodes(inside))
            }
            ProgramStep::Parallel(number, branches) => {
                let branch = |(at, branch): (usize, &Vec<ProgramStep>)| {
                    trees::sequence(name(format!("branch_{number}_{at}")), self.nodes(branch))
                };
                let branches = branches.iter().enumerate().map(branch).collect();
                let kind = StepKind::Parallel {
                    max_concurrency: self.version.concurrency,
                    first: false,
                };
                trees::Node::Block(name(format!("both_{number}")), kind, branches)
            }
            ProgramStep::Try(number, inside, otherwise) => trees::attempts(
                name(format!("try_{number}")),
                ATTEMPTS,
                self.nodes(inside),
                self.nodes(otherwise),
            ),
        }
    }

    /// Makes a function that makes calls. If `fails`, it fails in the first round of a block.
    fn work(&self, number: usize, steps: usize, fails: bool) -> trees::By {
        let stage = self.stage.clone();
        trees::by(name(format!("work_{number}")), move |cx| {
            let stage = stage.clone();
            Box::pin(async move {
                for step in 0..steps {
                    let (stage, call) = (stage.clone(), format!("step {step} of {}", cx.path()));
                    cx.step("work", async move {
                        stage.begin(call);
                        stage.point().await;
                        Ok(step)
                    })
                    .await?;
                }
                if fails && cx.path().to_string().contains("#1") {
                    return Err(Error::new(ErrorKind::Agent, FAILURE));
                }
                cx.emit(Event::new().with_text("worked")).await?;
                Ok(Flow::Continue)
            })
        })
    }

    fn agent(&self, number: usize) -> LlmAgent {
        let version = &self.version.agents[number];
        let model = Scripted {
            name: format!("model-{}", version.model),
            script: self.program.scripts[number].clone().into(),
            fails: self
                .program
                .fails
                .filter(|(agent, _)| *agent == number)
                .map(|(_, reply)| reply),
            looks: !self.program.has_compaction(),
            stage: self.stage.clone(),
        };
        let tools = version
            .tools
            .iter()
            .map(|tool| Arc::new(self.tool(*tool)) as Arc<dyn DynTool>);
        let mut agent = LlmAgent::builder(name(format!("agent_{number}")))
            .model(model)
            .instruction(self.instruction(version))
            .tools(tools);
        if version.preload_memory {
            agent = agent.tool(preload_memory::default());
        }
        if let Some(tools) = &version.toolset {
            let tools = tools
                .iter()
                .map(|tool| Arc::new(self.tool(*tool)) as Arc<dyn DynTool>)
                .collect();
            agent = agent.toolset(Offers(tools));
        }
        if let Some(after) = version.compact {
            agent = agent.compact(Compaction::new().after(after).keep(2));
        }
        if let Some(turns) = version.max_turns {
            agent = agent.max_turns(turns);
        }
        let agent = match version.hooks {
            Hooks::None => agent,
            Hooks::Logs => {
                let (tool, model) = (self.stage.clone(), self.stage.clone());
                agent
                    .before_tool(move |_: &mut CallbackContext, _: &mut FunctionCall| {
                        tool.hook("tool")
                    })
                    .before_model(move |_: &mut CallbackContext, _: &mut ModelRequest| {
                        model.hook("model")
                    })
            }
            Hooks::Steps => agent.before_tool(audits_tool).before_model(audits_model),
        };
        agent.build().unwrap()
    }

    fn instruction(&self, version: &AgentVersion) -> Instruction {
        let text = format!("Work, as version {} says.", version.prompt);
        if version.function {
            let stage = self.stage.clone();
            return Instruction::function(move |_: ReadonlyContext| {
                stage.hook("instruction");
                format!("{text} This is a function.")
            });
        }
        let responses = ["{artifact.terms.txt?}", "{artifact.more.txt?}"]
            .into_iter()
            .take(version.artifacts as usize);
        Instruction::from(responses.fold(text, |text, artifact| format!("{text} {artifact}")))
    }

    fn by(&self) -> Option<AnsweredBy> {
        self.version
            .by
            .map(|role| AnsweredBy::Role(role.to_owned()))
    }

    fn tool(&self, version: ToolVersion) -> FunctionTool {
        let (stage, name) = (self.stage.clone(), version.name);
        let tool = FunctionTool::new_async(
            name,
            "Does it.",
            move |args: Map<String, Value>, cx: &mut ToolContext| {
                let stage = stage.clone();
                Box::pin(async move {
                    stage.begin_tool(name, cx.call_id(), &cx.path().to_string(), &args);
                    stage.point().await;
                    did(name, &args)
                })
            },
        );
        let tool = if self.version.guards {
            tool.labels(Labels::UNTRUSTED)
        } else {
            tool
        };
        let tool = match self.by() {
            Some(by) if version.confirm != Confirm::Never => tool.by(by),
            _ => tool,
        };
        match version.confirm {
            Confirm::Never => tool.long_running(version.long_running),
            Confirm::Always => tool.confirm(true),
            Confirm::Even => tool.confirm_if(|args: &Map<String, Value>| {
                args.get("n")
                    .and_then(Value::as_u64)
                    .is_some_and(|number| number % 2 == 0)
            }),
        }
    }
}

/// Returns the result of a tool.
pub fn did(tool: &str, args: &Map<String, Value>) -> String {
    format!("{tool} {}", args.get("n").unwrap_or(&Value::Null))
}

async fn audits_model(cx: &mut CallbackContext, _: &mut ModelRequest) -> Result<()> {
    cx.step("audit", async { Ok(1) }).await.map(|_: u32| ())
}

async fn audits_tool(cx: &mut CallbackContext, _: &mut FunctionCall) -> Result<()> {
    cx.step("audit", async { Ok(1) }).await.map(|_: u32| ())
}

/// A plugin that only observes, or makes recorded calls.
pub struct Audit(pub Hooks, pub Stage);

impl Audit {
    async fn step(&self, cx: &mut CallbackContext) -> Result<()> {
        if self.0 == Hooks::Steps {
            let _: u32 = cx.step("audit of all", async { Ok(1) }).await?;
        }
        Ok(())
    }
}

impl Plugin for Audit {
    fn name(&self) -> &str {
        "audit"
    }

    async fn before_agent(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        self.step(cx).await.map(|()| None)
    }

    async fn before_model(
        &self,
        cx: &mut CallbackContext,
        _: &mut ModelRequest,
    ) -> Result<Option<ModelResponse>> {
        self.1.hook("model");
        self.step(cx).await.map(|()| None)
    }

    async fn after_tool(
        &self,
        cx: &mut CallbackContext,
        _: &FunctionCall,
        _: &mut Value,
    ) -> Result<Option<Value>> {
        self.1.hook("tool");
        self.step(cx).await.map(|()| None)
    }
}

struct Offers(Vec<Arc<dyn DynTool>>);

impl Toolset for Offers {
    fn name(&self) -> &str {
        "offers"
    }

    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

/// The reply of a model to a summary request.
const SUMMARY: &str = "They worked.";

/// A model that replies with the script of its agent.
struct Scripted {
    name: String,
    script: Arc<[Vec<super::program::Call>]>,
    fails: Option<u32>,
    /// Whether it checks the results in its requests. After a summary, requests contain no
    /// results.
    looks: bool,
    stage: Stage,
}

impl Scripted {
    fn reply(&self, request: &ModelRequest) -> Reply {
        let info = &request.info;
        if info.is_summary {
            return Reply::new().text(SUMMARY);
        }
        let turn = info.turn as usize;
        let before = turn.checked_sub(1).and_then(|turn| self.script.get(turn));
        if let Some(before) = before.filter(|_| self.looks) {
            self.look(request, before);
        }
        match self.script.get(turn) {
            Some(calls) => calls.iter().fold(Reply::new(), |reply, call| {
                reply.call(call.tool, json!({"n": call.number}))
            }),
            None => Reply::new().text("done"),
        }
    }

    /// Records the parts of a request that a change of the program may affect.
    fn give(&self, request: &ModelRequest) {
        let tools: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
        let has_summary = request
            .contents
            .iter()
            .any(|content| content.text().contains(SUMMARY));
        let contents = if has_summary { "a summary" } else { "events" };
        let instruction = &request.system_instruction;
        self.stage.give(format!(
            "{}: {instruction} {tools:?}, after {contents}",
            self.name
        ));
    }

    /// Checks that the request ends with the results of the last calls.
    fn look(&self, request: &ModelRequest, calls: &[super::program::Call]) {
        let responses: Vec<_> = request
            .contents
            .iter()
            .flat_map(Content::function_responses)
            .collect();
        let last = responses[responses.len().saturating_sub(calls.len())..]
            .iter()
            .map(|answer| &*answer.name);
        if !last.eq(calls.iter().map(|call| call.tool)) {
            let names: Vec<_> = responses.iter().map(|answer| &*answer.name).collect();
            self.stage.fault(&format!(
                "{} received results of {names:?}, after {calls:?}",
                request.info.path
            ));
        }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let info = &request.info;
        let what = if info.is_summary { "summary" } else { "model" };
        let call = format!("{what} {} of {}", info.turn, info.path);
        let fails = self.fails == Some(info.turn) && !info.is_summary && self.stage.fails(&call);
        self.stage.begin(call);
        if !info.is_summary {
            self.give(&request);
        }
        let reply = if fails {
            Reply::error(ModelErrorKind::Unauthorized, FAILURE)
        } else {
            self.reply(&request)
        };
        let turn = u64::from(request.info.turn);
        let reply = if fails {
            reply
        } else {
            reply.usage(10 + turn, 1)
        };
        ScriptedModel::new().reply(reply).generate(request)
    }
}
