//! Two steps that stand in the wrong order: one message, however many keys the one reads of the other. What a third one writes too
//! late is another mistake.

use adk::prelude::*;

workflow! {
    pub Publishing(topic: String) {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent grader -> score: f64 { instruction: "Grade {text}." }
        agent reader -> opinion: String { instruction: "Read {text}, which has {score}. Mind {summary}." }
        agent closer -> summary: String { instruction: "Close {text} with {score}." }

        sequence < reader; grader as again -> second_score >
        loop(max = 2) < writer; grader >
        parallel < closer >
    }
}

fn main() {}
