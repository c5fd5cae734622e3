//! [`NameOwner`]: the owners of step names that are in use.

use super::super::ast::{Decl, DeclKind};
use super::super::names::unraw;
use super::super::plan::{Step, StepKind};
use proc_macro2::Span;
use std::collections::HashMap;

/// The owner of a name.
#[derive(Clone, Copy)]
pub(super) enum NameOwner {
    Workflow,
    Unnamed,
    /// An agent that the workflow declares or that `as` names.
    Agent,
    /// An agent in another module, whose definition the macro does not see.
    Path,
    Block,
    Await,
}

impl NameOwner {
    pub(super) fn from_step(step: &Step<'_>) -> Self {
        match step.kind {
            StepKind::Path(run) if run.alias.is_none() => Self::Path,
            StepKind::Path(_)
            | StepKind::Declared(..)
            | StepKind::Target(_)
            | StepKind::TargetPath(_) => Self::Agent,
            StepKind::Await(_) => Self::Await,
            _ => Self::Block,
        }
    }

    pub(super) fn is_agent(self) -> bool {
        matches!(self, Self::Agent | Self::Path)
    }

    pub(super) fn describe(self, name: &str) -> String {
        match self {
            Self::Workflow => format!("this workflow itself is called `{name}`"),
            Self::Unnamed => format!("an unnamed block of this workflow is called `{name}`"),
            Self::Agent | Self::Path | Self::Await => {
                format!("another step of this workflow is called `{name}`")
            }
            Self::Block => format!("a block of this workflow is called `{name}`"),
        }
    }

    pub(super) fn remedy(self, name: &str) -> String {
        match self {
            Self::Block => "give the block another name".into(),
            Self::Await => {
                format!("give this one a name of its own, as in `second_{name}: await ...`")
            }
            _ => format!("give this one a name of its own, as in `as second_{name}`"),
        }
    }
}

/// Returns the names of agents that have a `name` field different from their declared name.
pub(super) fn name_fields(agents: &[Decl]) -> HashMap<String, Span> {
    let own = agents.iter().filter_map(|decl| match &decl.kind {
        DeclKind::Llm { fields, .. } => {
            let name = fields
                .name
                .as_ref()
                .filter(|name| name.value() != unraw(&decl.name))?;
            Some((name.value(), name.span()))
        }
        _ => None,
    });
    own.collect()
}
