//! The tools of an agent: the declared ones, then those that were added.

use super::LlmAgent;
use super::respond::RESPOND;
use super::transfer::TRANSFER;
use crate::runtime::agent::DynAgent as _;
use crate::runtime::tool::DynTool;
use crate::{Error, ErrorKind, Result};
use adk_spec::__private::wait_in_tool;
use std::sync::Arc;

/// Names that the runtime gives to tools of its own.
const RESERVED: [&str; 2] = [TRANSFER, RESPOND];

impl LlmAgent {
    /// All tools, in the order of the model request.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.0.iter().chain(&self.settings.tools.0)
    }

    /// The declared tools were checked by the macro; those that were added are checked here, before the first call.
    pub(super) fn check_tools(&self) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        for tool in self.tools() {
            let name = tool.declaration_dyn().name.as_str();
            if RESERVED.contains(&name) {
                let message =
                    format!("tool-reserved: a tool is called `{name}`, a name of the runtime's own");
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("give it another name: `#[tool(name = ...)]`"));
            }
            if seen.contains(&name) {
                let message = format!("tool-duplicate: two tools are called `{name}`");
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("add it once, or give one of them another name: `#[tool(name = ...)]`"));
            }
            seen.push(name);
        }
        let added = self.settings.tools.0.iter().filter_map(|tool| tool.meta().agent);
        let waits = added.filter_map(|agent| wait_in_tool(self.meta().name, agent)).next();
        if let Some(message) = waits {
            let (fact, help) = message.as_str().split_once("; help: ").unwrap_or((message.as_str(), ""));
            return Err(Error::new(ErrorKind::Config, fact).with_help(help));
        }
        Ok(())
    }
}
