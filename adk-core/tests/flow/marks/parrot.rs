//! [`Parrot`]: hostile models on the real runtime. A model repeats the marks of its request in
//! every text, calls every tool, hands over, and hides text around typed answers.

use super::world::{BOTH, PRIVATE, Reached, UNTRUSTED};
use crate::pairs::actor::asks;
use crate::pairs::plan::{self, Fails, Turn};
use crate::pairs::wired::{Builder, Tree};
use crate::random::Random;
use crate::spec::{marked_tool, of_agent, tool_of};
use crate::tree::*;
use adk_build::__private::check::SEES_MEMORY;
use adk_build::llm::{IncludeContents, LlmAgent};
use adk_build::model::{Model, ModelRequest, ModelStream, ToolDeclaration};
use adk_build::spec::{AgentMeta, Conversation, Labels, ToolMeta};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::{
    AgentTool, AnnouncedKeys, BoxFuture, Context, DynAgent, DynTool, Error, ErrorKind, Event,
    Flow as Ended, Prepare, ReadonlyContext, Result, ToolArgs, ToolContext, ToolError, Toolset,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const TAINT: &str = "TAINT";
const SECRET_TEXT: &str = "PRIVATE";
/// The maximum number of rounds of loops without `max` in a run.
const MOST_ROUNDS: u64 = 300;
const TRANSFER: &str = "transfer_to_agent";

/// Returns the marks in a text.
fn marks_in(text: &str) -> u8 {
    let mark = |word, mark| if text.contains(word) { mark } else { 0 };
    mark(TAINT, UNTRUSTED) | mark(SECRET_TEXT, PRIVATE)
}

/// Returns a text with these marks.
pub fn text_of(marks: u8) -> &'static str {
    match marks & BOTH {
        0 => "text",
        UNTRUSTED => "TAINT",
        PRIVATE => "PRIVATE",
        _ => "TAINT PRIVATE",
    }
}

/// Builds hostile agents, and records the sinks that marked text reaches.
pub struct Parrot {
    guards: Guarding,
    is_guarded: bool,
    /// The labels by agent.
    labels: BTreeMap<String, Marks>,
    seed: u64,
    /// Whether the runtime knows the labels.
    enforces: bool,
    /// The steps of the root workflow.
    steps: BTreeSet<&'static str>,
    run: AtomicU64,
    /// The rounds of loops without `max` in this run.
    rounds: AtomicU64,
    reached: Mutex<BTreeSet<Reached>>,
}

impl Parrot {
    pub fn new(
        flow: &'static Flow,
        guards: Option<Guarding>,
        labels: BTreeMap<String, Marks>,
        seed: u64,
        enforces: bool,
    ) -> Self {
        let mut steps = BTreeSet::new();
        flow.each(&mut |node| match node {
            Node::Run(agent) => drop(steps.insert(&*agent.name)),
            Node::Nested(nested) => drop(steps.insert(&*nested.name)),
            _ => {}
        });
        Self {
            is_guarded: guards.is_some(),
            guards: guards.unwrap_or_default(),
            labels,
            seed,
            enforces,
            steps,
            run: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            reached: Mutex::default(),
        }
    }

    /// Begins another run.
    pub fn next_run(&self) {
        self.run.fetch_add(1, Ordering::Relaxed);
        self.rounds.store(0, Ordering::Relaxed);
    }

    /// Whether the test ends a loop without `max`, at the end of a round. What runs behind such a
    /// loop does not count, as only an exit can end it.
    pub fn gives_up(&self) -> bool {
        self.rounds.fetch_add(1, Ordering::Relaxed) > MOST_ROUNDS
    }

    pub fn reached(&self) -> BTreeSet<Reached> {
        self.reached.lock().unwrap().clone()
    }

    fn random(&self, place: &str) -> Random {
        let run = self.run.load(Ordering::Relaxed);
        plan::random_at(self.seed, &format!("{run} {place}"))
    }

    /// Returns the marks that the guards give to a key.
    pub fn guard(&self, key: Key) -> u8 {
        let guards = &self.guards;
        let mark = |keys: &[Key], mark| if keys.contains(&key) { mark } else { 0 };
        mark(&guards.untrusted, UNTRUSTED) | mark(&guards.private, PRIVATE)
    }

    /// Returns a value for a key.
    pub fn value(&self, marks: u8, place: &str, key: Key) -> Value {
        let text = text_of(marks);
        match type_of(key) {
            "bool" => plan::value(self.seed, place, key),
            "String" => json!(text),
            SECRET => json!({ "$secret": text }),
            _ => json!(vec![text; self.random(place).below(3) as usize]),
        }
    }

    /// Returns the labels of a tool of an agent.
    fn tool_of(&self, agent: &Agent, name: &str) -> &MarkedTool {
        let marks = &self.labels[&agent.name];
        let mut tools = marks.tools.iter();
        tools.find(|tool| tool.name == name).unwrap_or(&marks.tool)
    }

    fn counted(&self, labels: Labels) -> Labels {
        if self.guards.strict && labels.is_empty() && !labels.has(Labels::LOCAL) {
            let sources = Labels::UNTRUSTED.and(Labels::PRIVATE);
            return labels.and(sources).and(Labels::ACTS).and(Labels::SENDS);
        }
        labels
    }

    fn brought(&self, labels: Labels) -> u8 {
        let labels = self.counted(labels);
        let mark = |label, mark| if labels.has(label) { mark } else { 0 };
        let has_memory = labels.has(SEES_MEMORY) && self.is_guarded;
        mark(Labels::UNTRUSTED, UNTRUSTED)
            | mark(Labels::PRIVATE, PRIVATE)
            | if has_memory { UNTRUSTED } else { 0 }
    }

    /// Records a call with marked arguments.
    fn sink(&self, agent: &str, tool: &str, labels: Labels, marks: u8, path: &str) {
        if self.rounds.load(Ordering::Relaxed) > MOST_ROUNDS {
            return;
        }
        let labels = self.counted(labels);
        let check = if labels.has(Labels::ACTS) && marks & UNTRUSTED != 0 {
            "untrusted-action"
        } else if labels.has(Labels::SENDS) && marks == BOTH && !labels.has(Labels::ACTS) {
            "lethal-trifecta"
        } else {
            return;
        };
        let names = path
            .split('/')
            .map(|name| name.split(['#', '@', '[']).next());
        let step = names.flatten().find(|name| self.steps.contains(name));
        self.reached.lock().unwrap().insert(Reached {
            check,
            step: step.unwrap_or_default().to_owned(),
            agent: agent.to_owned(),
            tool: tool.to_owned(),
        });
    }

    pub fn agent(
        &'static self,
        agent: &'static Agent,
        build: &Builder,
        handled: bool,
    ) -> Arc<dyn DynAgent> {
        if agent.model {
            return Arc::new(self.desk(agent, build));
        }
        if agent.patience.is_some() {
            return Arc::new(asks(agent));
        }
        Arc::new(Actor {
            agent,
            meta: of_agent(agent, build.store),
            handled,
            parrot: self,
        })
    }

    fn desk(&'static self, agent: &'static Agent, build: &Builder) -> LlmAgent {
        let mut made = LlmAgent::builder(&*agent.name)
            .description("Helps.")
            .instruction(plan::prompt(agent))
            .include_contents(match agent.marks.shows {
                Conversation::Hidden => IncludeContents::Prompt,
                Conversation::CurrentTurn => IncludeContents::None,
                _ => IncludeContents::Default,
            })
            .model(Mouth {
                key: agent.writes.first().map(|write| write.key),
                parrot: self,
            });
        if let Some(write) = agent.writes.first() {
            made = made.output_key(write.own());
            made = match type_of(write.key) {
                "bool" => made.output_type::<bool>(),
                "String" => made,
                _ => made.output_type::<Vec<String>>(),
            };
        }
        if !agent.tools.is_empty() {
            let meta = tool_of(agent, build.store);
            made = made.tool(Hand::new(agent, "tool", meta, self));
        }
        // The runtime knows these labels, and the check of the agent alone does not count.
        made = made.guards(!self.enforces);
        for tool in &agent.marks.tools {
            let meta = if self.enforces {
                marked_tool(tool)
            } else {
                ToolMeta::new(&tool.name, "Helps.")
            };
            made = made.tool(Hand::new(agent, &tool.name, meta, self));
        }
        if agent.exit {
            made = made.tool(Leaves::default());
        }
        if agent.toolset {
            made = made.toolset(Looks(agent, self));
        }
        for helper in &agent.helpers {
            made = made.tool(AgentTool::shared(self.agent(helper, build, true)));
        }
        for nested in &agent.flows {
            made = made.tool(AgentTool::new(Tree::new(nested, build, true)));
        }
        for target in &agent.targets {
            made = made.sub_agent(self.desk(target, build));
        }
        made.build().unwrap()
    }
}

/// A function, or an `impl Agent`.
struct Actor {
    agent: &'static Agent,
    meta: &'static AgentMeta<'static>,
    /// Whether an enclosing block handles errors.
    handled: bool,
    parrot: &'static Parrot,
}

impl DynAgent for Actor {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Ended>> {
        Box::pin(self.turn(cx))
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::of(self.meta)
    }
}

impl Actor {
    async fn turn(&self, cx: &mut Context) -> Result<Ended> {
        let (path, parrot) = (cx.path().to_string(), self.parrot);
        let run = parrot.run.load(Ordering::Relaxed);
        let place = format!("{path} {run}");
        let turn = Turn::plan(parrot.seed, &place, self.agent, self.handled);
        let mut marks = 0;
        for read in &self.agent.reads {
            let found = cx.state().value(read.own());
            marks |= found.map_or(0, |value| marks_in(&value.to_string()));
        }
        let labels = parrot.counted(parrot.labels[&self.agent.name].labels);
        parrot.sink(&self.agent.name, "", labels, marks, &path);
        marks |= parrot.brought(labels);
        let failure = || {
            Error::new(
                ErrorKind::Timeout,
                format!("as planned: {}", text_of(marks)),
            )
        };
        if turn.fails == Some(Fails::First) {
            return Err(failure());
        }
        let result = if labels.has(Labels::TRUSTS) { 0 } else { marks };
        let mut event = Event::new();
        if self.agent.sees_all() {
            event = event.with_text(text_of(result));
        }
        if !turn.early {
            for (write, _) in plan::writes(parrot.seed, &place, &self.agent.writes) {
                event = event.with_state(write.own(), parrot.value(result, &place, write.key));
            }
        }
        cx.emit(event).await?;
        if turn.fails == Some(Fails::Last) && self.agent.sees_all() {
            return Err(failure());
        }
        Ok(match turn.leaves {
            None => Ended::Continue,
            Some(None) => Ended::Exit,
            Some(Some(name)) => Ended::ExitTo(name.into()),
        })
    }
}

/// A model that obeys.
struct Mouth {
    key: Option<Key>,
    parrot: &'static Parrot,
}

impl Model for Mouth {
    fn name(&self) -> &str {
        "mouth"
    }
    fn answers_in_schema_beside_tools(&self) -> bool {
        true
    }
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let (path, turn) = (request.info.path.to_string(), request.info.turn);
        let mut seen = request.system_instruction.clone();
        for content in request.contents.iter() {
            seen += &format!("{content:?}");
        }
        let marks = marks_in(&seen);
        let text = text_of(marks);
        let mut random = self.parrot.random(&format!("{path} {turn}"));
        let is_short = path.split('/').count() < 6;
        let others = request.tools.iter().find(|tool| tool.name == TRANSFER);
        let mut reply = Reply::new();
        if turn > 0
            && turn < 4
            && let Some(others) = others.filter(|_| random.one_in(2))
        {
            let names = &others.parameters["properties"]["agent_name"]["enum"];
            let names = names.as_array().unwrap();
            let args = json!({"agent_name": random.choose(names)});
            return to_stream(reply.text(text).call(TRANSFER, args), request);
        }
        let tools: Vec<_> = request
            .tools
            .iter()
            .filter(|tool| tool.name != TRANSFER)
            .collect();
        if turn < if is_short { 3 } else { 1 } && !tools.is_empty() {
            reply = reply.text(text);
            for tool in tools {
                let is_exit = tool.name == "leave" && random.one_in(2);
                if !is_exit && !random.one_in(6) {
                    reply = reply.call(tool.name.as_str(), json!({ "request": text }));
                }
            }
            return to_stream(reply, request);
        }
        let answer = match self.key.map(type_of) {
            Some("bool") => {
                let value = if random.one_in(2) { "true" } else { "false" };
                match random.below(4) {
                    0 => format!("```json\n{value}\n```\n{text}"),
                    1 => format!("{text}\n{value}"),
                    2 => format!(" {value}\n"),
                    _ => value.to_owned(),
                }
            }
            Some("Vec<String>") => json!([text]).to_string(),
            _ => text.to_owned(),
        };
        to_stream(reply.text(answer), request)
    }
}

fn to_stream(reply: Reply, request: Arc<ModelRequest>) -> ModelStream {
    ScriptedModel::new().reply(reply).generate(request)
}

fn declaration(name: &str) -> ToolDeclaration {
    let parameters = json!({"type": "object", "properties": {"request": {"type": "string"}}});
    ToolDeclaration::new(name.to_owned(), "Helps.", parameters)
}

/// A tool with labels.
struct Hand {
    agent: &'static Agent,
    labels: Labels,
    /// Whether its calls need no consent of a person.
    is_free: bool,
    meta: ToolMeta<'static>,
    declaration: ToolDeclaration,
    parrot: &'static Parrot,
}

impl Hand {
    fn new(
        agent: &'static Agent,
        name: &'static str,
        meta: ToolMeta<'static>,
        parrot: &'static Parrot,
    ) -> Self {
        let tool = parrot.tool_of(agent, name);
        let is_free = match tool.consent {
            Consent::No => true,
            Consent::Each => false,
            Consent::Some => parrot.guards.strict,
        };
        Self {
            agent,
            labels: tool.labels,
            is_free,
            meta,
            declaration: declaration(name),
            parrot,
        }
    }
}

impl DynTool for Hand {
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
            let mut read = 0;
            if self.meta.name == "tool" {
                for key in self.agent.reads.iter().filter(|read| read.tool) {
                    let found = cx.state().value(key.own());
                    read |= found.map_or(0, |value| marks_in(&value.to_string()));
                }
            }
            let (path, parrot) = (cx.path().to_string(), self.parrot);
            let marks = marks_in(&Value::Object(args).to_string()) | read;
            if self.is_free {
                parrot.sink(&self.agent.name, self.meta.name, self.labels, marks, &path);
            }
            let result = read | parrot.brought(self.labels);
            if self.meta.name == "tool" {
                for write in &self.agent.tools {
                    let value = parrot.value(marks | result, &path, write.key);
                    cx.state().set(write.own(), value)?;
                }
            }
            if parrot.random(&format!("{path} fails")).one_in(12) {
                return Err(ToolError::failed(text_of(result)));
            }
            let mut page = Map::new();
            page.insert("page".to_owned(), text_of(result).into());
            Ok(page.into())
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
        const {
            &ToolMeta::new("leave", "Leaves.")
                .may_exit(true)
                .labels(Labels::LOCAL)
        }
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

/// A toolset whose tool only the run knows.
#[derive(Clone, Copy)]
struct Looks(&'static Agent, &'static Parrot);

impl Toolset for Looks {
    fn name(&self) -> &str {
        "looks"
    }
    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        let Self(agent, parrot) = *self;
        let own = parrot.labels[&agent.name].labels;
        // Without `local`, at least one toolset has no labels.
        let labels = if own.has(Labels::LOCAL) {
            own
        } else {
            own.and(parrot.counted(Labels::NONE)).and(Labels::LOCAL)
        };
        let tool = Hand {
            agent,
            labels,
            is_free: true,
            meta: ToolMeta::new("look", "Looks.").labels(if parrot.enforces {
                labels
            } else {
                Labels::NONE
            }),
            declaration: declaration("look"),
            parrot,
        };
        Box::pin(std::future::ready(Ok(vec![Arc::new(tool) as _])))
    }
}
