//! [`ResourceSpec`]: the resources of tools and agents.

use super::{AgentMeta, Spec, StepKind};
use std::any::TypeId;

/// A resource of a tool or an agent: a type with a value from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ResourceSpec<'a> {
    /// The type as the user spelled it.
    pub name: &'a str,
    /// The type itself.
    #[serde(skip)]
    pub id: TypeId,
}

impl<'a> ResourceSpec<'a> {
    /// Creates a resource of type `T`, which is spelled `name`.
    pub const fn of<T: 'static>(name: &'a str) -> Self {
        Self {
            name,
            id: TypeId::of::<T>(),
        }
    }
}

impl<'a> Spec<'a> {
    /// Returns the resources of all agents and tools in the workflow. A type that several agents or
    /// tools take is listed once for each of them. Nested workflows, agents as tools and transfer
    /// targets are included.
    pub fn resources(&self) -> Vec<ResourceSpec<'a>> {
        let mut all = Vec::new();
        // The search uses a list instead of recursion, because workflows may be nested to any
        // depth.
        let mut left: Vec<&AgentMeta<'a>> = Vec::new();
        let mut steps = self.steps;
        loop {
            left.extend(steps.iter().filter_map(|step| match step.kind {
                StepKind::Agent { meta, .. } => Some(meta),
                _ => None,
            }));
            let Some(meta) = left.pop() else { return all };
            all.extend(
                meta.resources
                    .iter()
                    .chain(meta.tools.iter().flat_map(|tool| tool.resources)),
            );
            left.extend(
                meta.tools
                    .iter()
                    .filter_map(|tool| tool.agent)
                    .chain(meta.transfer.iter().copied()),
            );
            steps = meta.steps;
        }
    }
}
