//! The file of a toolset has a label that does not exist.

use adk::prelude::*;

#[derive(Debug, Default)]
struct Mails;

impl adk::Toolset for Mails {
    fn name(&self) -> &str {
        "mails"
    }

    fn tools<'a>(
        &'a self,
        _: &'a adk::ReadonlyContext,
    ) -> adk::BoxFuture<'a, Result<Vec<std::sync::Arc<dyn adk::DynTool>>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

workflow! {
    /// Answers mails.
    pub Answering(topic: String) {
        toolset mails: Mails = include!("untrusted-action-files/misspelled.mcp.json");
        agent clerk { instruction: "{topic}", tools: [mails], max_turns: 3 }

        clerk
    }
}

fn main() {}
