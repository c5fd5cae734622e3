//! An empty block is one mistake: what would stand in it may write the output, and end the loop.

use adk::prelude::*;

workflow! {
    Noting(topic: String) -> draft: String { parallel < > }
}

workflow! {
    Listing(topics: Vec<String>) -> notes: Vec<String> { each topic in topics < > }
}

workflow! {
    Answering(urgent: bool) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer." }
        match urgent < true => < >, false => clerk >
    }
}

workflow! {
    Writing(topic: String) {
        agent writer { instruction: "Write about {topic}." }
        loop < writer; < > >
    }
}

fn main() {}
