use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String {
            instruction: "Write about {topic}.",
            tools: [agent(thinker)],
        }
        agent thinker { instruction: "Think about {topic}." }

        writer
    }
}

fn main() {}
