//! Toolsets with files: one with labels, and one without a label of one tool.

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
    /// Answers mails without a person.
    pub Answering(topic: String) {
        toolset mails: Mails = include!("untrusted-action-files/mails.mcp.json");
        agent clerk { instruction: "{topic}", tools: [mails], max_turns: 3 }

        clerk
    }
}

workflow! {
    /// A toolset has labels in addition to those of its file, and one tool has none.
    #[guards(strict)]
    pub Strict(topic: String) {
        toolset mails: Mails = include!("untrusted-action-files/half.mcp.json");
        agent clerk { instruction: "{topic}", tools: [mails], max_turns: 3 }

        clerk
    }
}

workflow! {
    /// All tools of the toolset bring what strangers wrote.
    pub Whole(topic: String) {
        toolset mails: Mails = include!("untrusted-action-files/half.mcp.json") as (untrusted, acts);
        agent clerk { instruction: "{topic}", tools: [mails], max_turns: 3 }

        clerk
    }
}

fn main() {}
