//! Converts a workflow to the [`Spec`] that the macro would write.

use super::tree::{
    Agent, Block, Consent, Flow, Kind, MarkedTool, Node, Read, SECRET, is_secret, pattern, type_of,
};
use adk_build::__private::typed::Numbered;
use adk_build::Secret;
use adk_build::spec::{
    AgentKind, AgentMeta, Attempts, Guards, InputSpec, KeySpec, Over, Renames, Spec, Step,
    StepKind, ToolMeta,
};
use serde_json::Value;
use std::cell::{Cell, OnceCell};

/// Storage for data that a spec borrows.
#[derive(Default)]
pub struct Store<'a> {
    steps: Shelf<'a, Step<'a>>,
    metas: Shelf<'a, AgentMeta<'a>>,
    targets: Shelf<'a, &'a AgentMeta<'a>>,
    tools: Shelf<'a, ToolMeta<'a>>,
    keys: Shelf<'a, KeySpec<'a>>,
    inputs: Shelf<'a, InputSpec<'a>>,
    pairs: Shelf<'a, (&'a str, &'a str)>,
    words: Shelf<'a, &'a str>,
    prompts: Shelf<'a, u8>,
    guards: Shelf<'a, Guards<'a>>,
}

/// An append-only collection of slices: a linked chain.
struct Shelf<'a, T> {
    first: Link<T>,
    last: Cell<Option<&'a Link<T>>>,
}

struct Link<T>(OnceCell<(Box<[T]>, Box<Self>)>);

impl<T> Default for Shelf<'_, T> {
    fn default() -> Self {
        Self {
            first: Link(OnceCell::new()),
            last: Cell::new(None),
        }
    }
}

impl<'a, T> Shelf<'a, T> {
    fn put(&'a self, all: impl IntoIterator<Item = T>) -> &'a [T] {
        let last = self.last.get().unwrap_or(&self.first);
        let all = all.into_iter().collect();
        let (all, next) = last
            .0
            .get_or_init(|| (all, Box::new(Link(OnceCell::new()))));
        self.last.set(Some(next));
        all
    }
}

/// Returns the spec of a workflow.
pub fn spec<'a>(flow: &'a Flow, store: &'a Store<'a>) -> Spec<'a> {
    let inputs = flow
        .inputs
        .iter()
        .map(|(key, default)| InputSpec::typed(key_of(key, key), *default));
    Spec::new(&flow.name, "", steps(flow, store))
        .guards(guards(flow, store))
        .inputs(store.inputs.put(inputs))
        .lets(keys(&flow.lets, store))
        .states(keys(&flow.states, store))
        .outputs(keys(&flow.outputs, store))
}

fn guards<'a>(flow: &'a Flow, store: &'a Store<'a>) -> Option<&'a Guards<'a>> {
    flow.guards.as_ref().map(|guards| {
        let own = Guards::NONE
            .untrusted(store.words.put(guards.untrusted.iter().copied()))
            .private(store.words.put(guards.private.iter().copied()))
            .fresh(guards.fresh)
            .strict(guards.strict);
        &store.guards.put([own])[0]
    })
}

/// Returns a key in the form of the macros, so that the shortcut of const evaluation is tested as
/// well.
pub fn key_of<'a>(name: &'a str, typed_as: &str) -> KeySpec<'a> {
    let spec = KeySpec::new(name, type_of(typed_as));
    match type_of(typed_as) {
        "bool" => spec.numbered(<bool as Numbered>::NUMBER),
        "String" => spec.numbered(<String as Numbered>::NUMBER),
        SECRET => spec.numbered(<Secret<String> as Numbered>::NUMBER),
        _ => spec.numbered(<Vec<String> as Numbered>::NUMBER),
    }
}

fn keys<'a>(keys: &[&'static str], store: &'a Store<'a>) -> &'a [KeySpec<'a>] {
    store.keys.put(keys.iter().map(|key| key_of(key, key)))
}

fn steps<'a>(flow: &'a Flow, store: &'a Store<'a>) -> &'a [Step<'a>] {
    let mut steps = Vec::new();
    lay(&flow.body, &mut steps, store);
    store.steps.put(steps)
}

fn lay<'a>(nodes: &'a [Node], steps: &mut Vec<Step<'a>>, store: &'a Store<'a>) {
    for node in nodes {
        let at = steps.len();
        match node {
            Node::Run(agent) => {
                let kind = StepKind::Agent {
                    meta: of_agent(agent, store),
                    instance: false,
                };
                steps.push(Step::new(&agent.name, kind, at).renames(renames(agent, store)));
            }
            Node::Nested(nested) => {
                let instance = nested.name != nested.flow.name;
                let kind = StepKind::Agent {
                    meta: of_flow(&nested.flow, store),
                    instance,
                };
                let renames = Renames::new(
                    store.pairs.put(nested.reads.iter().copied()),
                    &nested.writes,
                );
                steps.push(Step::new(&nested.name, kind, at).renames(renames));
            }
            Node::Break(target) => {
                steps.push(Step::new(
                    "",
                    StepKind::Break {
                        target: target.as_deref(),
                    },
                    at,
                ));
            }
            Node::Nothing => {}
            Node::Block(block) => {
                let (kind, part) = step_kinds(block);
                let name = if let Kind::Else = block.kind {
                    ""
                } else {
                    &*block.name
                };
                let step = Step::new(name, kind, at);
                steps.push(step.skippable(block.skippable).on_error(block.on_error));
                match part {
                    None => lay(&block.inside, steps, store),
                    Some(part) => {
                        for (arm, node) in block.inside.iter().enumerate() {
                            let open = steps.len();
                            let part = match block.kind {
                                Kind::Match { key } if block.spelled => StepKind::Arm {
                                    pattern: pattern(key, arm, block.inside.len()),
                                },
                                _ => part,
                            };
                            steps.push(Step::new("", part, open));
                            lay(std::slice::from_ref(node), steps, store);
                            close(open, steps);
                        }
                    }
                }
                close(at, steps);
            }
        }
    }
}

/// Returns the kind of a block, and the kind of the steps around its parts.
fn step_kinds(block: &Block) -> (StepKind<'_>, Option<StepKind<'static>>) {
    match block.kind {
        Kind::Sequence => (StepKind::Sequence, None),
        Kind::Parallel { limit, first } => (
            StepKind::Parallel {
                max_concurrency: limit,
                first,
            },
            Some(StepKind::Branch),
        ),
        Kind::Try { most } => (StepKind::Try(Attempts::new(Some(most)).all()), None),
        Kind::Else => (StepKind::Else, None),
        Kind::Match { key } => (
            StepKind::Match { key },
            Some(StepKind::Arm { pattern: "_" }),
        ),
        Kind::Each {
            item,
            list,
            max,
            limit,
        } => {
            let (max, over) = max.map_or((None, Over::Fail), |(max, over)| (Some(max), over));
            (
                StepKind::Each {
                    item,
                    list,
                    max,
                    over,
                    max_concurrency: limit,
                },
                None,
            )
        }
        Kind::Loop { max, until } => (StepKind::Loop { max, until }, None),
    }
}

fn close(open: usize, steps: &mut Vec<Step<'_>>) {
    let end = steps.len();
    steps[open].end = end;
    steps.push(Step::new("", StepKind::End, end));
}

fn renames<'a>(agent: &'a Agent, store: &'a Store<'a>) -> Renames<'a> {
    let reads = agent
        .reads
        .iter()
        .filter_map(|read| Some((read.own?, read.key)));
    let writes = agent
        .writes
        .iter()
        .filter(|_| agent.writes.iter().any(|write| write.own.is_some()));
    Renames::new(
        store.pairs.put(reads),
        store.words.put(writes.map(|write| write.key)),
    )
}

/// Returns the description of an agent.
pub fn of_agent<'a>(agent: &'a Agent, store: &'a Store<'a>) -> &'a AgentMeta<'a> {
    let reads = agent
        .reads
        .iter()
        .filter(|read| !read.prompt && !read.tool)
        .map(parameter);
    let writes = agent
        .writes
        .iter()
        .map(|write| key_of(write.own(), write.key).optional(write.perhaps));
    let tool = tool_of(agent, store);
    let helpers = agent.helpers.iter().map(|helper| of_agent(helper, store));
    let flows = agent
        .flows
        .iter()
        .map(|nested| of_flow(&nested.flow, store));
    let tools = (!agent.tools.is_empty()).then_some(tool).into_iter();
    let tools: Vec<_> = tools
        .chain(agent.marks.tools.iter().map(marked_tool))
        .chain(helpers.chain(flows).map(ToolMeta::of_agent))
        .collect();
    let targets: Vec<_> = agent
        .targets
        .iter()
        .map(|target| of_agent(target, store))
        .collect();
    let kind = match agent.patience {
        Some(_) => AgentKind::Await,
        // Only for functions does the description say when they write.
        None if agent.model => AgentKind::Llm,
        None if agent.is_function() => AgentKind::Function,
        None => AgentKind::Custom,
    };
    let meta = AgentMeta::new(kind, &agent.name)
        .definition(&agent.name)
        .description("Helps.")
        .prompts(prompts(agent, store))
        .reads(store.keys.put(reads))
        .writes(store.keys.put(writes))
        .more_tools(agent.toolset)
        .tools(store.tools.put(tools))
        .may_exit(agent.exit)
        .exits(store.words.put(agent.leaves.iter().map(String::as_str)))
        .labels(agent.marks.labels)
        .conversation(agent.marks.shows)
        .default(agent.marks.default)
        .transfer(store.targets.put(targets));
    &store.metas.put([meta])[0]
}

fn parameter<'a>(read: &Read) -> KeySpec<'a> {
    if is_secret(read.key) {
        return key_of(read.own(), read.key).optional(read.optional);
    }
    KeySpec::new(read.own(), "Value")
        .numbered(<Value as Numbered>::NUMBER)
        .any(true)
        .optional(read.optional)
}

/// Returns the description of the tool of an agent.
pub fn tool_of<'a>(agent: &'a Agent, store: &'a Store<'a>) -> ToolMeta<'a> {
    let reads = agent.reads.iter().filter(|read| read.tool).map(parameter);
    let writes = agent
        .tools
        .iter()
        .map(|write| key_of(write.own(), write.key));
    with_labels(ToolMeta::new("tool", "Helps."), &agent.marks.tool)
        .reads(store.keys.put(reads))
        .writes(store.keys.put(writes))
}

/// Returns the description of a tool that uses no keys.
pub fn marked_tool(tool: &MarkedTool) -> ToolMeta<'_> {
    with_labels(ToolMeta::new(&tool.name, "Helps."), tool)
}

fn with_labels<'a>(meta: ToolMeta<'a>, tool: &MarkedTool) -> ToolMeta<'a> {
    meta.labels(tool.labels)
        .confirm(tool.consent != Consent::No)
        .selects(tool.consent == Consent::Some)
}

/// Returns one prompt if the agent has any read in a prompt.
fn prompts<'a>(agent: &Agent, store: &'a Store<'a>) -> &'a [&'a str] {
    let mut text = String::new();
    for read in agent.reads.iter().filter(|read| read.prompt) {
        text += &format!(
            "{{{}{}}} ",
            read.own(),
            if read.optional { "?" } else { "" }
        );
    }
    if text.is_empty() {
        return &[];
    }
    let text = std::str::from_utf8(store.prompts.put(text.into_bytes())).unwrap();
    store.words.put([text])
}

/// Returns the description of a workflow as a step.
pub fn of_flow<'a>(flow: &'a Flow, store: &'a Store<'a>) -> &'a AgentMeta<'a> {
    let reads = flow
        .inputs
        .iter()
        .map(|(key, default)| key_of(key, key).optional(*default));
    let meta = AgentMeta::new(AgentKind::Workflow, &flow.name)
        .definition(&flow.name)
        .description("Helps.")
        .reads(store.keys.put(reads))
        .writes(keys(&flow.outputs, store))
        .states(keys(&flow.states, store))
        .lets(keys(&flow.lets, store))
        .guards(guards(flow, store))
        .steps(steps(flow, store));
    &store.metas.put([meta])[0]
}
