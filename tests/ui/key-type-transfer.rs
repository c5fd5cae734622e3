//! The message names the writer of another type: a transfer target, an agent as a tool, a tool.

use adk::prelude::*;

/// Saves the plan.
#[tool(writes(plan: [u8; 3]))]
fn save(cx: &mut ToolContext) {
    drop(cx.path().clone());
}

/// Returns a nested `Option`; the key has one `Option` less.
#[agent(writes = title)]
fn title(answer: &str) -> Option<Option<String>> {
    Some(Some(answer.to_owned()))
}

#[agent]
fn reads(counts: (u32, String)) {
    drop(counts);
}

workflow! {
    pub Desk(question: String, title: String, counts: (String, u32)) -> answer: String {
        agent billing -> answer: u32 { instruction: "Answer {question}." }
        agent planner -> plan: Vec<String> { instruction: "Plan {question}.", tools: [save], max_turns: 2 }
        agent clerk -> answer: String { instruction: "Answer {question}.", transfer: [billing] }
        /// Counts.
        agent counter -> plan: u8 { instruction: "Count {question}." }
        agent writer -> draft: String { instruction: "Write {answer}.", tools: [agent(counter)] }

        planner;
        clerk;
        writer;
        title;
        reads
    }
}

fn main() {}
