use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agent drafting_loop { instruction: "Plan {topic}." }

        drafting_loop;
        agents::workflows::Drafting;
        agents::llm::critic;
        agents::llm::second::critic;
        agents::llm::writer;
    }
}

fn main() {}
