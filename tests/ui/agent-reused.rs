use adk::prelude::*;

mod agents {
    adk::llm::agent! { pub grader -> score: String { instruction: "Grade." } }
}
use agents::grader;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        critic;
        loop(max = 2) < critic; critic as again >;
        grader;
        agents::grader;
        critic
    }
}

workflow! {
    pub Grading() {
        Writing;
        grader;
    }
}

fn main() {}
