use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String {
            instruction: "Write about {topic}.",
            tools: [agnt(thinker)],
        }
        agent critic { instruction: "Judge {topic}.", tools: [agent(thinker writer)] }
        agent thinker { instruction: "Think about {topic}." }

        writer; critic
    }
}

fn main() {}
