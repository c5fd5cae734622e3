//! Agents that ask a language model.

mod call;
mod calls;
mod contents;
mod declare;
mod declared;
mod live;
mod merge;
mod output;
mod request;
mod template;
mod tools;
mod turn;

pub use call::RETRY_KEY;
pub use declare::{IncludeContents, LlmDecl, LlmSettings, OutputKey, Retry, ToolList};
pub use declared::{Declared, Declares};

use crate::agent::DynAgent;
use crate::flow::Flow;
use crate::run::{Context, Prepare};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Error, ErrorKind, Result};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// An agent that asks a language model: ADK's `LlmAgent`.
///
/// A turn asks the model, runs the tools that it calls, and asks again, until it answers without a call.
#[derive(Clone, Debug)]
pub struct LlmAgent {
    decl: &'static LlmDecl,
    settings: LlmSettings,
    /// The declared tools; those of the settings come behind them.
    tools: ToolList,
    /// What a live run says behind its instruction.
    hand_over: Option<&'static str>,
    /// Made of the output type at the first call.
    schema: OnceLock<Option<Arc<Value>>>,
}

impl LlmAgent {
    pub(crate) fn declared(decl: &'static LlmDecl) -> Self {
        let (settings, tools) = ((decl.settings)(), ToolList((decl.tools)()));
        Self { decl, settings, tools, hand_over: None, schema: OnceLock::new() }
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

    /// Transfers are declared and checked; nothing runs them yet.
    fn check_transfer(&self) -> Result<()> {
        if self.decl.meta.transfer.is_empty() {
            return Ok(());
        }
        let message = "`transfer` is checked by this version and run by a later one";
        Err(Error::new(ErrorKind::Config, message)
            .with_help("remove `transfer`, and place its targets as steps"))
    }
}

impl DynAgent for LlmAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.decl.meta
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let flow = match cx.run.live.clone() {
                Some(input) => live::run(self, input, cx).await,
                None => turn::run(self, cx).await,
            };
            flow.map_err(|error| error.at(cx.path()))
        })
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        prepare.needs_model(self.settings.model.as_ref());
        if let Err(error) =
            self.check_transfer().and_then(|()| self.check_tools()).and_then(|()| self.check_turns())
        {
            prepare.fail(error);
        }
    }
}
