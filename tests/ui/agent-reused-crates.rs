use adk::prelude::*;
use agents::llm::critic;

workflow! {
    pub Writing(topic: String) {
        agents::workflows::Drafting;
        critic;
        parallel < agents::workflows::Drafting; agents::llm::critic >
    }
}

fn main() {}
