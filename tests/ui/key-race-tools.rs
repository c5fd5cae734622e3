use adk::prelude::*;

/// Counts.
#[agent(writes = user:count)]
fn bump(#[key(user:count)] count: Option<u32>) -> u32 {
    count.unwrap_or(0) + 1
}

workflow! {
    /// Counts a call.
    Counting(request: String) {
        bump
    }
}

workflow! {
    /// Each element may call the tool.
    Lists(items: Vec<String>) {
        agent asker { instruction: "{item}", tools: [agent(Counting)], max_turns: 2 }
        each(max = 9) item in items < asker >
    }
}

workflow! {
    /// Calls the tool of a possible transfer target.
    Desks(question: String) {
        agent desk { instruction: "{question}", transfer: [clerk], max_turns: 2 }
        /// Knows the subject.
        agent clerk { instruction: "Answer.", tools: [agent(Counting)], max_turns: 2 }
        parallel < desk; bump >
    }
}

fn main() {}
