//! What describes something from the inside in Rust stands before it here.

use adk::prelude::*;

workflow! {
    //! Writes.
    pub Writing(topic: String) {
        agent writer { instruction: "Write about {topic}." }
        writer
    }
}

workflow! {
    #![bounds(model_calls = 3)]
    pub Reading(topic: String) {
        agent writer { instruction: "Write about {topic}.", max_turns: 2 }
        writer
    }
}

workflow! {
    pub Inside(topic: String) {
        //! Writes.
        agent writer { instruction: "Write about {topic}." }
        writer
    }
}

fn main() {}
