//! Agents that ask a language model.

mod declare;
mod declared;

pub use declare::{IncludeContents, LlmDecl, LlmSettings, OutputKey, Retry, ToolList};
pub use declared::{Declared, Declares};

use crate::agent::{DynAgent, Flow};
use crate::run::{Context, Prepare};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Result};

/// An agent that asks a language model: ADK's `LlmAgent`.
#[derive(Debug)]
pub struct LlmAgent {
    decl: &'static LlmDecl,
    settings: LlmSettings,
}

impl LlmAgent {
    pub(crate) fn declared(decl: &'static LlmDecl) -> Self {
        Self { decl, settings: (decl.settings)() }
    }
}

impl DynAgent for LlmAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.decl.meta
    }

    fn run_dyn<'a>(&'a self, _cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async { Ok(Flow::Continue) })
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        prepare.needs_model(self.settings.model.as_ref());
    }
}
