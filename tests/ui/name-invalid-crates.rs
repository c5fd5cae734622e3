use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agents::workflows::Loop;
        agents::llm::writer as fn;
        agents::llm::critic as "second";
    }
}

fn main() {}
