//! The second time with `as`.

use adk::prelude::*;

mod local {
    adk::llm::agent! { pub grader -> score: String { instruction: "Grade." } }
}

workflow! {
    pub Writing(topic: String) {
        agent critic { instruction: "Review." }

        critic;
        loop(max = 2) < critic as again; critic as once_more >;
        local::grader;
        local::grader as second_grader;
        agents::llm::writer;
        agents::llm::writer as second_writer;
    }
}
