use adk::prelude::*;

const PROMPT: &str = concat!("Apply {criticism}", " to {draft} in {language}.");

mod agents {
    use adk::prelude::*;

    adk::llm::agent! {
        pub critic -> criticism: String { instruction: include_str!("prompts/critic.md") }
        pub refiner -> draft: String { instruction: super::PROMPT }
    }

    /// Writes.
    #[agent(writes = text)]
    pub fn writer(topic: &str) -> String {
        topic.to_owned()
    }
}

workflow! {
    pub Writing(topic: String) {
        agents::writer;
        agents::critic;
        agents::refiner;
    }
}

fn main() {}
