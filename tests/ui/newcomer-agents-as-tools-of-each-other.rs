use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        /// Writes.
        agent writer -> text: String { instruction: "{topic}", tools: [agent(critic)], max_turns: 2 }
        /// Reviews.
        agent critic { instruction: "Review.", tools: [agent(writer)], max_turns: 2 }

        writer
    }
}

fn main() {}
