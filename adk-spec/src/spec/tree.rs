//! A [`Spec`] as a tree of nodes, for users and programs that inspect a workflow.

mod node;
mod reads;

pub use node::{Node, NodeKind};

use super::{AgentKind, AgentMeta, InputSpec, Renames, Spec, Step, StepKind};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::borrow::Cow;
use std::rc::Rc;

impl<'a> Spec<'a> {
    /// Returns all nodes, each before its children. The first node is the workflow itself. Nested
    /// workflows are part of the tree.
    ///
    /// ```
    /// # use adk_spec as adk;
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
        let root = Node {
            definition: self.name,
            description: self.description,
            reads: reads::workflow_reads(self),
            writes: Cow::Borrowed(self.outputs),
            ..Node::new(NodeKind::Workflow, Cow::Borrowed(self.name))
        };
        let mut nodes = vec![root];
        // The walk uses a stack of lists instead of recursion, because workflows may be nested to
        // any depth.
        let mut lists = vec![StepList::new(self.steps, &[], 0, Rc::from(""))];
        let built = self.built;
        while let Some(list) = lists.last_mut() {
            match list.next(&mut nodes, built) {
                Some(Next::Inside(inside)) => lists.push(inside),
                Some(Next::Step) => {}
                None => {
                    lists.pop();
                }
            }
        }
        nodes
    }

    /// Returns the node with a name. Nodes inside an instance have its prefix, as in
    /// `second::critic`.
    pub fn find(&self, name: &str) -> Option<Node<'a>> {
        let mut nodes = self.nodes();
        let at = nodes
            .iter()
            .position(|node| !name.is_empty() && node.name == name)?;
        Some(nodes.swap_remove(at))
    }
}

/// A list of steps that is being converted to nodes.
struct StepList<'a> {
    steps: &'a [Step<'a>],
    at: usize,
    /// The transfer targets of the agent that owns the list.
    targets: std::slice::Iter<'a, &'a AgentMeta<'a>>,
    /// The enclosing nodes, each with the step where it ends.
    around: Vec<(usize, usize)>,
    /// The name of the enclosing instance.
    prefix: Rc<str>,
}

enum Next<'a> {
    Step,
    Inside(StepList<'a>),
}

impl<'a> StepList<'a> {
    fn new(
        steps: &'a [Step<'a>],
        targets: &'a [&'a AgentMeta<'a>],
        parent: usize,
        prefix: Rc<str>,
    ) -> Self {
        Self {
            steps,
            at: 0,
            targets: targets.iter(),
            around: vec![(parent, usize::MAX)],
            prefix,
        }
    }

    /// Converts the next step, or the next transfer target. `built` says whether the tree was built
    /// at run time. Returns `None` at the end.
    fn next(&mut self, nodes: &mut Vec<Node<'a>>, built: bool) -> Option<Next<'a>> {
        let (at, step) = (self.at, self.steps.get(self.at));
        let Some(step) = step else {
            let meta = *self.targets.next()?;
            let node = Node::agent(self.prefixed_name(meta.name), meta, Renames::NONE);
            let here = self.push(
                Node {
                    transfer: true,
                    ..node
                },
                nodes,
            );
            // The names inside a declared workflow are its own, as in an instance.
            let is_closed = matches!(meta.kind, AgentKind::Workflow) && !built;
            return Some(self.inside(here, meta, is_closed, nodes));
        };
        self.at += 1;
        self.around.pop_if(|(_, end)| *end == at);
        let node = match step.kind {
            // A branch with one step becomes that step. A branch with several steps becomes a
            // sequence.
            StepKind::Branch
                if self
                    .steps
                    .get(at + 1)
                    .is_some_and(|first| first.end.saturating_add(1) < step.end) =>
            {
                Some(Node {
                    named: false,
                    ..Node::new(NodeKind::Sequence, Cow::Borrowed(""))
                })
            }
            _ => Node::step(step, self.prefixed_name(step.name)),
        };
        let Some(node) = node else {
            return Some(Next::Step);
        };
        let here = self.push(node, nodes);
        if step.end > at {
            self.around.push((here, step.end));
        }
        Some(match step.kind {
            StepKind::Agent { meta, instance } => self.inside(here, meta, instance, nodes),
            _ => Next::Step,
        })
    }

    fn prefixed_name(&self, name: &'a str) -> Cow<'a, str> {
        if self.prefix.is_empty() || name.is_empty() {
            Cow::Borrowed(name)
        } else {
            Cow::Owned(format!("{}::{name}", self.prefix))
        }
    }

    fn push(&self, node: Node<'a>, nodes: &mut Vec<Node<'a>>) -> usize {
        let here = nodes.len();
        let parent = self.around.last().map_or(0, |(parent, _)| *parent);
        let depth = nodes[parent].depth + 1;
        nodes[parent].children.push(here);
        nodes.push(Node {
            parent: Some(parent),
            depth,
            ..node
        });
        here
    }

    /// Returns the steps inside an agent.
    fn inside(
        &self,
        here: usize,
        meta: &'a AgentMeta<'a>,
        instance: bool,
        nodes: &[Node<'a>],
    ) -> Next<'a> {
        if meta.steps.is_empty() && meta.transfer.is_empty() {
            return Next::Step;
        }
        let prefix = if instance {
            Rc::from(&*nodes[here].name)
        } else {
            Rc::clone(&self.prefix)
        };
        Next::Inside(StepList::new(meta.steps, meta.transfer, here, prefix))
    }
}

/// Serializes the name, the description, the keys, the limits, and all nodes.
impl Serialize for Spec<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut spec = serializer.serialize_struct("Spec", 9 + self.guards.iter().len())?;
        spec.serialize_field("name", self.name)?;
        spec.serialize_field("description", self.description)?;
        let inputs: &[InputSpec<'_>] = self.inputs;
        spec.serialize_field("inputs", inputs)?;
        spec.serialize_field("lets", self.lets)?;
        spec.serialize_field("states", self.states)?;
        spec.serialize_field("outputs", self.outputs)?;
        spec.serialize_field("unplaced", self.unplaced)?;
        spec.serialize_field("limits", &self.limits)?;
        if let Some(guards) = self.guards {
            spec.serialize_field("guards", guards)?;
        }
        spec.serialize_field("nodes", &self.nodes())?;
        spec.end()
    }
}

#[cfg(test)]
mod tests;
