use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String {
            instruction: "Write about {topic}.",
            tools: [agent(thinker)],
        }
        /// Thinks about what nobody has written.
        agent thinker { instruction: "Think about {topc}." }

        writer
    }
}

fn main() {}
