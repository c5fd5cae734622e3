//! Words, marks and names of other languages: each is one message with its remedy, and read as what was meant.

use adk::prelude::*;

mod agents {
    use adk::prelude::*;

    #[agent]
    pub fn publish() {}
}

workflow! {
    pub Writing(topic: String, items: Vec<String>) -> draft: String {
        let max: u32 := 3;
        agent writer: draft: String { instruction: "Write about {topic}." },
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent final-review { instruction: "Review {criticism}." }

        run writer;
        critic then final-review;
        writer as match-writer -> agents::publish;
        my-loop: loop(max = 2) < critic as again >
        await critic;
        each item in 0..3 < critic as each_critic >
        each item in items[0] < critic as other_critic >
    }
}

fn main() {}
