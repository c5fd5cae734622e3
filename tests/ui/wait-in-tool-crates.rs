use adk::prelude::*;

workflow! {
    pub Work(topic: String) -> text: String {
        agent boss -> text: String {
            instruction: "Work on {topic}.",
            tools: [agents::tools::publish, agent(agents::llm::publisher), agent(agents::workflows::Approving)],
            max_turns: 5,
        }

        boss
    }
}

fn main() {}
