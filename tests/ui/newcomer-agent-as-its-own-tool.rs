use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        /// Writes.
        agent writer -> text: String { instruction: "{topic}", tools: [agent(writer)], max_turns: 2 }

        writer
    }
}

fn main() {}
