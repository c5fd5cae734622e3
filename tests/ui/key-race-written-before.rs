use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

workflow! {
    pub Writing(draft: String) -> draft: String {
        agent refiner -> draft: String { instruction: "Improve {draft}." }
        agent watcher { instruction: "Watch {draft?}." }

        sides: parallel < loop(max = 2) < refiner >; < watcher; grade > >
    }
}

workflow! {
    pub Words(words: Vec<String>) {
        agent greeter -> user:greeting: String { instruction: "Greet {word}." }

        each word in words < greeter >
    }
}

fn main() {}
