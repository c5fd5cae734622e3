//! A `:` behind the word of a block, and one `>` too many.
use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> (draft: String, notes: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> notes: String { instruction: "Criticise {topic}." }
        parallel: < writer; critic >
    }
}

workflow! {
    pub Reviewing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> notes: String { instruction: "Criticise {draft}." }
        loop(max = 3) <
            both: sequence < writer; critic >>
            writer as last;
        >
        critic as end
    }
}

fn main() {}
