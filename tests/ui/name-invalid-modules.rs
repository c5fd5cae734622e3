use adk::prelude::*;

mod agents {
    adk::llm::agent! {
        pub critic -> criticism: String { instruction: "Review.", name: "the critic" }
        pub match -> arm: String { instruction: "Choose." }
    }

    adk::workflow! {
        pub Match() {
            agent chooser { instruction: "Choose." }
            chooser
        }
    }
}

workflow! {
    pub Writing() {
        agents::critic;
        agents::Match;
    }
}

fn main() {}
