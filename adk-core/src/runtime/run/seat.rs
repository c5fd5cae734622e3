//! What an agent knows of those that it may hand over to. Who runs it says so, since an agent knows only those below it.

use crate::Name;

/// The place of an agent among those that hand over to each other.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    /// Those below it, then its parent, then the others of its parent, as far as it may.
    pub(crate) targets: Vec<Target>,
    /// The model calls that it has made here before: its turns limit them all together.
    pub(crate) calls: u32,
    /// Which of the targets goes on; the agent sets it when it ends.
    pub(crate) next: Option<usize>,
    /// Another agent has handed over to it.
    pub(crate) handed_over: bool,
}

/// An agent that may be handed over to.
#[derive(Debug)]
pub(crate) struct Target {
    /// Its number among all of them.
    pub(crate) member: usize,
    /// As models know it.
    pub(crate) name: Name,
    /// As it is called in the workflow, which tools may say as well.
    pub(crate) plain: Name,
    pub(crate) description: String,
    pub(crate) is_parent: bool,
    /// It has made all the model calls that it may, so nobody is offered to hand over to it.
    pub(crate) is_spent: bool,
}

impl Seat {
    /// Those in the model request.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| !target.is_spent)
    }

    /// The target of a name: as models know it, or as it is called in the workflow.
    pub(crate) fn find(&self, name: &str) -> Option<&Target> {
        let known = self.targets.iter().find(|target| *target.name == *name);
        known.or_else(|| self.targets.iter().find(|target| *target.plain == *name))
    }
}
