use adk::prelude::*;

workflow! {
    pub Both(topic: String) {
        agents::workflows::Drafting as first;
        parallel < agents::llm::polisher; agents::llm::summarizer; agents::functions::grader >
    }
}

fn main() {}
