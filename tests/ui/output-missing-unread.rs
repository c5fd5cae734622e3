//! An arm that could not be read may write the output; the arm that does not is named.

use adk::prelude::*;

workflow! {
    pub Answering(topic: String) -> answer: String {
        agent shrug -> note: String { instruction: "Say that {topic} is unknown." }
        agent explain -> answer: String { instruction: "Explain {topic}." }

        match topic < "rain" => if wet { explain }, _ => shrug >
    }
}

workflow! {
    pub Complete(topic: String) -> answer: String {
        agent explain -> answer: String { instruction: "Explain {topic}." }

        match topic < "rain" => 5, _ => explain >
    }
}

workflow! {
    pub Reading(topic: String) {
        agent shrug -> note: String { instruction: "Say that {topic} is unknown." }
        agent reader { instruction: "Read {answer}." }

        match topic < "rain" => (shrug, reader), _ => shrug >
        reader
    }
}

fn main() {}
