//! What a tool or an agent takes from the program.

use super::{AgentMeta, Spec, StepKind};
use std::any::TypeId;

/// A resource that a tool or an agent takes: a type of which the program gives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ResourceSpec<'a> {
    /// The type, as it is written.
    pub name: &'a str,
    /// The type.
    #[serde(skip)]
    pub id: TypeId,
}

impl<'a> ResourceSpec<'a> {
    /// A resource of type `T`, which is written so.
    pub const fn of<T: 'static>(name: &'a str) -> Self {
        Self { name, id: TypeId::of::<T>() }
    }
}

impl<'a> Spec<'a> {
    /// What its agents and their tools say they take from the program, each type once per place; nested workflows, agents as
    /// tools and targets of a transfer included.
    pub fn resources(&self) -> Vec<ResourceSpec<'a>> {
        let mut all = Vec::new();
        // A list and no recursion: workflows may be nested as deep as they like.
        let mut left: Vec<&AgentMeta<'a>> = Vec::new();
        let mut steps = self.steps;
        loop {
            left.extend(steps.iter().filter_map(|step| match step.kind {
                StepKind::Agent { meta, .. } => Some(meta),
                _ => None,
            }));
            let Some(meta) = left.pop() else { return all };
            all.extend(meta.resources.iter().chain(meta.tools.iter().flat_map(|tool| tool.resources)));
            left.extend(meta.tools.iter().filter_map(|tool| tool.agent).chain(meta.transfer.iter().copied()));
            steps = meta.steps;
        }
    }
}
