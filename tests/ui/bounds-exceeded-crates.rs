use adk::prelude::*;

workflow! {
    #[bounds(model_calls = agents::data::ROUNDS)]
    pub Writing(topic: String) {
        agents::workflows::Drafting;
        agents::llm::polisher;
        agents::llm::critic;
    }
}

workflow! {
    #[bounds(model_calls = 50)]
    pub Items(items: Vec<String>) {
        each item in items < agents::llm::writer(topic = item) as worker >
    }
}

fn main() {}
