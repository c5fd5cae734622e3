use adk::prelude::*;

mod agents {
    adk::llm::agent! { pub model -> text: String { instruction: "Write." } }
}

workflow! {
    pub User() {
        agent user { instruction: "Ask." }
        agent critic { instruction: "Review.", name: "model" }

        user;
        critic;
        critic as each;
        agents::model;
        parallel: loop(max = 2) < critic as again >
    }
}

fn main() {}
