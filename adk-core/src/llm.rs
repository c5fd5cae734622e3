//! Agents that ask a language model.

mod call;
mod calls;
mod contents;
mod declare;
mod declared;
mod instruction;
mod merge;
mod output;
mod request;
mod respond;
mod template;
mod toolbox;
mod tools;
mod transfer;
mod turn;

pub use call::RETRY_KEY;
pub use declare::{IncludeContents, LlmDecl, LlmSettings, OutputKey, Retry, ToolList};
pub use declared::{Declared, Declares};
pub use instruction::{Fallible, Instruction, Instructs, Later, Text};

use crate::agent::{DynAgent, Handover};
use crate::flow::Flow;
use crate::run::{Context, Prepare, Prompt};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Error, ErrorKind, Result};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// An agent that asks a language model: ADK's `LlmAgent`.
///
/// A turn asks the model, runs the tools that it calls, and asks again, until it answers without a call.
#[derive(Debug)]
pub struct LlmAgent {
    decl: &'static LlmDecl,
    settings: LlmSettings,
    instruction: Instruction,
    /// What it says to itself and to all agents below it, where none above it does.
    global: Option<Arc<dyn Prompt>>,
    /// The declared tools; those of the settings come behind them.
    tools: ToolList,
    /// Made of the output type at the first call.
    schema: OnceLock<Option<Arc<Value>>>,
}

impl LlmAgent {
    pub(crate) fn declared(decl: &'static LlmDecl) -> Self {
        let (settings, tools) = ((decl.settings)(), ToolList((decl.tools)()));
        let instruction = decl.make_instruction.map_or_else(|| Instruction::from(decl.instruction), |make| make());
        let global = match decl.make_global_instruction {
            Some(make) => Some(make()),
            None => Some(decl.global_instruction).filter(|prompt| !prompt.is_empty()).map(Instruction::from),
        };
        let global = global.map(|global| Arc::new(global) as Arc<dyn Prompt>);
        Self { decl, settings, instruction, global, tools, schema: OnceLock::new() }
    }

    /// The schema that its answer has to fit.
    fn schema(&self) -> Option<Arc<Value>> {
        let make = || self.decl.output.and_then(|output| output.schema).map(|schema| schema());
        self.schema.get_or_init(make).clone()
    }

    /// The most model calls of a turn: what was set, otherwise what was declared.
    fn max_turns(&self) -> Option<u32> {
        self.settings.max_turns.or(self.decl.max_turns)
    }

    /// `max_turns` is part of what `bounds` counts, so it can be lowered and not raised.
    fn check_turns(&self) -> Result<()> {
        let why = match (self.max_turns(), self.decl.max_turns) {
            (Some(0), _) => "an agent makes at least one model call".to_owned(),
            (Some(set), Some(most)) if set > most => {
                format!("it is declared with `max_turns: {most}`, which is the most that was checked")
            }
            _ => return Ok(()),
        };
        let set = self.max_turns().unwrap_or_default();
        Err(Error::new(ErrorKind::Config, format!("`set_max_turns({set})`: {why}")))
    }

    /// The most model calls of all turns at one place, for an agent that others hand over to. Where nothing but a transfer
    /// can make it ask again, `bounds` counts one call, so that is all it may make; tools that were added at run time make
    /// it ask again.
    fn max_calls(&self) -> Option<u32> {
        let counted = self.decl.meta.max_turns.filter(|_| self.settings.tools.0.is_empty());
        self.max_turns().or(counted)
    }

    fn output(&self) -> Option<OutputKey> {
        self.decl.output
    }
}

impl DynAgent for LlmAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.decl.meta
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let flow = turn::run(self, cx).await;
            flow.map_err(|error| error.at(cx.path()))
        })
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        prepare.needs_model(self.settings.model.as_ref());
        if let Err(error) = self.check_tools().and_then(|()| self.check_turns()) {
            prepare.fail(error);
        }
    }

    fn handover_dyn(&self) -> Handover<'_> {
        Handover {
            decides: true,
            not_to_parent: self.decl.disallow_transfer_to_parent,
            not_to_peers: self.decl.disallow_transfer_to_peers,
            max_calls: self.max_calls(),
            model: self.settings.model.as_ref(),
            global: self.global.as_ref(),
            agents: &[],
        }
    }
}
