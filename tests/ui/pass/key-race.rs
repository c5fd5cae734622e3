//! Each branch writes its own key, and their common key was written before.

use adk::prelude::*;

#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

workflow! {
    pub Research(topic: String, words: Vec<String>) -> facts: String {
        agent web -> web_facts: String { instruction: "Search the web for {topic}." }
        agent archive -> archive_facts: String { instruction: "Search the archive for {topic}." }
        agent writer -> facts: String { instruction: "Join {web_facts} and {archive_facts}." }
        agent greeter -> greeting: String { instruction: "Greet {word}." }
        agent refiner -> facts: String { instruction: "Improve {facts}." }

        parallel < web; archive >
        writer;
        sides: parallel < loop(max = 2) < refiner >; grade(draft = web_facts) as second >
        each word in words < greeter >
        parallel < agents::workflows::Drafting as drafting_2; agents::llm::writer(topic = facts) as other -> other_draft >
    }
}
