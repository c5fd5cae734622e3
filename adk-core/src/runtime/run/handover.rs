//! [`HandoverState`]: the agents that the current agent may hand over to. The caller sets it,
//! because an agent knows only its own sub-agents.

use crate::Name;

/// The handover targets of the current agent, and its choice.
#[derive(Debug, Default)]
pub(crate) struct HandoverState {
    /// The sub-agents, then the parent, then the siblings, if the agent may hand over to them.
    pub(crate) targets: Vec<HandoverTarget>,
    /// Model calls of the agent's earlier turns at this path. The limit counts all turns together.
    pub(crate) calls: u32,
    /// The index of the chosen target; the agent sets it at its end.
    pub(crate) next: Option<usize>,
    /// Whether another agent has handed over to this one.
    pub(crate) handed_over: bool,
}

/// An agent that may receive a handover.
#[derive(Debug)]
pub(crate) struct HandoverTarget {
    /// The index among all agents of the tree.
    pub(crate) member: usize,
    /// The name in model requests.
    pub(crate) name: Name,
    /// The name in the workflow, which tools may use as well.
    pub(crate) plain: Name,
    pub(crate) description: String,
    pub(crate) is_parent: bool,
    /// Whether the agent has used all of its model calls. Models then do not see it as a target.
    pub(crate) is_spent: bool,
}

impl HandoverState {
    /// Returns the targets that a model request lists.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &HandoverTarget> {
        self.targets.iter().filter(|target| !target.is_spent)
    }

    /// Returns the target with a name, which is either the name in model requests or the name in
    /// the workflow.
    pub(crate) fn find(&self, name: &str) -> Option<&HandoverTarget> {
        let known = self.targets.iter().find(|target| *target.name == *name);
        known.or_else(|| self.targets.iter().find(|target| *target.plain == *name))
    }
}
