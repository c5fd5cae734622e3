use adk::prelude::*;
use agents::llm::critic;

workflow! {
    pub Writing(topic: String) {
        agents::workflows::Drafting;
        parallel < agents::workflows::Drafting; agents::llm::critic >
    }
}

workflow! {
    pub Reviewing(topic: String, draft: String) {
        critic;
        parallel < agents::llm::critic >
    }
}

fn main() {}
