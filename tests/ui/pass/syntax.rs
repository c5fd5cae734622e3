//! Commas and semicolons where they may stand, and where they may be left out.

use adk::prelude::*;

workflow! {
    /// Nothing after the name.
    pub Least { agents::llm::summarizer }
}

workflow! {
    pub Writing(topic: String, tone: String = "plain",) -> (draft: String,) {
        let done: String = "done";
        agent writer -> draft: String { instruction: "Write about {topic}, {tone}, {done}", tools: [], }
        agent critic { instruction: "Review." }

        writer;
        sequence < critic as b > parallel < critic as c; critic as d; >
        < critic as e; < critic as f >>
        loop(max = 2,) { critic as g; };
        critic;
    }
}
