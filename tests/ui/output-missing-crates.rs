use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> (draft: String, criticism: String) {
        agents::llm::writer;
        agents::llm::second::critic;
    }
}

workflow! {
    pub Finding() -> draft: String {
        agents::functions::finder
    }
}

fn main() {}
