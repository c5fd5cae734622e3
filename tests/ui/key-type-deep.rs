//! Whose tool reads or writes a key is said as it is, however deep below the step.

use adk::llm;
use adk::prelude::*;

/// Counts words.
#[agent(writes = words)]
fn count(text: &str) -> u32 {
    text.split(' ').count().try_into().unwrap_or_default()
}

/// Reads how many there are.
#[agent]
fn reads(words: u64) {
    drop(words);
}

/// Reads it if it is there.
#[agent]
fn perhaps(words: Option<u64>) {
    drop(words);
}

llm::agent! {
    /// Has somebody who counts.
    inner { instruction: "Look at {text}", tools: [agent(count)] }

    /// Has somebody who reads.
    reader { instruction: "Look at {text}", tools: [agent(reads)] }
}

workflow! {
    /// A tool of a tool writes.
    Writes(text: String) {
        agent outer { instruction: "Ask", tools: [agent(inner)] }

        outer;
        perhaps
    }
}

workflow! {
    /// A tool of a tool reads.
    Reads(text: String, words: u32) {
        agent outer { instruction: "Ask", tools: [agent(reader)] }

        outer
    }
}

workflow! {
    /// So does one of an agent that another may transfer to, which reads a key that nobody writes.
    Transfers(text: String) {
        agent desk { instruction: "Ask", transfer: [other] }
        agent other { instruction: "Ask", tools: [agent(reads)] }

        desk
    }
}

fn main() {}
