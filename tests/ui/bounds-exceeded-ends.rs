use adk::prelude::*;

async fn never() -> Option<&'static str> {
    std::future::pending::<()>().await;
    None
}

workflow! {
    /// Has a callback that never ends.
    #[bounds(ends)]
    Asking(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: "{topic}", timeout: "1s", before_agent: |_| never() }
        asker
    }
}

async fn instruct(_: adk::ReadonlyContext) -> Result<String> {
    std::future::pending().await
}

workflow! {
    /// Has an instruction that never ends.
    #[bounds(ends)]
    Making(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: instruct, timeout: "1s" }
        asker
    }
}

workflow! {
    /// Has a callback of a block that never ends.
    #[bounds(ends)]
    Blocks(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: "{topic}", timeout: "1s" }
        steps: sequence(after_agent = |_| never()) < asker >
    }
}

workflow! {
    /// Ends because of its time limit.
    #[bounds(ends, time = "10m")]
    Limited(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: "{topic}", timeout: "1s", before_agent: |_| never() }
        asker
    }
}

workflow! {
    /// Exceeds its bound by the known calls.
    #[bounds(model_calls = 7)]
    Calls(task: String) -> result: String {
        /// Researches a question.
        agent researcher -> facts: String { instruction: "Look it up." }
        agent boss -> result: String { instruction: "{task}", tools: [agent(researcher)], max_turns: 8 }
        boss
    }
}

fn main() {}
