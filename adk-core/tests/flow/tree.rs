//! Workflows as data. The text, the spec and both executions are derived from them.

use adk_build::__private::check::SEES_ALL;
use adk_build::spec::{Conversation, Labels, OnError, Over};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A key of [`KEYS`].
pub type Key = &'static str;

/// Ordinary keys.
pub const PLAIN: &[Key] = &["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"];
/// Keys that hold a `bool`.
pub const FLAGS: &[Key] = &["f1", "f2"];
/// Keys that hold a list.
pub const LISTS: &[Key] = &["l1", "l2"];
/// Keys that are mostly written inside an `each`, and inside nested ones.
pub const NOTES: &[Key] = &["n1", "n2", "n3", "f7", "l7"];
pub const DEEP_NOTES: &[Key] = &["n4", "n5", "f8", "l8"];
/// Items of an `each`.
pub const ITEMS: &[Key] = &["i1", "i2"];
/// Keys of the session, which some workflows declare and others use as their own.
pub const STATES: &[Key] = &["s1", "s2"];
/// Keys with a prefix.
pub const PREFIXED: &[Key] = &["user:u", "app:v", "temp:t"];
/// Keys that hold a secret.
pub const SECRETS: &[Key] = &["x1"];
/// Key names of definitions that their instances rename.
pub const OWN: &[Key] = &["o1", "o2", "o3", "o4"];

/// The key that an `else` reads.
pub const ERROR: Key = "error";

/// All keys that a workflow may use.
pub const KEYS: &[&[Key]] = &[
    PLAIN, FLAGS, LISTS, NOTES, DEEP_NOTES, ITEMS, STATES, PREFIXED, SECRETS,
];

/// Returns the type of the values of a key.
pub fn type_of(key: &str) -> &'static str {
    match key.as_bytes()[0] {
        b'f' => "bool",
        b'l' => "Vec<String>",
        b'x' => SECRET,
        _ => "String",
    }
}

/// The type of secrets.
pub const SECRET: &str = "Secret<String>";

pub fn is_secret(key: &str) -> bool {
    type_of(key) == SECRET
}

/// Whether a key belongs to the session in every workflow.
pub fn has_prefix(key: &str) -> bool {
    key.contains(':')
}

/// A workflow.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    pub name: String,
    /// Inputs, each with whether it has a default.
    pub inputs: Vec<(Key, bool)>,
    pub lets: Vec<Key>,
    pub states: Vec<Key>,
    pub outputs: Vec<Key>,
    pub guards: Option<Guarding>,
    pub body: Vec<Node>,
}

/// The `#[guards(...)]` of a workflow.
#[derive(Clone, Debug, Default)]
pub struct Guarding {
    /// Keys, and `user` for the message of the run.
    pub untrusted: Vec<Key>,
    pub private: Vec<Key>,
    pub fresh: bool,
    pub strict: bool,
}

#[derive(Clone, Debug)]
pub enum Node {
    Run(Agent),
    Nested(Nested),
    /// Ends the innermost loop, or the named one.
    Break(Option<String>),
    Block(Block),
    /// `()`
    Nothing,
}

/// An agent that occurs at one place of the workflow.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub name: String,
    pub reads: Vec<Read>,
    pub writes: Vec<Write>,
    /// Keys that its tool may write.
    pub tools: Vec<Write>,
    /// Whether it calls a model. Then it writes at most one key, and only prompts and its tool
    /// read.
    pub model: bool,
    /// Whether it has a toolset.
    pub toolset: bool,
    /// Whether it may end the innermost loop.
    pub exit: bool,
    /// The loops that it may end by name.
    pub leaves: Vec<String>,
    /// Whether it has written its keys when it ends a loop, like a function that returns `(T,
    /// Flow)`. The checker knows this for functions only, which have neither tools nor transfer
    /// targets.
    pub writes_first: bool,
    /// The agents that it may transfer to.
    pub targets: Vec<Agent>,
    /// The agents that are its tools.
    pub helpers: Vec<Agent>,
    /// The workflows that are its tools.
    pub flows: Vec<Nested>,
    /// Set for an `await`, which has written its one key after its answer.
    pub patience: Option<Patience>,
    pub marks: Marks,
}

/// The labels of an agent and of its tools, and the part of the conversation that it sees.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The labels of a function, or of the toolsets of an agent with a model.
    pub labels: Labels,
    /// The tool that reads and writes keys.
    pub tool: MarkedTool,
    /// More tools, which use no keys.
    pub tools: Vec<MarkedTool>,
    pub shows: Conversation,
    /// The default of an `await` as the user spelled it.
    pub default: &'static str,
}

#[derive(Clone, Debug, Default)]
pub struct MarkedTool {
    pub name: String,
    pub labels: Labels,
    pub consent: Consent,
}

/// Whether a person has to confirm the calls of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    #[default]
    No,
    Each,
    /// `confirm = PREDICATE`
    Some,
}

/// The timeout of an `await` and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// No timeout.
    Endless,
    /// The run fails if no answer arrives in time.
    Fails,
    /// The default counts if no answer arrives in time.
    Default,
}

#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub key: Key,
    /// The name of the key in the definition of the agent, if it differs.
    pub own: Option<Key>,
    pub optional: bool,
    /// Whether a prompt reads the key, and not a parameter.
    pub prompt: bool,
    /// Whether a parameter of the tool reads the key.
    pub tool: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub key: Key,
    /// The name of the key in the definition of the agent, if it differs.
    pub own: Option<Key>,
    pub perhaps: bool,
}

/// A workflow as a step.
#[derive(Clone, Debug)]
pub struct Nested {
    pub name: String,
    pub flow: Arc<Flow>,
    /// Inputs that are read from another key: the key of the definition, then the outer key.
    pub reads: Vec<(Key, Key)>,
    /// The keys of all outputs, or none.
    pub writes: Vec<Key>,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub name: String,
    pub kind: Kind,
    /// The steps, the branches of a `parallel`, or the arms of a `match`.
    pub inside: Vec<Node>,
    /// Whether a callback may replace the block.
    pub skippable: bool,
    /// Whether failed branches or elements are skipped, and how many.
    pub on_error: OnError,
    /// Whether the arms of a `match` have the patterns of [`pattern`] instead of `_`.
    pub spelled: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Sequence,
    Parallel {
        limit: Option<u32>,
        first: bool,
    },
    Match {
        key: Key,
    },
    Each {
        item: Key,
        list: Key,
        max: Option<(u32, Over)>,
        limit: Option<u32>,
    },
    Loop {
        max: Option<u32>,
        until: Option<Key>,
    },
    /// A `try`, whose last node may be its `else`.
    Try {
        most: u32,
    },
    /// An `else`, with the name of its `try`.
    Else,
}

/// Returns the pattern of an arm of a `match` with `count` arms.
pub fn pattern(key: Key, arm: usize, count: usize) -> &'static str {
    match (type_of(key), arm) {
        ("bool", 0) if count > 1 => "true",
        ("bool", 1) => "false",
        ("String", 0) if count > 1 => "\"yes\"",
        ("String", 1) if count > 2 => "\"no\"",
        _ => "_",
    }
}

impl Read {
    /// Returns the name in the definition.
    pub fn own(&self) -> Key {
        self.own.unwrap_or(self.key)
    }
}

impl Write {
    pub fn own(&self) -> Key {
        self.own.unwrap_or(self.key)
    }
}

impl Agent {
    /// Returns the agents below it, each before its own subagents.
    pub fn below(&self) -> Vec<&Self> {
        let direct = self.targets.iter().chain(&self.helpers);
        direct
            .flat_map(|agent| [agent].into_iter().chain(agent.below()))
            .collect()
    }

    /// Returns the workflows that are tools of this agent or of an agent below.
    pub fn called(&self) -> impl Iterator<Item = &Nested> {
        [self]
            .into_iter()
            .chain(self.below())
            .flat_map(|agent| &agent.flows)
    }

    /// Whether it has neither tools nor transfer targets.
    pub fn is_alone(&self) -> bool {
        self.tools.is_empty()
            && self.targets.is_empty()
            && self.helpers.is_empty()
            && self.flows.is_empty()
            && self.marks.tools.is_empty()
            && !self.toolset
    }

    /// Whether it is a function, and neither an `impl Agent` nor an agent with a model.
    pub fn is_function(&self) -> bool {
        self.patience.is_none() && !self.model && self.writes_first && self.is_alone()
    }

    /// Whether its code reads what it wants.
    pub fn sees_all(&self) -> bool {
        let is_custom = self.patience.is_none() && !self.model && !self.is_function();
        is_custom || self.marks.labels.has(SEES_ALL)
    }

    /// Marks an agent that needs a model, and removes settings that only functions have.
    pub fn settle_model(&mut self) {
        self.model |= !self.is_alone();
        if self.model {
            self.writes.retain(|write| !is_secret(write.key));
            self.writes.truncate(1);
            self.writes
                .iter_mut()
                .for_each(|write| write.perhaps = false);
            self.leaves.clear();
            self.writes_first = false;
        }
        let has_tool = !self.tools.is_empty();
        if self.model && !has_tool {
            self.reads.retain(|read| !is_secret(read.key));
        }
        for read in &mut self.reads {
            read.prompt |= self.model && !has_tool;
            read.tool = has_tool && !read.prompt;
        }
    }

    /// Renames the keys of the agents, tools and workflows below this agent, as its instance does.
    pub fn settle(&mut self) {
        self.settle_model();
        let reads: Vec<_> = self
            .reads
            .iter()
            .filter_map(|read| Some((read.own?, read.key)))
            .collect();
        let is_renamed = self.writes.iter().any(|write| write.own.is_some());
        let writes = self
            .writes
            .iter()
            .filter(|_| is_renamed)
            .map(|write| (write.own(), write.key));
        let renames = Renamed {
            reads,
            writes: writes.collect(),
        };
        self.tools.iter_mut().for_each(|write| renames.write(write));
        self.rename_below(&renames);
    }

    fn rename_below(&mut self, renames: &Renamed) {
        for agent in self.targets.iter_mut().chain(&mut self.helpers) {
            agent
                .reads
                .iter_mut()
                .for_each(|read| (read.own, read.key) = own(&renames.reads, read.own()));
            agent
                .writes
                .iter_mut()
                .chain(&mut agent.tools)
                .for_each(|write| renames.write(write));
            agent.rename_below(renames);
        }
        for nested in &mut self.flows {
            let inputs = nested
                .flow
                .inputs
                .iter()
                .map(|(key, _)| (*key, own(&renames.reads, key).1));
            nested.reads = inputs.filter(|(own, key)| own != key).collect();
            nested.writes = nested
                .flow
                .outputs
                .iter()
                .map(|key| own(&renames.writes, key).1)
                .collect();
        }
    }
}

/// The keys that an instance uses, by the keys of its definition.
struct Renamed {
    reads: Vec<(Key, Key)>,
    writes: Vec<(Key, Key)>,
}

impl Renamed {
    fn write(&self, write: &mut Write) {
        (write.own, write.key) = own(&self.writes, write.own());
    }
}

/// Returns the name that the definition uses, if it differs, and the key of the instance.
fn own(renamed: &[(Key, Key)], name: Key) -> (Option<Key>, Key) {
    let key = renamed
        .iter()
        .find(|(own, _)| *own == name)
        .map_or(name, |(_, key)| key);
    ((key != name).then_some(name), key)
}

impl Nested {
    /// Whether its only input is the request, when it is a tool.
    pub fn is_requested(&self) -> bool {
        matches!(&self.flow.inputs[..], [(key, _)] if type_of(key) == "String")
    }

    /// Returns the outer key that an input is read from.
    pub fn read(&self, own: Key) -> Key {
        self.reads
            .iter()
            .find(|(inside, _)| *inside == own)
            .map_or(own, |(_, key)| key)
    }

    /// Returns the outer key that an output is written to.
    pub fn written(&self, own: Key) -> Key {
        let at = self.flow.outputs.iter().position(|output| *output == own);
        at.and_then(|at| self.writes.get(at).copied())
            .unwrap_or(own)
    }
}

impl Flow {
    /// Visits each node, without those of nested workflows.
    pub fn each<'a>(&'a self, look: &mut impl FnMut(&'a Node)) {
        each(&self.body, look);
    }

    /// Returns the prefixed keys, the declared keys, and the keys that any step may write.
    pub fn written(&self) -> BTreeSet<Key> {
        let declared = self
            .inputs
            .iter()
            .map(|(key, _)| key)
            .chain(&self.lets)
            .chain(&self.states);
        let mut keys: BTreeSet<_> = declared.chain(PREFIXED).copied().collect();
        keys.extend(written(&self.body));
        // Nested workflows also write to the session.
        for inner in self.definitions() {
            keys.extend(
                written(&inner.body)
                    .iter()
                    .filter(|key| inner.states.contains(key)),
            );
        }
        keys
    }

    /// Returns the number of agents, including those of nested workflows.
    pub fn agents(&self) -> usize {
        let mut count = 0;
        self.each(&mut |node| match node {
            Node::Run(_) => count += 1,
            Node::Nested(nested) => count += nested.flow.agents(),
            _ => {}
        });
        count
    }

    /// Returns the definitions of nested workflows, innermost first.
    pub fn definitions(&self) -> Vec<Arc<Flow>> {
        let mut all: Vec<Arc<Flow>> = Vec::new();
        let mut add = |nested: &Nested| {
            for flow in nested
                .flow
                .definitions()
                .into_iter()
                .chain([nested.flow.clone()])
            {
                if !all.iter().any(|other| other.name == flow.name) {
                    all.push(flow);
                }
            }
        };
        self.each(&mut |node| match node {
            Node::Nested(nested) => add(nested),
            Node::Run(agent) => agent.called().for_each(&mut add),
            _ => {}
        });
        all
    }
}

/// Visits these nodes and all inner ones, from the outside in.
pub fn each<'a>(nodes: &'a [Node], look: &mut impl FnMut(&'a Node)) {
    for node in nodes {
        look(node);
        if let Node::Block(block) = node {
            each(&block.inside, look);
        }
    }
}

/// Returns the keys without a prefix that nodes may write, under their local names.
pub fn written(nodes: &[Node]) -> Vec<Key> {
    let mut keys = all_written(nodes);
    keys.retain(|key| !has_prefix(key));
    keys
}

/// Returns all keys that nodes may write, under their local names.
pub fn all_written(nodes: &[Node]) -> Vec<Key> {
    let mut keys = Vec::new();
    each(nodes, &mut |node| match node {
        Node::Run(agent) => {
            for agent in [agent].into_iter().chain(agent.below()) {
                keys.extend(
                    agent
                        .writes
                        .iter()
                        .chain(&agent.tools)
                        .map(|write| write.key),
                );
            }
            for nested in agent.called() {
                keys.extend(nested.flow.outputs.iter().map(|key| nested.written(key)));
            }
        }
        Node::Nested(nested) => {
            keys.extend(nested.flow.outputs.iter().map(|key| nested.written(key)))
        }
        Node::Break(_) | Node::Block(_) | Node::Nothing => {}
    });
    keys.sort_unstable();
    keys.dedup();
    keys
}
