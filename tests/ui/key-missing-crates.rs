use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agents::llm::critic;
        agents::llm::writer;
        agents::llm::reviewer;
        loop(max = 2) < agents::functions::good_enough >
    }
}

workflow! {
    pub Reviewing(text: String) -> criticism: String {
        agents::workflows::Reviewing as second
    }
}

fn main() {}
