//! An agent that is declared where it is to run: the key that it would have written is not told to be missing.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> notes: String {
        agent critic -> notes: String { instruction: "Review {draft}." }

        loop(max = 2) <
            agent writer -> draft: String { instruction: "Write about {topic}." }
            critic
        >
    }
}

fn main() {}
