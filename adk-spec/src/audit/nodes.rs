//! [`AgentNodes`]: the nodes of a workflow that belong to the agents of a walk.

use crate::check::labels::{Note, NoteKind};
use crate::spec::{Node, NodeKind, Spec};

/// The nodes of a workflow, with what the walk knows of the agent of each.
pub(super) struct AgentNodes<'a> {
    spec: Spec<'a>,
    nodes: Vec<Node<'a>>,
    around: Vec<Around<'a>>,
}

#[derive(Clone, Copy)]
struct Around<'a> {
    /// The node of the agent that is a step of the audited workflow; 0 for none.
    step: usize,
    /// The nested workflow around the node; empty for none.
    workflow: &'a str,
}

impl<'a> AgentNodes<'a> {
    pub(super) fn new(spec: &Spec<'a>) -> Self {
        let nodes = spec.nodes();
        let outside = Around {
            step: 0,
            workflow: "",
        };
        let mut around = vec![outside; nodes.len()];
        for (at, node) in nodes.iter().enumerate().skip(1) {
            let parent = node.parent.unwrap_or_default();
            around[at] = around[parent];
            if parent > 0 && nodes[parent].kind == NodeKind::Workflow {
                around[at].workflow = nodes[parent].definition;
            }
            if around[at].step == 0 && is_agent(node) {
                around[at].step = at;
            }
        }
        Self {
            spec: *spec,
            nodes,
            around,
        }
    }

    /// Returns the nodes of the agent of a note: none for an agent that is a tool. An `await` with
    /// a default cleans where a `match` chooses by its answer.
    pub(super) fn find(&self, note: &Note<'_>) -> Vec<usize> {
        let step = self.spec.steps.get(note.root).map_or("", |step| step.name);
        let is_agent = |at: &usize| {
            let (node, around) = (&self.nodes[*at], self.around[*at]);
            is_agent(node)
                && node.definition == note.agent
                && around.workflow == note.inside
                && (self.nodes[around.step].name == step || note.kind == NoteKind::ByAwait)
        };
        (1..self.nodes.len()).filter(is_agent).collect()
    }

    /// Returns the nodes of the agent of a note, or the step to which an agent that is a tool
    /// belongs.
    pub(super) fn find_or_step(&self, note: &Note<'_>) -> Vec<usize> {
        let found = self.find(note);
        if !found.is_empty() {
            return found;
        }
        let step = self.spec.steps.get(note.root).map_or("", |step| step.name);
        let is_step = |at: &usize| self.around[*at].step == *at && self.nodes[*at].name == step;
        (1..self.nodes.len()).filter(is_step).collect()
    }

    /// Returns whether a function or `impl Agent` with a name is drawn.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.nodes.iter().any(|node| {
            matches!(node.kind, NodeKind::Function | NodeKind::Custom) && node.definition == name
        })
    }

    /// Returns the name of the agent of a note, with its instance.
    pub(super) fn name(&self, note: &Note<'_>) -> String {
        match self.find(note).first() {
            Some(at) => self.nodes[*at].name.clone().into_owned(),
            None => note.agent.to_owned(),
        }
    }
}

fn is_agent(node: &Node<'_>) -> bool {
    matches!(
        node.kind,
        NodeKind::Workflow
            | NodeKind::Llm
            | NodeKind::Function
            | NodeKind::Custom
            | NodeKind::Await
    )
}
