//! Agents that others hand over to, with a name that is taken: one message for each.

use adk::prelude::*;

workflow! {
    pub Desk(text: String) -> answer: String {
        agent desk -> answer: String { instruction: "Answer {text}." }
        agent clerk { instruction: "Read {text}.", transfer: [desk] }
        clerk
    }
}

workflow! {
    pub Behind(text: String) {
        agent help { instruction: "Help with {text}." }
        agent clerk { instruction: "Read {text}.", transfer: [help] }
        help: loop(max = 2) < clerk >
    }
}

workflow! {
    pub Before(text: String) {
        agent help { instruction: "Help with {text}." }
        agent clerk { instruction: "Read {text}.", transfer: [help] }
        clerk;
        help: sequence < clerk as second >
    }
}

fn main() {}
