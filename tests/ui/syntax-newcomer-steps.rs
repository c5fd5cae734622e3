//! Steps as other languages have them: what follows from a step that is read otherwise, or not at all, is not told.

use adk::prelude::*;

#[agent(writes = score)]
fn grade(draft: &str) -> usize {
    draft.len()
}

mod agents {
    use adk::prelude::*;

    #[agent(writes = total)]
    pub fn total(score: usize) -> usize {
        score
    }
}

workflow! {
    pub Commas(topic: String) -> (draft: String, score: usize) {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }

        writer,
        parallel < critic, grade >
    }
}

workflow! {
    pub Arrows(topic: String) -> (draft: String, score: usize) {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer => draft;
        grade;
    }
}

workflow! {
    #[bounds(model_calls = 9)]
    pub Rounds(topic: String) -> draft: String {
        let done: bool = false;
        agent writer -> draft: String { instruction: "Write about {topic}." }

        loop(max: 3, until = done) < writer >
        loop(max = 2.5, until = done) < writer as second >
    }
}

workflow! {
    pub Paths(topic: String) -> total: usize {
        agent writer -> draft: String { instruction: "Write about {topic}.", tools: [agent("writer")] }

        writer;
        grade;
        agents.total;
    }
}

workflow! {
    pub Inner(topic: String) -> drft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        writer;
    }
}

workflow! {
    pub Untyped(topic: String) -> text {
        agent author -> text: String { instruction: "Write about {topic}." }

        author;
    }
}

workflow! {
    pub Outer(topic: String) -> (draft: String, text: String) {
        Inner;
        Untyped;
    }
}

fn main() {}
