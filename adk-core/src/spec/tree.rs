//! A [`Spec`] as a tree of nodes, for people and programs that look at a workflow.

mod reads;

use super::{AgentKind, AgentMeta, InputSpec, KeySpec, Spec, Step, StepKind, ToolMeta};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A node of a workflow: the workflow itself, an agent, or a block.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Node<'a> {
    /// What it is.
    pub kind: NodeKind,
    /// Its name; inside of an instance with the prefix of it, `second::critic`. Empty for a `break`.
    pub name: Cow<'a, str>,
    /// Its doc comment.
    pub description: &'a str,
    /// The node around it, by its place among [`Spec::nodes`].
    pub parent: Option<usize>,
    /// The nodes in it.
    pub children: Vec<usize>,
    /// How many nodes are around it.
    pub depth: usize,
    /// The keys that it reads, in parameters and in prompts; a prompt takes any value.
    pub reads: Cow<'a, [KeySpec<'a>]>,
    /// The keys that it writes.
    pub writes: &'a [KeySpec<'a>],
    /// Its prompts.
    pub prompts: &'a [&'a str],
    /// Its tools.
    pub tools: &'a [ToolMeta<'a>],
    /// The most rounds of a loop.
    pub max: Option<u32>,
    /// The key that ends a loop after a round.
    pub until: Option<&'a str>,
    /// The most branches of a parallel at a time.
    pub max_concurrency: Option<u32>,
    /// The most model calls of one turn of an agent.
    pub max_turns: Option<u32>,
    /// Whether an agent may end a loop.
    pub may_exit: bool,
    /// The loop that a `break` ends, or that an agent may end by name.
    pub exits: Cow<'a, [&'a str]>,
    /// Whether it is an instance of its own, by `as`.
    pub instance: bool,
    /// Whether somebody chose the name.
    pub named: bool,
}

/// What a [`Node`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeKind {
    /// The workflow, or one inside of it.
    Workflow,
    /// An agent that asks a language model.
    Llm,
    /// A function.
    Function,
    /// An `impl Agent` by hand.
    Custom,
    /// One after the other.
    Sequence,
    /// At the same time.
    Parallel,
    /// Repeats.
    Loop,
    /// Ends a loop.
    Break,
}

impl<'a> Node<'a> {
    fn new(kind: NodeKind, name: Cow<'a, str>) -> Self {
        Self {
            kind,
            name,
            description: "",
            parent: None,
            children: Vec::new(),
            depth: 0,
            reads: Cow::Borrowed(&[]),
            writes: &[],
            prompts: &[],
            tools: &[],
            max: None,
            until: None,
            max_concurrency: None,
            max_turns: None,
            may_exit: false,
            exits: Cow::Borrowed(&[]),
            instance: false,
            named: true,
        }
    }

    fn agent(name: Cow<'a, str>, meta: &'a AgentMeta<'a>, instance: bool) -> Self {
        let kind = match meta.kind {
            AgentKind::Llm => NodeKind::Llm,
            AgentKind::Function => NodeKind::Function,
            AgentKind::Workflow => NodeKind::Workflow,
            AgentKind::Custom => NodeKind::Custom,
        };
        Self {
            description: meta.description,
            reads: reads::of_agent(meta),
            writes: meta.writes,
            prompts: meta.prompts,
            tools: meta.tools,
            max_turns: meta.max_turns,
            may_exit: meta.may_exit,
            exits: Cow::Borrowed(meta.exits),
            instance,
            ..Self::new(kind, name)
        }
    }

    /// The step without names of agents inside; `None` for a marker.
    fn step(step: &Step<'a>, name: Cow<'a, str>) -> Option<Self> {
        Some(match step.kind {
            StepKind::Agent { meta, instance } => Self::agent(name, meta, instance),
            StepKind::Sequence => Self::new(NodeKind::Sequence, name),
            StepKind::Parallel { max_concurrency } => {
                Self { max_concurrency, ..Self::new(NodeKind::Parallel, name) }
            }
            StepKind::Loop { max, until } => Self { max, until, ..Self::new(NodeKind::Loop, name) },
            StepKind::Break { target } => {
                Self { exits: target.into_iter().collect(), ..Self::new(NodeKind::Break, name) }
            }
            StepKind::Branch | StepKind::End => return None,
        })
    }
}

impl<'a> Spec<'a> {
    /// All nodes, each before those in it; the first is the workflow itself. Nested workflows are part of the tree.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::spec::{NodeKind, Spec, Step, StepKind};
    /// let steps = [
    ///     Step::new("refinement", StepKind::Loop { max: Some(5), until: None }, 2),
    ///     Step::new("", StepKind::Break { target: None }, 1),
    ///     Step::new("", StepKind::End, 2),
    /// ];
    /// let nodes = Spec::new("writing", "", &steps).nodes();
    /// assert_eq!(nodes[1].kind, NodeKind::Loop);
    /// assert_eq!(nodes[1].children, [2]);
    /// ```
    pub fn nodes(&self) -> Vec<Node<'a>> {
        let mut root = Node::new(NodeKind::Workflow, Cow::Borrowed(self.name));
        root.description = self.description;
        root.reads = reads::of_workflow(self);
        root.writes = self.outputs;
        let mut nodes = vec![root];
        walk(self.steps, 0, "", &mut nodes);
        nodes
    }

    /// The node of that name, with the prefix of its instance, as in `second::critic`.
    pub fn find(&self, name: &str) -> Option<Node<'a>> {
        let mut nodes = self.nodes();
        let at = nodes.iter().position(|node| !name.is_empty() && node.name == name)?;
        Some(nodes.swap_remove(at))
    }
}

fn walk<'a>(steps: &'a [Step<'a>], root: usize, prefix: &str, nodes: &mut Vec<Node<'a>>) {
    // The blocks around, each with where it ends.
    let mut around = vec![(root, usize::MAX)];
    for (at, step) in steps.iter().enumerate() {
        around.pop_if(|(_, end)| *end == at);
        let name = match prefix.is_empty() || step.name.is_empty() {
            true => Cow::Borrowed(step.name),
            false => Cow::Owned(format!("{prefix}::{}", step.name)),
        };
        let (Some(node), Some(&(parent, _))) = (Node::step(step, name), around.last()) else {
            continue;
        };
        let here = nodes.len();
        let depth = nodes[parent].depth + 1;
        nodes[parent].children.push(here);
        let description = if node.description.is_empty() { step.description } else { node.description };
        let named = step.named || matches!(node.kind, NodeKind::Break);
        nodes.push(Node { parent: Some(parent), depth, description, named, ..node });
        match step.kind {
            StepKind::Agent { meta, instance } if !meta.steps.is_empty() => {
                let inner = if instance { nodes[here].name.clone().into_owned() } else { prefix.to_owned() };
                walk(meta.steps, here, &inner, nodes);
            }
            _ if step.end != at => around.push((here, step.end)),
            _ => {}
        }
    }
}

/// The tree as text.
impl fmt::Display for Spec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes();
        let inputs: Vec<_> =
            self.inputs.iter().map(|input| format!("{}: {}", input.name, input.ty)).collect();
        let outputs: Vec<_> = self.outputs.iter().map(|key| format!("{}: {}", key.name, key.ty)).collect();
        write!(f, "{}({})", self.name, inputs.join(", "))?;
        match outputs.as_slice() {
            [] => {}
            [one] => write!(f, " -> {one}")?,
            all => write!(f, " -> ({})", all.join(", "))?,
        }
        draw(f, &nodes, 0, "")
    }
}

fn draw(f: &mut fmt::Formatter<'_>, nodes: &[Node<'_>], at: usize, indent: &str) -> fmt::Result {
    let children = &nodes[at].children;
    for (i, &child) in children.iter().enumerate() {
        let (branch, below) = if i + 1 == children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        write!(f, "\n{indent}{branch}{}", Line(&nodes[child]))?;
        draw(f, nodes, child, &format!("{indent}{below}"))?;
    }
    Ok(())
}

/// One node as it is drawn.
struct Line<'n, 'a>(&'n Node<'a>);

impl fmt::Display for Line<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.0;
        let word = match node.kind {
            NodeKind::Sequence => "sequence",
            NodeKind::Parallel => "parallel",
            NodeKind::Loop => "loop",
            NodeKind::Break => "break",
            _ => {
                f.write_str(&node.name)?;
                let writes: Vec<_> = node.writes.iter().map(|key| key.name).collect();
                return match writes.is_empty() {
                    true => Ok(()),
                    false => write!(f, " -> {}", writes.join(", ")),
                };
            }
        };
        if node.named && node.kind != NodeKind::Break {
            write!(f, "{}: ", node.name)?;
        }
        f.write_str(word)?;
        if let (NodeKind::Break, [target]) = (node.kind, &node.exits[..]) {
            write!(f, " {target}")?;
        }
        let limits = [
            node.max.map(|max| format!("max = {max}")),
            node.until.map(|key| format!("until = {key}")),
            node.max_concurrency.map(|most| format!("max_concurrency = {most}")),
        ];
        let limits: Vec<_> = limits.into_iter().flatten().collect();
        match limits.is_empty() {
            true => Ok(()),
            false => write!(f, "({})", limits.join(", ")),
        }
    }
}

/// Name, description, keys, and all nodes.
impl Serialize for Spec<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut spec = serializer.serialize_struct("Spec", 7)?;
        spec.serialize_field("name", self.name)?;
        spec.serialize_field("description", self.description)?;
        let inputs: &[InputSpec<'_>] = self.inputs;
        spec.serialize_field("inputs", inputs)?;
        spec.serialize_field("lets", self.lets)?;
        spec.serialize_field("states", self.states)?;
        spec.serialize_field("outputs", self.outputs)?;
        spec.serialize_field("nodes", &self.nodes())?;
        spec.end()
    }
}

#[cfg(test)]
mod tests;
